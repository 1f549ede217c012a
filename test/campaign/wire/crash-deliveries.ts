// What a client of Kimi Wire or legacy was sent, as the log has it: merged, and up to the last commit point.
import { isDeepStrictEqual } from "node:util";
import { isRecord } from "../../../src/base/json.ts";
import type { SessionLife } from "../frame/crash-round.ts";
import type { Message } from "../frame/session-files.ts";
import { type DeliveredLine, parseDelivered, replayId } from "./crash-client.ts";

const unpersisted: ReadonlySet<string> = new Set(["ApprovalRequest", "ApprovalResponse"]);

/** The messages as the log keeps them: runs of parts merged, a run that nothing ended left out. */
export function toPersisted(messages: readonly Message[]): Message[] {
	const persisted: Message[] = [];
	let run: Message | null = null;
	for (const message of messages) {
		const extended: Message | null = run === null ? null : extend(run, message);
		if (extended !== null) {
			run = extended;
			continue;
		}
		if (run !== null) persisted.push(run);
		run = null;
		if (message.type === "ContentPart" || message.type === "ToolCall") run = message;
		else if (!unpersisted.has(message.type)) persisted.push(message);
	}
	return persisted;
}

function extend(run: Message, { type, payload }: Message): Message | null {
	if (run.type === "ToolCall" && type === "ToolCallPart") {
		const call = isRecord(run.payload["function"]) ? run.payload["function"] : {};
		const text = `${call["arguments"] ?? ""}${payload["arguments_part"] ?? ""}`;
		return { type: run.type, payload: { ...run.payload, function: { ...call, arguments: text } } };
	}
	if (run.type !== "ContentPart" || type !== "ContentPart" || run.payload["type"] !== payload["type"]) return null;
	for (const key of ["text", "think"]) {
		if (payload["type"] === key) {
			return { type, payload: { ...payload, [key]: `${run.payload[key]}${payload[key]}` } };
		}
	}
	return null;
}

/** What is the same in both dialects: steps, parts, calls and results. */
function toCommon({ type, payload }: Message): readonly unknown[] | null {
	const call = isRecord(payload["function"]) ? payload["function"] : {};
	switch (type) {
		case "StepBegin":
		case "step_begin":
			return ["step", payload["n"]];
		case "ContentPart":
		case "content_part":
			return ["part", payload["type"], payload["text"] ?? payload["think"]];
		case "ToolCall":
		case "tool_call":
			return ["call", payload["id"], call["name"], call["arguments"]];
		case "ToolResult":
		case "tool_result":
			return ["result", payload["tool_call_id"]];
		default:
			return null;
	}
}

const legacyNames: Readonly<Record<string, string>> = {
	content_part: "ContentPart",
	tool_call: "ToolCall",
	tool_call_part: "ToolCallPart",
};

/** What a client was sent in one life. */
export interface Delivered {
	/** The replayed messages; null in a life that asks for no replay. */
	readonly replayed: readonly Message[] | null;
	/** Whether the replay was answered: one that a kill cuts off is not. */
	readonly isReplayWhole: boolean;
	/** Every message that was sent after the replay. */
	readonly live: readonly Message[];
	readonly all: readonly DeliveredLine[];
}

/** Recoveries ask for a replay before anything else, the lives before them do not. */
export function splitDelivered({ kind, delivered: lines }: Pick<SessionLife, "kind" | "delivered">): Delivered {
	const all = lines.map(parseDelivered);
	const end = all.findIndex(({ id, method }) => id === replayId && method === null);
	const toMessages = (delivered: readonly DeliveredLine[]): Message[] =>
		delivered.flatMap(({ params }) => params ?? []);
	if (kind !== "recovery") return { replayed: null, isReplayWhole: false, live: toMessages(all), all };
	if (end === -1) return { replayed: toMessages(all), isReplayWhole: false, live: [], all };
	return { replayed: toMessages(all.slice(0, end)), isReplayWhole: true, live: toMessages(all.slice(end + 1)), all };
}

/** The subagent that a message is of; empty for the session's own agent. */
const speakerOf = ({ type, payload }: Message): string => (type === "SubagentEvent" ? String(payload["agent_id"]) : "");

/**
 * Whether what a client of either dialect was sent is the beginning of what the log has from there on, for each agent that
 * speaks: a run of one agent's parts is persisted when it ends, which may be after what another agent said meanwhile.
 */
export function checkDeliveredIsPersisted(live: readonly Message[], logged: readonly Message[]): string[] {
	return [...new Set(live.map(speakerOf))].flatMap((speaker) => {
		const own = (messages: readonly Message[]) => messages.filter((message) => speakerOf(message) === speaker);
		return checkSpeaker(own(live), own(logged));
	});
}

function checkSpeaker(live: readonly Message[], logged: readonly Message[]): string[] {
	const isLegacy = live.some(({ type }) => /^[a-z]/.test(type) && type !== "approval");
	const common = (messages: readonly Message[]) => messages.flatMap((message) => [toCommon(message)].filter(Boolean));
	const delivered: readonly unknown[] = isLegacy
		? common(toPersisted(live.map((message) => ({ ...message, type: legacyNames[message.type] ?? message.type }))))
		: toPersisted(live);
	const persisted: readonly unknown[] = isLegacy ? common(logged) : logged;
	for (const [index, message] of delivered.entries()) {
		if (isDeepStrictEqual(message, persisted[index])) continue;
		return [
			`delivered but not persisted: ${JSON.stringify(message)}, number ${index + 1}; the log has ${JSON.stringify(persisted[index])}`,
		];
	}
	return [];
}

/** The part of what was sent that a power loss must not take: all before the last commit point. */
export function committedPart(live: readonly Message[]): readonly Message[] {
	const commits = new Set(["StepBegin", "step_begin", "ApprovalResponse", "TurnEnd"]);
	const last = live.findLastIndex(({ type }) => commits.has(type));
	const { type = "", payload = {} } = live[last] ?? {};
	if (type === "TurnEnd") return live.slice(0, last + 1);
	// Before its first step a turn has committed its input, and not the status of servers that it sent since.
	const isFirst = type === "StepBegin" && payload["n"] === 1;
	const input = isFirst ? live.slice(0, last).findLastIndex((message) => message.type === "TurnBegin") : -1;
	return live.slice(0, input === -1 ? Math.max(0, last) : input + 1);
}
