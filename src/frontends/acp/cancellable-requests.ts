// Client requests that `$/cancel_request` can cancel; each is still answered.
import type { RpcId } from "../../ports/rpc/envelope.ts";

export class CancellableRequests {
	/** By id as text with its type, because `1` and `"1"` are different ids. */
	readonly #running = new Map<string, AbortController>();
	#isOver = false;

	async run<T>(id: RpcId | null, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
		const controller = new AbortController();
		if (this.#isOver) controller.abort();
		if (id === null) return await work(controller.signal);
		const key = keyOf(id);
		this.#running.set(key, controller);
		try {
			return await work(controller.signal);
		} finally {
			if (this.#running.get(key) === controller) this.#running.delete(key);
		}
	}

	/** Ignores the id of an answered or uncancelable request. */
	cancel(id: string | number | null): void {
		if (id !== null) this.#running.get(keyOf(id))?.abort();
	}

	cancelAll(): void {
		this.#isOver = true;
		for (const controller of this.#running.values()) controller.abort();
	}
}

const keyOf = (id: RpcId) => (typeof id === "string" ? `"${id}"` : String(id));
