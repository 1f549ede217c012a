// Attributes uncaught exceptions to sessions: asynchronous work that a session starts carries the session's id. It
// slows every promise a little, so only a process of many sessions uses it.
import { AsyncLocalStorage } from "node:async_hooks";

export interface FaultScopes {
	/** Runs the work in the scope of a session. */
	within<T>(sessionId: string, work: () => T): T;
	/** The session whose work runs now or has just thrown; null outside any scope. */
	current(): string | null;
}

/** One for all hosts of a process, of which tests create many: each further one would slow every promise once more. */
const storage = new AsyncLocalStorage<string>();

export function createFaultScopes(): FaultScopes {
	return {
		within: (sessionId, work) => storage.run(sessionId, work),
		current: () => storage.getStore() ?? null,
	};
}
