import type { TokenUsage } from "../../../api/values/content.ts";
import type { AgentEvent, Cursor, EventBodyOf } from "../../../api/values/event.ts";
import { isOfEvents } from "../session-inputs.ts";

export interface SessionFacts {
	/** Tokens of all model calls, subagents included. */
	readonly usage: TokenUsage;
	/** Messages of its history, as far as the log shows. */
	readonly messageCount: number;
	readonly hasPrompt: boolean;
	/** Messages of the last step. If it does not complete, the history has none of them unless a call had acted. */
	readonly stepMessageCount: number;
	/** Whether a call of the last step has acted. */
	readonly hasActed: boolean;
	/** Whether the last message contains tool results, to which others may be added. */
	readonly endsInResults: boolean;
	/** Milliseconds since the epoch. */
	readonly createdAt: number;
	readonly updatedAt: number;
	readonly lastText: string | null;
}

export const noUsage: TokenUsage = { input_other: 0, output: 0, input_cache_read: 0, input_cache_creation: 0 };

export function newFacts(now: number): SessionFacts {
	return {
		usage: noUsage,
		messageCount: 0,
		stepMessageCount: 0,
		hasActed: false,
		hasPrompt: false,
		endsInResults: false,
		createdAt: now,
		updatedAt: now,
		lastText: null,
	};
}

export function addUsage(one: TokenUsage, other: TokenUsage): TokenUsage {
	return {
		input_other: one.input_other + other.input_other,
		output: one.output + other.output,
		input_cache_read: one.input_cache_read + other.input_cache_read,
		input_cache_creation: one.input_cache_creation + other.input_cache_creation,
	};
}

/** Usage of structured output requests, which are not steps. */
export function formUsage({ outcome }: EventBodyOf<"turn.ended">): readonly TokenUsage[] {
	return outcome?.status === "finished" ? (outcome.formed?.usage ?? []) : [];
}

export function withEvent(facts: SessionFacts, { body, agentPath, at }: AgentEvent): SessionFacts {
	const updated = { ...facts, updatedAt: at };
	if (body.type === "status.changed") {
		return body.token_usage === null ? facts : { ...updated, usage: addUsage(facts.usage, body.token_usage) };
	}
	if (agentPath.length > 0) return facts;
	switch (body.type) {
		case "turn.started":
			// The first message follows the system prompt.
			return {
				...withMessages(updated, facts.messageCount === 0 ? 2 : 1),
				hasPrompt: facts.hasPrompt || !isOfEvents(body.input),
			};
		case "step.started":
			return withMessages({ ...updated, stepMessageCount: 0, hasActed: false }, 1);
		case "tool.started":
			return { ...updated, hasActed: true };
		case "tool.result":
			return { ...withMessages(updated, facts.endsInResults ? 0 : 1), endsInResults: true };
		case "step.interrupted": {
			// An answer is kept for what its calls did, but not if it was cancelled.
			const isRetained = facts.hasActed && body.reason === "error";
			return isRetained ? updated : withMessages(updated, -facts.stepMessageCount);
		}
		case "content.completed":
			return body.part.type === "text" ? { ...updated, lastText: body.part.text } : updated;
		case "turn.ended":
			return { ...updated, usage: formUsage(body).reduce(addUsage, facts.usage) };
		default:
			return facts;
	}
}

function withMessages(facts: SessionFacts, more: number): SessionFacts {
	const { messageCount, stepMessageCount } = facts;
	return {
		...facts,
		messageCount: messageCount + more,
		stepMessageCount: stepMessageCount + more,
		endsInResults: false,
	};
}

export interface ReadFacts {
	readonly facts: SessionFacts;
	readonly cursor: Cursor | null;
}

export function cursorOf({ seq, epoch }: AgentEvent): Cursor | null {
	return seq === undefined || epoch === undefined ? null : { seq, epoch };
}

/** Continues with the events after `known`. `now` is when a session with an empty log began. */
export async function readFacts(
	events: AsyncIterable<readonly AgentEvent[]>,
	now: number,
	known: ReadFacts | null = null,
): Promise<ReadFacts> {
	let facts = known?.facts ?? null;
	let cursor = known?.cursor ?? null;
	for await (const batch of events) {
		for (const event of batch) {
			facts = withEvent(facts ?? newFacts(event.at), event);
			cursor = cursorOf(event) ?? cursor;
		}
	}
	return { facts: facts ?? newFacts(now), cursor };
}
