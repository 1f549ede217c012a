// A stored session in memory whose writes can be held and made to fail, and are noted in order.
import type { Deferred } from "../../src/base/deferred.ts";
import { KernelError } from "../../src/base/errors.ts";
import { createMemoryStore } from "../../src/store/memory/memory-store.ts";
import type { StoredSession } from "../../src/store/session-store.ts";

export interface SessionDouble {
	readonly stored: StoredSession;
	/** Every write that was begun, a word or two each. */
	readonly writes: string[];
	/** While true, writes to the event log fail. */
	failEvents: boolean;
	/** Holds writes to the event log until resolved. */
	hold: Deferred<void> | null;
	/** Holds writes to the call journal until resolved. */
	holdCalls: Deferred<void> | null;
}

export const sessionId = "5ac1e9f4-0000-4000-8000-000000000001";
export const storageFailure = new KernelError("storage-failed", "Cannot write /s/wire.jsonl: disk full");

export async function createSessionDouble(store = createMemoryStore()): Promise<SessionDouble> {
	const stored = await store.openOrCreate("/home/me/project", sessionId);
	const double: SessionDouble = {
		writes: [],
		failEvents: false,
		hold: null,
		holdCalls: null,
		stored: {
			...stored,
			async appendEvents(events) {
				double.writes.push(...events.map(({ body }) => body.type));
				if (double.hold !== null) await double.hold.promise;
				if (double.failEvents) throw storageFailure;
				await stored.appendEvents(events);
			},
			async appendCalls(records) {
				double.writes.push(...records.map(({ type }) => type));
				if (double.holdCalls !== null) await double.holdCalls.promise;
				await stored.appendCalls(records);
			},
			async sync() {
				double.writes.push("sync");
				await stored.sync();
			},
		},
	};
	return double;
}
