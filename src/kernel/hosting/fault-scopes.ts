// Attributes uncaught exceptions to sessions: asynchronous work that a session starts carries the session's id. It
// slows every promise a little, so only a process of many sessions uses it.
import { AsyncLocalStorage } from "node:async_hooks";

/** One for all hosts of a process, of which tests create many: each further one would slow every promise once more. */
const storage = new AsyncLocalStorage<string>();

export class FaultScopes {
	#unscoped: string | null = null;

	/** Runs the work in the scope of a session. */
	within<T>(sessionId: string, work: () => T): T {
		return storage.run(sessionId, work);
	}

	/** Runs the work of the only session: what is thrown outside every scope is attributed to it. */
	withoutScope<T>(sessionId: string, work: () => T): T {
		this.#unscoped = sessionId;
		return work();
	}

	/** The session whose work runs now or has just thrown; null when that is unknown. */
	current(): string | null {
		return storage.getStore() ?? this.#unscoped;
	}
}
