// Attributes uncaught exceptions to sessions: asynchronous work that a session starts carries the session's id. It
// slows every promise a little, so only a process of many sessions uses it.
import { AsyncLocalStorage } from "node:async_hooks";

export interface FaultScopes {
	/** Runs the work in the scope of a session. */
	within<T>(sessionId: string, work: () => T): T;
	/** The session whose work runs now or has just thrown; null outside any scope. */
	current(): string | null;
}

export function createFaultScopes(): FaultScopes {
	const storage = new AsyncLocalStorage<string>();
	return {
		within: (sessionId, work) => storage.run(sessionId, work),
		current: () => storage.getStore() ?? null,
	};
}
