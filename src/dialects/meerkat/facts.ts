// What there is to say of a session from its events, those of its log as well as those that are told.
import type { TokenUsage } from "../../events/content.ts";
import type { AgentEvent } from "../../events/event.ts";

export interface SessionFacts {
	/** Tokens of all model calls, subagents' included. */
	readonly usage: TokenUsage;
	readonly messageCount: number;
	/** Milliseconds since the epoch. */
	readonly createdAt: number;
	readonly updatedAt: number;
	/** Text of the last answer that had any; null before there is one. */
	readonly lastText: string | null;
}

export const noUsage: TokenUsage = { input_other: 0, output: 0, input_cache_read: 0, input_cache_creation: 0 };

export function newFacts(now: number): SessionFacts {
	return { usage: noUsage, messageCount: 0, createdAt: now, updatedAt: now, lastText: null };
}

export function addUsage(one: TokenUsage, other: TokenUsage): TokenUsage {
	return {
		input_other: one.input_other + other.input_other,
		output: one.output + other.output,
		input_cache_read: one.input_cache_read + other.input_cache_read,
		input_cache_creation: one.input_cache_creation + other.input_cache_creation,
	};
}

/** The facts behind one more event. */
export function withEvent(facts: SessionFacts, { body, agentPath, at }: AgentEvent): SessionFacts {
	const updated = { ...facts, updatedAt: at };
	if (body.type === "status.changed") {
		return body.token_usage === null ? facts : { ...updated, usage: addUsage(facts.usage, body.token_usage) };
	}
	if (agentPath.length > 0) return facts;
	switch (body.type) {
		case "turn.started":
		case "step.started":
		case "tool.result":
			return { ...updated, messageCount: facts.messageCount + 1 };
		case "content.completed":
			return body.part.type === "text" ? { ...updated, lastText: body.part.text } : updated;
		case "turn.ended":
			return updated;
		default:
			return facts;
	}
}

/** The facts of a session that was there before, from its log. */
export async function readFacts(events: AsyncIterable<AgentEvent>, now: number): Promise<SessionFacts> {
	let facts: SessionFacts | null = null;
	for await (const event of events) facts = withEvent(facts ?? newFacts(event.at), event);
	return facts ?? newFacts(now);
}
