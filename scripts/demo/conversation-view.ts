// Shows the messages of a turn as they come, for somebody who sees them for the first time.
import * as v from "valibot";
import type { DisplayBlock } from "../../src/api/values/content.ts";
import { type MessageType, messageDeclarations, type PayloadOf } from "../../src/formats/message.ts";
import { toMessageType } from "../../src/formats/message-names.ts";
import { type Terminal, toPrintable } from "./terminal.ts";
import type { WireMessage } from "./wire-client.ts";

/** Lines of a tool's output that are shown. */
const shownLines = 10;

/** The frames of a stack say nothing to somebody who looks on. */
const stackFrame = /^\s+at /;

type Show<T extends MessageType> = (payload: PayloadOf<T>) => void;
type Views = { readonly [T in MessageType]?: Show<T> };

export interface ConversationView {
	show(message: WireMessage): void;
	/** Shows nothing more. */
	mute(): void;
}

/** Paths inside `projectDir` are shown without it. */
export function createConversationView(terminal: Terminal, projectDir: string): ConversationView {
	let text = "";
	let isMuted = false;
	const calls = new Map<string, { name: string; arguments: string; isShown: boolean }>();
	let lastCall: string | null = null;

	const endText = () => {
		if (text.trim() !== "") terminal.paragraph("agent", toPrintable(text));
		text = "";
	};
	const showCall = (id: string) => {
		endText();
		const call = calls.get(id);
		if (call === undefined || call.isShown) return;
		call.isShown = true;
		terminal.line(
			"tool",
			`${terminal.styled("cyan", toPrintable(call.name))} ${toPrintable(mainArgument(call.arguments))}`,
		);
	};

	const views: Views = {
		StepBegin: ({ n }) => {
			endText();
			terminal.blank();
			terminal.line("", `step ${n}`, "dim");
		},
		ContentPart: (part) => {
			if (part.type === "text") text += part.text;
		},
		ToolCall: (call) => {
			calls.set(call.id, { name: call.function.name, arguments: call.function.arguments ?? "", isShown: false });
			lastCall = call.id;
		},
		ToolCallPart: (part) => {
			const call = lastCall === null ? undefined : calls.get(lastCall);
			if (call !== undefined) call.arguments += part.arguments_part ?? "";
		},
		ApprovalRequest: (request) => {
			showCall(request.tool_call_id);
			// Whole, unlike the rest: nobody should allow what was not shown.
			const [first, ...others] = toPrintable(request.description).replaceAll(`${projectDir}/`, "").split("\n");
			terminal.wholeLine("asks", first ?? "", "yellow");
			for (const line of others) terminal.wholeLine("", line, "yellow");
			for (const block of request.display) showBlock(terminal, block);
		},
		ApprovalResponse: () => {},
		ToolResult: ({ tool_call_id, return_value }) => {
			showCall(tool_call_id);
			showOutput(terminal, typeof return_value.output === "string" ? return_value.output : "");
			terminal.paragraph(
				return_value.is_error ? "failed" : "done",
				toPrintable(return_value.message),
				return_value.is_error ? "red" : "green",
			);
		},
		TurnEnd: endText,
		StepInterrupted: endText,
	};

	return {
		show({ type, payload }) {
			const known = toMessageType(type);
			if (isMuted || known === null) return;
			showAs(views, known, payload);
		},
		mute() {
			isMuted = true;
		},
	};
}

function showAs<T extends MessageType>(views: Views, type: T, payload: unknown): void {
	const show: Show<T> | undefined = views[type];
	const parsed = v.safeParse(messageDeclarations[type].schema, payload);
	if (parsed.success) show?.(parsed.output as PayloadOf<T>);
}

/** The argument a person wants to see: the first that is text. */
function mainArgument(text: string): string {
	try {
		const values: unknown = JSON.parse(text);
		const first = Object.values(values ?? {}).find((value) => typeof value === "string");
		return typeof first === "string" ? first : "";
	} catch {
		return text;
	}
}

function showBlock(terminal: Terminal, block: DisplayBlock): void {
	if (block.type !== "diff" || !("old_text" in block)) return;
	const before = toPrintable(block.old_text).split("\n");
	const after = toPrintable(block.new_text).split("\n");
	const sameStart = before.findIndex((line, index) => line !== after[index]);
	const start = sameStart === -1 ? before.length : sameStart;
	let tail = 0;
	while (tail < Math.min(before.length, after.length) - start && before.at(-1 - tail) === after.at(-1 - tail))
		tail += 1;
	for (const line of before.slice(0, start)) terminal.line("", `  ${line}`, "dim");
	for (const line of before.slice(start, before.length - tail)) terminal.wholeLine("", `- ${line}`, "red");
	for (const line of after.slice(start, after.length - tail)) terminal.wholeLine("", `+ ${line}`, "green");
	for (const line of after.slice(after.length - tail)) terminal.line("", `  ${line}`, "dim");
}

function showOutput(terminal: Terminal, output: string): void {
	const lines = toPrintable(output)
		.split("\n")
		.filter((line) => line.trim() !== "");
	const shown = lines.filter((line) => !stackFrame.test(line)).slice(0, shownLines);
	for (const line of shown) terminal.line("", `│ ${line}`, "dim");
	if (lines.length > shown.length) terminal.line("", `│ … ${lines.length - shown.length} more lines`, "dim");
}
