// The shapes of the present contract, spoken once a client asks for capabilities.
import type { SessionInfo } from "../../kernel/session-host.ts";
import type { SessionFacts } from "./facts.ts";
import type { MeerkatEvent } from "./wire.ts";

/** What clients of the contract check before anything else: same major and minor as theirs. */
export const contractVersion = "0.8.26";

export const capabilities = [
	{ id: "sessions", description: "Sessions that are made, listed, read and archived", status: "Available" },
	{ id: "builtins", description: "Tools for files, tasks and subagents, by enable_builtins", status: "Available" },
	{ id: "shell", description: "Commands, by enable_shell", status: "Available" },
] as const;

/** What tells an event apart from all others. */
export interface EventMark {
	readonly eventId: string;
	readonly sequence: number;
	/** Milliseconds since the epoch. */
	readonly at: number;
}

/** An event in its envelope, with the members that the contract has besides the first protocol's. */
export function toEnvelope(event: MeerkatEvent, sessionId: string, { eventId, sequence, at }: EventMark): object {
	return {
		event_id: eventId,
		source: { type: "session", session_id: sessionId },
		seq: sequence,
		timestamp_ms: Math.round(at),
		payload: toPayload(event),
	};
}

function toPayload(event: MeerkatEvent): MeerkatEvent | object {
	switch (event.type) {
		case "run_failed": {
			const error = event.error === "Run was cancelled" ? "cancelled" : "agent_error";
			return { ...event, error_class: error, error_report: { class: error, message: event.error } };
		}
		case "tool_execution_completed":
			return { ...event, content: [{ type: "text", text: event.result }] };
		case "tool_call_requested":
			return isObject(event.args) ? event : { ...event, args: { value: event.args } };
		default:
			return event;
	}
}

function isObject(value: unknown): boolean {
	return typeof value === "object" && value !== null && !Array.isArray(value);
}

const toSeconds = (milliseconds: number) => Math.floor(milliseconds / 1000);

export function totalTokens({ usage }: SessionFacts): number {
	return usage.input_other + usage.input_cache_read + usage.input_cache_creation + usage.output;
}

export function toListEntry({ id, isRunning }: SessionInfo, facts: SessionFacts): object {
	return {
		session_id: id,
		created_at: toSeconds(facts.createdAt),
		updated_at: toSeconds(facts.updatedAt),
		message_count: facts.messageCount,
		total_tokens: totalTokens(facts),
		is_active: isRunning,
	};
}

export function toDescription({ id, isRunning, model, provider }: SessionInfo, facts: SessionFacts): object {
	return {
		session_id: id,
		created_at: toSeconds(facts.createdAt),
		updated_at: toSeconds(facts.updatedAt),
		message_count: facts.messageCount,
		is_active: isRunning,
		model,
		provider,
		...(facts.lastText === null ? {} : { last_assistant_text: facts.lastText }),
	};
}
