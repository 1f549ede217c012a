// Print format for programs: the model's conversation, one message per line, with notices.

import type { ContentPart, ToolCall, ToolReturn } from "../../api/values/content.ts";
import type { HistoryEntry } from "../../api/values/conversation.ts";
import type { EventBody, EventBodyOf, EventType } from "../../api/values/event.ts";
import { ownEvents } from "../../api/values/own-events.ts";
import { toJsonLine } from "../../base/json.ts";
import type { LineText } from "../../base/text/long-text.ts";
import { oneLine } from "../../base/text/sentence.ts";
import { type Assembly, createAssembly } from "../../core/agent/assembly.ts";
import { toToolMessage } from "../../core/agent/tool-results.ts";
import type { ModelPart } from "../../core/models/model.ts";
import type { Message } from "../../formats/message.ts";
import { toMessage } from "../../formats/message-conversion.ts";
import { toLine } from "../../ports/store/context-row.ts";
import type { Printer, PrintFailure, Write } from "./printer.ts";

/** The lines of one program family, without newlines; null if the family has none. */
export interface StreamForm {
	answer(answer: AssistantEntry): LineText | null;
	result(toolCallId: string, result: ToolReturn): LineText;
	retry(body: EventBodyOf<"step.retrying">): LineText | null;
	news(message: Message): LineText | null;
	failure(failure: PrintFailure): LineText | null;
}

export interface AssistantEntry {
	readonly role: "assistant";
	readonly content: readonly ContentPart[];
	readonly toolCalls?: readonly ToolCall[];
}

const toMessageLine = (message: HistoryEntry): LineText => toLine({ type: "message", message });

/** Messages as stored in the session context. */
export const messageForm: StreamForm = {
	answer: (answer) => toMessageLine(answer),
	result: (toolCallId, result) => toMessageLine(toToolMessage(toolCallId, result)),
	retry: () => null,
	news: (message) => toJsonLine(message),
	// Existing Kimi CLI clients expect this sentence as a line that is not JSON, which they show or search.
	failure: ({ message }) => oneLine(message),
};

type Row<T extends EventType> = (body: EventBodyOf<T>) => void;

export function createStreamJsonPrinter(form: StreamForm, write: Write): Printer {
	let answer: Assembly | null = null;
	/** Results of calls that ran while the answer was still streaming: they follow it. */
	let results: LineText[] = [];

	const report = (line: LineText | null): void => {
		if (line !== null) write(`${line}\n`);
	};
	const hold = (part: ModelPart): void => {
		answer ??= createAssembly();
		answer.push(part);
	};
	const discard = (): void => {
		answer = null;
		results = [];
	};
	const flush = (): void => {
		if (answer !== null) report(answerLine(answer, form));
		for (const result of results) report(result);
		discard();
	};
	const news = (body: EventBody): void => {
		const message = toMessage(body);
		if (message !== null) report(form.news(message));
	};
	const nothing = (): void => {};

	const rows: { readonly [T in EventType]: Row<T> } = {
		"turn.started": nothing,
		"turn.ended": flush,
		"step.started": flush,
		"step.interrupted": flush,
		"step.retrying": (body) => {
			discard();
			report(form.retry(body));
		},
		"compaction.started": nothing,
		"compaction.ended": nothing,
		"mcp.loading-started": nothing,
		"mcp.loading-ended": nothing,
		// Only the status event after an answer contains plan mode: the answer is then complete.
		"status.changed": ({ plan_mode }) => {
			if (plan_mode !== null) flush();
		},
		...ownEvents(nothing),
		"budget.warning": nothing,
		"notification.raised": news,
		"content.delta": ({ part }) => hold(part),
		"content.completed": nothing,
		"tool-call.started": ({ call }) => hold(call),
		"tool-call.delta": ({ arguments_part }) => hold({ type: "tool_call_part", arguments_part }),
		"tool.requested": nothing,
		"tool-call.fragment": nothing,
		"session-hook.started": nothing,
		"session-hook.ended": nothing,
		"tool.started": nothing,
		"tool.progress": nothing,
		"tool.outcome-unknown": nothing,
		"tool.result": ({ toolCallId, result }) => {
			const line = form.result(toolCallId, result);
			if (answer === null) report(line);
			else results.push(line);
		},
		"interaction.requested": nothing,
		"interaction.resolved": nothing,
		"model.changed": nothing,
		"title.changed": nothing,
		"steer.consumed": nothing,
		"plan.displayed": news,
		"hook.triggered": nothing,
		"hook.resolved": nothing,
		"side-question.started": nothing,
		"side-question.ended": nothing,
	};
	const print = <T extends EventType>(body: EventBodyOf<T>): void => {
		const row: Row<T> = rows[body.type as T];
		row(body);
	};

	return {
		// Subagent events are not part of the conversation; their reports appear as results.
		take({ body, agentPath }) {
			if (agentPath.length === 0) print(body);
		},
		fail: (failure) => report(form.failure(failure)),
	};
}

function answerLine(answer: Assembly, form: StreamForm): LineText | null {
	answer.end();
	const content = answer.content();
	const toolCalls = answer.toolCalls();
	if (content.length === 0 && toolCalls.length === 0) return null;
	return form.answer({ role: "assistant", content, ...(toolCalls.length === 0 ? {} : { toolCalls }) });
}
