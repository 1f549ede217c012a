// A stored session in memory whose writes can be held and made to fail, and are noted in order.
import type { Deferred } from "../../../src/base/deferred.ts";
import { KernelError } from "../../../src/base/errors.ts";
import { createMemoryStore } from "../../../src/ports/store/memory/memory-store.ts";
import type { StoredSession } from "../../../src/ports/store/session-store.ts";

export interface SessionDouble {
	readonly stored: StoredSession;
	/** Every write that was begun, a word or two each. */
	readonly writes: string[];
	/** While true, no event can be stored. */
	failEvents: boolean;
	/** Holds the storing of events until resolved. */
	hold: Deferred<void> | null;
}

export const sessionId = "5ac1e9f4-0000-4000-8000-000000000001";
export const storageFailure = new KernelError("storage-failed", "Cannot write /s/wire.jsonl: disk full");

export async function createSessionDouble(store = createMemoryStore()): Promise<SessionDouble> {
	const stored = await store.openOrCreate("/home/me/project", sessionId);
	const double: SessionDouble = {
		writes: [],
		failEvents: false,
		hold: null,
		stored: {
			...stored,
			async commit(batch, options = {}) {
				const { events = [], context, state } = batch;
				double.writes.push(...events.map(({ body }) => body.type));
				if (context !== undefined) double.writes.push("context");
				if (state !== undefined) double.writes.push("state");
				if (options.sync === true) double.writes.push("sync");
				if (events.length > 0) {
					if (double.hold !== null) await double.hold.promise;
					if (double.failEvents) throw storageFailure;
				}
				return await stored.commit(batch, options);
			},
		},
	};
	return double;
}
