// The queue of events for one attached client: bounded, so that emitters wait for a slow reader.
import { createDeferred, type Deferred } from "../../base/deferred.ts";
import type { AgentEvent } from "../../events/event.ts";

/** Events queued for a client before emitters have to wait. */
const limit = 256;

export class EventFeed implements AsyncIterable<readonly AgentEvent[]> {
	#events: AgentEvent[] = [];
	#ended = false;
	#reader: Deferred<void> | null = null;
	#capacity: Deferred<void> | null = null;
	#quiet: Deferred<void> | null = null;

	push(event: AgentEvent): void {
		if (this.#ended) return;
		this.#events.push(event);
		this.#reader?.resolve();
		this.#reader = null;
	}

	isFull(): boolean {
		return this.#events.length >= limit && !this.#ended;
	}

	/** Resolves when the reader has taken the queued events, or the feed has ended. */
	capacity(): Promise<void> {
		if (!this.isFull()) return Promise.resolve();
		this.#capacity ??= createDeferred();
		return this.#capacity.promise;
	}

	/** Resolves once the reader has consumed everything queued: it requests more. */
	drained(): Promise<void> {
		if (this.#ended || (this.#events.length === 0 && this.#reader !== null)) return Promise.resolve();
		this.#quiet ??= createDeferred();
		return this.#quiet.promise;
	}

	/** Ends the feed after the queued events. */
	end(): void {
		this.#ended = true;
		this.#reader?.resolve();
		this.#reader = null;
		this.#capacity?.resolve();
		this.#capacity = null;
		this.#quiet?.resolve();
		this.#quiet = null;
	}

	async *[Symbol.asyncIterator](): AsyncGenerator<readonly AgentEvent[]> {
		while (true) {
			if (this.#events.length > 0) {
				const batch = this.#events;
				this.#events = [];
				this.#capacity?.resolve();
				this.#capacity = null;
				yield batch;
			} else if (this.#ended) return;
			else {
				this.#quiet?.resolve();
				this.#quiet = null;
				this.#reader ??= createDeferred();
				await this.#reader.promise;
			}
		}
	}
}
