import type { ShownQueue } from "../protocol.ts";
import { type QueueParts, SessionQueue } from "./session-queue.ts";

export class PromptQueues {
	readonly #parts: QueueParts;
	readonly #queues = new Map<string, SessionQueue>();

	constructor(parts: QueueParts) {
		this.#parts = parts;
	}

	watch(sessionId: string, show: (queue: ShownQueue) => void): () => void {
		return this.#of(sessionId).watch(show);
	}

	use<R>(sessionId: string, work: (queue: SessionQueue) => Promise<R>): Promise<R> {
		const queue = this.#of(sessionId);
		return queue.inOrder(() => work(queue));
	}

	close(): void {
		for (const queue of this.#queues.values()) queue.close();
	}

	#of(sessionId: string): SessionQueue {
		const known = this.#queues.get(sessionId);
		if (known !== undefined) return known;
		const queue = new SessionQueue(sessionId, this.#parts, () => {
			if (this.#queues.get(sessionId) === queue) this.#queues.delete(sessionId);
		});
		this.#queues.set(sessionId, queue);
		return queue;
	}
}
