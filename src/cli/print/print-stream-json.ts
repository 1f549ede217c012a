// Print mode for programs: the conversation as the model has it, one message a line, and notices in between.
import { type Assembly, createAssembly } from "../../agent/assembly.ts";
import { toToolMessage } from "../../agent/tool-results.ts";
import { toJsonLine } from "../../base/json.ts";
import { oneLine } from "../../base/sentence.ts";
import type { HistoryEntry } from "../../events/conversation.ts";
import type { EventBody, EventBodyOf, EventType } from "../../events/event.ts";
import { toMessage } from "../../messages/message-conversion.ts";
import type { ModelPart } from "../../models/model.ts";
import { toLine } from "../../store/context-row.ts";
import type { Printer, Write } from "./printer.ts";

type Row<T extends EventType> = (body: EventBodyOf<T>) => void;

export function createStreamJsonPrinter(write: Write): Printer {
	/** The streaming answer; null when there is none. */
	let answer: Assembly | null = null;
	/** Results of calls that ran while the answer still streamed: they follow it. */
	let results: HistoryEntry[] = [];

	const report = (message: HistoryEntry): void => write(`${toLine({ type: "message", message })}\n`);
	const hold = (part: ModelPart): void => {
		answer ??= createAssembly();
		answer.push(part);
	};
	const discard = (): void => {
		answer = null;
		results = [];
	};
	const flush = (): void => {
		if (answer !== null) printAnswer(answer, report);
		for (const result of results) report(result);
		discard();
	};
	const news = (body: EventBody): void => {
		const message = toMessage(body);
		if (message !== null) write(`${toJsonLine(message)}\n`);
	};
	const nothing = (): void => {};

	const rows: { readonly [T in EventType]: Row<T> } = {
		"turn.started": nothing,
		"turn.ended": flush,
		"step.started": flush,
		"step.interrupted": flush,
		"step.retrying": discard,
		"compaction.started": nothing,
		"compaction.ended": nothing,
		"mcp.loading-started": nothing,
		"mcp.loading-ended": nothing,
		// Among status events only the one after an answer contains plan mode: then the answer is complete.
		"status.changed": ({ plan_mode }) => {
			if (plan_mode !== null) flush();
		},
		"usage.counted": nothing,
		"budget.warning": nothing,
		"notification.raised": news,
		"content.delta": ({ part }) => hold(part),
		"content.completed": nothing,
		"tool-call.started": ({ call }) => hold(call),
		"tool-call.delta": ({ arguments_part }) => hold({ type: "tool_call_part", arguments_part }),
		"tool.requested": nothing,
		"tool-call.fragment": nothing,
		"permission.decided": nothing,
		"tool.started": nothing,
		"tool.progress": nothing,
		"tool.ended": nothing,
		"tool.outcome-unknown": nothing,
		"recovery.reported": nothing,
		"tool.result": ({ toolCallId, result }) => {
			const message = toToolMessage(toolCallId, result);
			if (answer === null) report(message);
			else results.push(message);
		},
		"interaction.requested": nothing,
		"interaction.resolved": nothing,
		"client.attached": nothing,
		"client.detached": nothing,
		"session.reset": nothing,
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
		// Events of subagents are not part of the conversation; their reports are, as results.
		take({ body, agentPath }) {
			if (agentPath.length === 0) print(body);
		},
		// Programs know the sentence from kimi: a line that is not JSON, which they show or search.
		fail: ({ message }) => write(`${oneLine(message)}\n`),
	};
}

function printAnswer(answer: Assembly, report: (message: HistoryEntry) => void): void {
	answer.end();
	const content = answer.content();
	const toolCalls = answer.toolCalls();
	if (content.length === 0 && toolCalls.length === 0) return;
	report({ role: "assistant", content, ...(toolCalls.length === 0 ? {} : { toolCalls }) });
}
