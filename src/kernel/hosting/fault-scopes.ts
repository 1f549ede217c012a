// Attributes uncaught exceptions to sessions by async context, which slows every promise slightly: only for multi-session processes.
import { AsyncLocalStorage } from "node:async_hooks";

/** Shared by all hosts of a process: each further storage slows every promise again, and tests create many hosts. */
const storage = new AsyncLocalStorage<string>();

export class FaultScopes {
	#unscoped: string | null = null;

	within<T>(sessionId: string, work: () => T): T {
		return storage.run(sessionId, work);
	}

	/** Runs the work of the only session, which owns all exceptions outside a scope. */
	withoutScope<T>(sessionId: string, work: () => T): T {
		this.#unscoped = sessionId;
		return work();
	}

	/** The session whose work is running or has just thrown; null when unknown. */
	current(): string | null {
		return storage.getStore() ?? this.#unscoped;
	}
}
