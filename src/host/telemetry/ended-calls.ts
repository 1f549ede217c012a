// Tool calls of ended turns: a background subagent may begin after the turn of its call has ended.
import { forgetOldest } from "../../base/collections.ts";
import type { SpanPlace } from "./span.ts";

/** Maximum remembered calls. Beyond it, the oldest are dropped. */
const limit = 1000;

export class EndedCalls {
	readonly #places = new Map<string, SpanPlace>();

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
