// Whose work it was when something was thrown that nobody caught: what a session starts, and all that comes of it, carries
// the session's id. It costs every promise a little, so that only a process of many sessions has it.
import { AsyncLocalStorage } from "node:async_hooks";

export interface FaultScopes {
	/** Runs the work as that of a session. */
	within<T>(sessionId: string, work: () => T): T;
	/** The session whose work runs now, or has just thrown; null when it is nobody's. */
	current(): string | null;
}

export function createFaultScopes(): FaultScopes {
	const storage = new AsyncLocalStorage<string>();
	return {
		within: (sessionId, work) => storage.run(sessionId, work),
		current: () => storage.getStore() ?? null,
	};
}
