// Shows the events of a turn as they come, for somebody who sees them for the first time.
import type { ToolCall, TurnEvent } from "../../src/client/client.ts";
import { type Terminal, toPrintable } from "./terminal.ts";

type DisplayBlock = Extract<TurnEvent, { readonly type: "call.ended" }>["display"][number];

/** Lines of a tool's output that are shown. */
const shownLines = 10;

/** The frames of a stack say nothing to somebody who looks on. */
const stackFrame = /^\s+at /;

/** Returns what shows one event. Paths inside `projectDir` are shown without it. */
export function createConversationView(terminal: Terminal, projectDir: string): (event: TurnEvent) => void {
	let text = "";
	const calls = new Map<string, ToolCall>();

	const endText = () => {
		if (text.trim() !== "") terminal.paragraph("agent", toPrintable(text));
		text = "";
	};
	/** Once. */
	const showCall = (id: string) => {
		endText();
		const call = calls.get(id);
		if (call === undefined) return;
		calls.delete(id);
		const name = terminal.styled("cyan", toPrintable(call.name));
		terminal.line("tool", `${name} ${toPrintable(mainArgument(call.arguments ?? ""))}`);
	};

	return (event) => {
		switch (event.type) {
			case "step":
				endText();
				terminal.blank();
				terminal.line("", `step ${event.n}`, "dim");
				return;
			case "text":
				text += event.text;
				return;
			case "call.started":
				calls.set(event.call.id, event.call);
				return;
			case "approval": {
				const { callId, description, display } = event.ask;
				showCall(callId);
				// Whole, unlike the rest: nobody should allow what was not shown.
				const [first, ...others] = toPrintable(description).replaceAll(`${projectDir}/`, "").split("\n");
				terminal.wholeLine("asks", first ?? "", "yellow");
				for (const line of others) terminal.wholeLine("", line, "yellow");
				for (const block of display) showBlock(terminal, block);
				return;
			}
			case "call.ended":
				showCall(event.callId);
				showOutput(terminal, event.output);
				terminal.line(event.isError ? "failed" : "done", briefly(event.display), event.isError ? "red" : "green");
				return;
			case "ended":
				endText();
				return;
			default:
		}
	};
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

function briefly(display: readonly DisplayBlock[]): string {
	const brief = display.find(({ type }) => type === "brief");
	return brief !== undefined && "text" in brief ? toPrintable(brief.text).split("\n", 1).join() : "";
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
