// Times and tool failures are only in the log; they are matched from the end, since compaction drops the beginning.

import type { MessageHistory } from "../../api/session-state.ts";
import { type ContentPart, toParts } from "../../api/values/content.ts";
import type { HistoryEntry } from "../../api/values/conversation.ts";
import type { AgentEvent } from "../../api/values/event.ts";
import { toObject } from "./eras/contract.ts";
import { toArguments } from "./interactions.ts";
import { toAnswerId } from "./projection/answer-id.ts";
import { toRunId } from "./wire/session-id.ts";
import type { HistoryMessage } from "./wire/wire-history.ts";

type DialectConnection = MessageHistory;

interface Mark {
	readonly role: HistoryEntry["role"];
	readonly key: string;
	readonly isError: boolean;
	/** The answer's id; null for other messages and turns without an id. */
	readonly answerId: string | null;
	readonly runId: string | null;
	/** Milliseconds since the epoch. */
	readonly at: number;
}

type Dated = { readonly message: HistoryEntry } & Pick<Mark, "at" | "isError" | "answerId" | "runId">;

/** The whole history. `startedAt` is when the session began; `hasIds` names answers as the contract's events do. */
export async function toHistory(
	{ systemPrompt, messages }: DialectConnection,
	events: AsyncIterable<readonly AgentEvent[]>,
	startedAt: number,
	hasIds: boolean,
): Promise<readonly HistoryMessage[]> {
	const marks: Mark[] = [];
	for await (const batch of events) {
		for (const event of batch) {
			const mark = toMark(event);
			if (mark !== null) marks.push(hasIds ? mark : { ...mark, answerId: null, runId: null });
		}
	}
	const first = marks[0]?.at ?? startedAt;
	const system = systemPrompt === null ? [] : [systemMessage(systemPrompt, first)];
	return [...system, ...toMessages(dated(messages, marks, first))];
}

function toMark({ body, agentPath, turnId, at }: AgentEvent): Mark | null {
	if (agentPath.length > 0) return null;
	const runId = turnId === null ? null : toRunId(turnId);
	switch (body.type) {
		case "turn.started":
		case "steer.consumed":
			return { role: "user", key: toText(toParts(body.input)), isError: false, answerId: null, runId, at };
		case "step.started":
			return { role: "assistant", key: "", isError: false, answerId: toAnswerId(turnId, body.n), runId, at };
		case "tool.result":
			return { role: "tool", key: body.toolCallId, isError: body.result.is_error, answerId: null, runId, at };
		default:
			return null;
	}
}

/** Matches both from the end. A message missing in the log gets the time of the one after it. */
function dated(messages: readonly HistoryEntry[], marks: readonly Mark[], first: number): Dated[] {
	const found: Dated[] = [];
	const findMark = createFinder(marks);
	let end = marks.length;
	/** An answer's results come in any order, all after it. */
	let firstResult = end;
	let at = marks.at(-1)?.at ?? first;
	for (const message of messages.toReversed()) {
		const isResult = message.role === "tool";
		const index = findMark(message, isResult ? end : Math.min(end, firstResult));
		const mark = marks[index];
		if (mark !== undefined) {
			at = mark.at;
			if (!isResult) end = index;
			firstResult = Math.min(firstResult, index);
		}
		found.push({
			message,
			at,
			isError: mark?.isError ?? false,
			answerId: mark?.answerId ?? null,
			runId: mark?.runId ?? null,
		});
	}
	return found.reverse();
}

/** Finds the last mark before `end`, which never grows; -1 if there is none. */
function createFinder(marks: readonly Mark[]): (message: HistoryEntry, end: number) => number {
	const places = new Map<string, number[]>();
	/** The index at which each mark's turn began. */
	const turns: number[] = [];
	for (const [index, { role, key }] of marks.entries()) {
		const name = `${role} ${key}`;
		const known = places.get(name);
		if (known === undefined) places.set(name, [index]);
		else known.push(index);
		turns.push(role === "user" ? index : (turns[index - 1] ?? 0));
	}
	return ({ role, toolCallId, content }, end) => {
		const key = role === "user" ? toText(content) : (toolCallId ?? "");
		const known = places.get(`${role} ${key}`) ?? [];
		while ((known.at(-1) ?? -1) >= end) known.pop();
		const index = known.at(-1) ?? -1;
		if (role !== "tool") return index;
		// After a crash a call's result is missing in the log; a result in an earlier turn belongs to another call.
		if (index < (turns[end - 1] ?? 0)) return -1;
		known.pop();
		return index;
	};
}

function toMessages(all: readonly Dated[]): HistoryMessage[] {
	const messages: HistoryMessage[] = [];
	for (const each of all) {
		const last = messages.at(-1);
		if (each.message.role === "tool" && last?.role === "tool_results") last.results.push(toResult(each));
		else messages.push(toMessage(each));
	}
	return messages;
}

function toMessage(each: Dated): HistoryMessage {
	const { message, at, answerId, runId } = each;
	const created_at = new Date(at).toISOString();
	const ofRun = runId === null ? {} : { interaction_id: runId, run_id: runId };
	const { role, content, toolCalls = [] } = message;
	switch (role) {
		case "system":
			return systemMessage(toText(content), at);
		case "user":
			return { role: "user", created_at, ...ofRun, content: toContent(content) };
		case "tool":
			return { role: "tool_results", created_at, ...ofRun, results: [toResult(each)] };
		case "assistant":
			return {
				role: "block_assistant",
				created_at,
				...ofRun,
				blocks: [
					...content.map((part) =>
						part.type === "think"
							? { block_type: "reasoning" as const, data: { text: part.think } }
							: { block_type: "text" as const, data: { text: partText(part) } },
					),
					...toolCalls.map(({ id, function: { name, arguments: text } }) => ({
						block_type: "tool_use" as const,
						data: { id, name, args: toObject(toArguments(text)) },
					})),
				],
				stop_reason: toolCalls.length > 0 ? "tool_use" : "end_turn",
				...(answerId === null ? {} : { assistant_message_id: answerId }),
			};
	}
}

function systemMessage(content: string, at: number): HistoryMessage {
	return { role: "system", created_at: new Date(at).toISOString(), content };
}

type Result = Extract<HistoryMessage, { role: "tool_results" }>["results"][number];

function toResult({ message: { toolCallId = "", content }, isError }: Dated): Result {
	return { tool_use_id: toolCallId, content: toText(content), is_error: isError };
}

/** A single text becomes a string; several stay separate. */
function toContent(content: readonly ContentPart[]): Extract<HistoryMessage, { role: "user" }>["content"] {
	const [first, ...others] = content;
	if (first === undefined || others.length === 0) return first === undefined ? "" : partText(first);
	return content.map((part) => ({ type: "text", text: partText(part) }));
}

function toText(content: readonly ContentPart[]): string {
	return content.map(partText).join("\n");
}

/** Media is named but not included: it may be large, and is in the session's files. */
function partText(part: ContentPart): string {
	switch (part.type) {
		case "text":
			return part.text;
		case "think":
			return part.think;
		case "image_url":
			return "[image]";
		case "audio_url":
			return "[audio]";
		case "video_url":
			return "[video]";
	}
}
