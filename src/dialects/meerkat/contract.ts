// The shapes of the present contract, spoken once a client asks for capabilities.
import { isRecord } from "../../base/json.ts";
import type { SessionInfo } from "../../kernel/session-host.ts";
import type { SessionFacts } from "./facts.ts";
import type { Capability, SessionDetails, SessionSummary } from "./wire.ts";
import type { ContractEvent, EventEnvelope, MeerkatEvent } from "./wire-events.ts";

/** What clients of the contract check before anything else: same major and minor as theirs. */
export const contractVersion = "0.8.26";

export const capabilities: Capability[] = [
	{ id: "sessions", description: "Sessions that are made, listed, read and archived", status: "Available" },
	{ id: "builtins", description: "Tools for files, tasks and subagents, by enable_builtins", status: "Available" },
	{ id: "shell", description: "Commands, by enable_shell", status: "Available" },
];

/** What tells an event apart from all others. */
export interface EventMark {
	readonly eventId: string;
	readonly sequence: number;
	/** Milliseconds since the epoch. */
	readonly at: number;
}

/** An event in its envelope. */
export function toEnvelope(
	event: MeerkatEvent,
	sessionId: string,
	{ eventId, sequence, at }: EventMark,
): EventEnvelope {
	return {
		event_id: eventId,
		source: { type: "session", session_id: sessionId },
		seq: sequence,
		timestamp_ms: Math.round(at),
		payload: toPayload(event),
	};
}

/** Arguments are an object there, whatever the model made of them. */
function toPayload(event: MeerkatEvent): ContractEvent {
	return event.type === "tool_call_requested" ? { ...event, args: toObject(event.args) } : event;
}

/** Arguments that are no object stand in one: clients of the contract take nothing else. */
export function toObject(value: unknown): Record<string, unknown> {
	return isRecord(value) ? value : { value };
}

const toSeconds = (milliseconds: number) => Math.floor(milliseconds / 1000);

export function totalTokens({ usage }: SessionFacts): number {
	return usage.input_other + usage.input_cache_read + usage.input_cache_creation + usage.output;
}

export function toListEntry({ id, isRunning }: SessionInfo, facts: SessionFacts): SessionSummary {
	return {
		session_id: id,
		created_at: toSeconds(facts.createdAt),
		updated_at: toSeconds(facts.updatedAt),
		message_count: facts.messageCount,
		total_tokens: totalTokens(facts),
		is_active: isRunning,
	};
}

export function toDescription({ id, isRunning, model, provider }: SessionInfo, facts: SessionFacts): SessionDetails {
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
