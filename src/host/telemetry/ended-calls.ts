// The tool calls of turns that have ended: a subagent in the background may begin after the turn of its call has ended.
import { forgetOldest } from "../../base/collections.ts";
import type { SpanPlace } from "./span.ts";

/** The most calls whose places are known; of more, the oldest are forgotten. */
const limit = 1000;

export class EndedCalls {
	/** Those of the turn that ended last at the end. */
	readonly #places = new Map<string, SpanPlace>();

	/** The calls of an agent whose turn has ended, by their ids. */
	add(agentKey: string, places: ReadonlyMap<string, SpanPlace>): void {
		for (const [id, place] of places) this.#places.set(toKey(agentKey, id), place);
		forgetOldest(this.#places, limit);
	}

	find(agentKey: string, toolCallId: string): SpanPlace | undefined {
		return this.#places.get(toKey(agentKey, toolCallId));
	}
}

function toKey(agentKey: string, toolCallId: string): string {
	return JSON.stringify([agentKey, toolCallId]);
}
