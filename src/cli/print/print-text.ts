import type { ContentPart, ToolCall, ToolReturn } from "../../api/values/content.ts";
import type { AgentPathEntry, EventBodyOf, EventType } from "../../api/values/event.ts";
import { ownEvents } from "../../api/values/own-events.ts";
import { retryText } from "../../api/values/retry-text.ts";
import { onOneLine, withoutControls } from "../printable-text.ts";
import type { Printer, Write } from "./printer.ts";

/** Maximum characters shown of arguments and results. */
const lineLimit = 160;

/** Prints one event; `who` is the agent, empty for the main agent. */
type Row<T extends EventType> = (body: EventBodyOf<T>, who: string) => void;

/** Only subagent actions are shown: their text goes to the calling agent. */
const shownOfSubagents: ReadonlySet<EventType> = new Set([
	"tool.requested",
	"tool.result",
	"step.retrying",
	"notification.raised",
]);

export function createTextPrinter(write: Write): Printer {
	let isMidLine = false;
	const toolNames = new Map<string, string>();

	const say = (text: string): void => {
		if (text === "") return;
		write(text);
		isMidLine = !text.endsWith("\n");
	};
	const endLine = (): void => {
		if (isMidLine) say("\n");
	};
	const line = (text: string): void => {
		endLine();
		say(`${text}\n`);
	};
	const nothing = (): void => {};

	const rows: { readonly [T in EventType]: Row<T> } = {
		"turn.started": nothing,
		"turn.ended": () => {
			endLine();
			toolNames.clear();
		},
		"step.started": endLine,
		"step.interrupted": endLine,
		"step.retrying": (body, who) => {
			line(`* ${who}${withoutControls(retryText(body))}`);
		},
		"compaction.started": () => line("* The context is being summarized."),
		"compaction.ended": nothing,
		"mcp.loading-started": nothing,
		"mcp.loading-ended": nothing,
		"status.changed": nothing,
		...ownEvents(nothing),
		"budget.warning": (body) => line(`* ${warning(body)}`),
		"notification.raised": ({ severity, title, body }, who) =>
			line(`* ${who}${severity}: ${onOneLine(body === "" ? title : `${title}: ${body}`, lineLimit)}`),
		"content.delta": ({ part }) => {
			if (part.type === "text") say(withoutControls(part.text));
			else if (part.type !== "think") line(`[${mediaNames[part.type]}]`);
		},
		"content.completed": nothing,
		"tool-call.started": nothing,
		"tool-call.delta": nothing,
		"tool.requested": ({ call }, who) => {
			toolNames.set(`${who}${call.id}`, call.function.name);
			line(`> ${who}${callLine(call)}`);
		},
		"tool-call.fragment": nothing,
		"session-hook.started": nothing,
		"session-hook.ended": nothing,
		"tool.started": nothing,
		"tool.progress": nothing,
		"tool.outcome-unknown": nothing,
		"tool.result": ({ toolCallId, result }, who) => {
			const name = toolNames.get(`${who}${toolCallId}`) ?? toolCallId;
			line(`< ${who}${resultLine(name, result)}`);
		},
		"interaction.requested": nothing,
		"interaction.resolved": nothing,
		"model.changed": nothing,
		"title.changed": nothing,
		"steer.consumed": nothing,
		"plan.displayed": ({ content, file_path }) => {
			line(`* The plan in ${file_path}:`);
			line(withoutControls(content).trimEnd());
		},
		"hook.triggered": nothing,
		"hook.resolved": nothing,
		"side-question.started": nothing,
		"side-question.ended": nothing,
	};
	const print = <T extends EventType>(body: EventBodyOf<T>, who: string): void => {
		const row: Row<T> = rows[body.type as T];
		row(body, who);
	};

	return {
		take({ body, agentPath }) {
			const subagent = agentPath.at(-1);
			if (subagent === undefined) print(body, "");
			else if (shownOfSubagents.has(body.type)) print(body, subagentName(subagent));
		},
		fail: ({ message }) => line(`Error: ${withoutControls(message)}`),
	};
}

const mediaNames: { readonly [T in Exclude<ContentPart["type"], "text" | "think">]: string } = {
	image_url: "image",
	audio_url: "audio",
	video_url: "video",
};

function warning({ budget, scope, used, limit }: EventBodyOf<"budget.warning">): string {
	const units = { tokens: "tokens", time: "s", "tool-calls": "tool calls" } as const;
	return `The ${scope} has used ${used} of its ${limit} ${units[budget]}.`;
}

function subagentName({ subagentType, agentId }: AgentPathEntry): string {
	return `[${[subagentType, agentId].filter((word) => word !== null).join(" ")}] `;
}

export function callLine({ function: { name, arguments: text } }: ToolCall): string {
	return text === null || text === "" ? name : `${name} ${onOneLine(text, lineLimit)}`;
}

function resultLine(name: string, { is_error, message, output, display }: ToolReturn): string {
	if (is_error) {
		const brief = display.find((block) => block.type === "brief");
		const why = brief !== undefined && "text" in brief ? brief.text : message;
		return `${name} failed: ${onOneLine(why, lineLimit)}`;
	}
	const text = (typeof output === "string" ? output : output.map(partText).join("\n")).trim();
	const lines = text.split("\n");
	const count = lines.length > 1 ? ` (${lines.length} lines)` : "";
	const summary = text === "" ? message || "done" : (lines[0] ?? "");
	return `${name}: ${onOneLine(summary, lineLimit)}${count}`;
}

function partText(part: ContentPart): string {
	if (part.type === "text") return part.text;
	return part.type === "think" ? "" : `[${mediaNames[part.type]}]`;
}
