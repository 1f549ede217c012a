// Events for the printers of print mode: bodies in short, placed in a turn of the session's own agent or a subagent's.

import { type ToolReturn, textPart } from "../../../src/api/values/content.ts";
import { type AgentPathEntry, type EventBody, statusChanged } from "../../../src/api/values/event.ts";
import type { Printer, Write } from "../../../src/cli/print/printer.ts";

export const text = (words: string): EventBody => ({ type: "content.delta", part: textPart(words) });
export const thought = (think: string): EventBody => ({
	type: "content.delta",
	part: { type: "think", think, encrypted: null },
});
const toCall = (id: string, name: string, argumentsText: string | null) =>
	({ type: "function", id, function: { name, arguments: argumentsText }, extras: null }) as const;
export const callBegins = (id: string, name: string, argumentsText: string | null): EventBody => ({
	type: "tool-call.started",
	call: toCall(id, name, argumentsText),
});
export const callCompleted = (id: string, name: string, argumentsText: string | null): EventBody => ({
	type: "tool.requested",
	call: toCall(id, name, argumentsText),
});
export const argumentsGoOn = (argumentsText: string): EventBody => ({
	type: "tool-call.delta",
	arguments_part: argumentsText,
});
export const result = (toolCallId: string, value: ToolReturn): EventBody => ({
	type: "tool.result",
	toolCallId,
	result: value,
});
export const turnBegins: EventBody = { type: "turn.started", input: "hi" };
export const turnEnds: EventBody = { type: "turn.ended", outcome: { status: "finished" } };
export const turnIsCancelled: EventBody = { type: "turn.ended", outcome: { status: "cancelled" } };
export const step = (n: number): EventBody => ({ type: "step.started", n });
export const interrupted: EventBody = { type: "step.interrupted", reason: "error" };
/** The status after an answer. */
export const answered = statusChanged({ plan_mode: false });
export const retry: EventBody = {
	type: "step.retrying",
	n: 1,
	next_attempt: 2,
	max_attempts: 3,
	wait_s: 0.52,
	error_type: "APIStatusError",
	status_code: 503,
};
export const plan: EventBody = { type: "plan.displayed", content: "# Plan\n\n1. Do it.\n", file_path: "/plans/a.md" };
export const notification: EventBody = {
	type: "notification.raised",
	id: "n0123abcd",
	category: "task",
	notification_type: "task.completed",
	source_kind: "background_task",
	source_id: "bash-1",
	title: "Build done",
	body: "exit code 0\nin 3 s",
	severity: "success",
	created_at: 1.5,
	payload: {},
};
export const coder: AgentPathEntry = { parentToolCallId: "c1", agentId: "a1b2c3d4e", subagentType: "coder" };

/** An event of the session's own agent, or `of` a subagent. */
export type PlayedEvent = EventBody | { readonly of: AgentPathEntry; readonly body: EventBody };

/** What a printer writes at each of the events. */
export function playEvents(
	create: (write: Write) => Printer,
	...events: readonly PlayedEvent[]
): { readonly printer: Printer; readonly written: string[] } {
	const written: string[] = [];
	const printer = create((words) => void written.push(words));
	for (const event of events) {
		const [body, agentPath] = "of" in event ? [event.body, [event.of]] : [event, []];
		printer.take({ sessionId: "s", turnId: "t", agentPath, at: 0, body });
	}
	return { printer, written };
}
