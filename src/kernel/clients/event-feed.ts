// A blocking feed makes emitters wait. A droppable one drops volatile, then all events, and rereads the journal.

import type { Flow } from "../../api/session-options.ts";
import type { AgentEvent } from "../../api/values/event.ts";
import { createDeferred, type Deferred } from "../../base/deferred.ts";
import { KernelError } from "../../base/errors.ts";
import { textSize } from "../../base/json.ts";

/** Queued events per client before emitters wait or events are dropped. */
const limit = 256;
/** Characters queued for a droppable client, or read back at once. A single event may be larger. */
const sizeLimit = 4 * 1024 * 1024;
const readAtOnce = 256;

export interface FeedSource {
	read(after: number): AsyncIterable<readonly AgentEvent[]>;
	/** Number of the last event delivered to clients. */
	delivered(): number;
	/** Number of the last event from earlier processes. Unreadable ones are skipped. */
	left(): number;
}

export interface FeedOptions {
	readonly flow: Flow;
	/** Number of the last event the client already has. Reading starts after it. */
	readonly after: number;
	readonly source: FeedSource;
	readonly wantsProgress: boolean;
}

/** Counts only text: nearly all events are deltas. */
function sizeOf({ body }: AgentEvent): number {
	return body.type === "content.delta" && body.part.type === "text" ? body.part.text.length : textSize(body);
}

export class EventFeed implements AsyncIterable<readonly AgentEvent[]> {
	readonly #flow: Flow;
	readonly #source: FeedSource;
	readonly #wantsProgress: boolean;
	/** Events for this client only. Never dropped, delivered first. */
	#own: AgentEvent[] = [];
	#events: AgentEvent[] = [];
	#size = 0;
	/** Number of the last durable event queued or read back. */
	#position: number;
	#histories = 0;
	/** Whether the reader needs stored events before live ones. */
	#isCatchingUp: boolean;
	#ended = false;
	/** Number of the last event to read back; null while more may come. */
	#last: number | null = null;
	/** Resolves when the waiting reader has something to read. */
	#reader: Deferred<void> | null = null;
	#capacity: Deferred<void> | null = null;
	#quiet: Deferred<void> | null = null;

	constructor({ flow, after, source, wantsProgress }: FeedOptions) {
		this.#flow = flow;
		this.#source = source;
		this.#wantsProgress = wantsProgress;
		this.#position = after;
		this.#isCatchingUp = after < source.delivered();
	}

	push(event: AgentEvent): void {
		if (this.#ended) return;
		if (event.body.type === "tool.progress" && (!this.#wantsProgress || this.isFull())) return;
		const { seq } = event;
		// It is in the journal, and was or will be read back from there.
		if (this.#isCatchingUp || (seq !== undefined && seq <= this.#position)) return;
		this.#position = seq ?? this.#position;
		this.#events.push(event);
		if (this.#flow === "droppable") this.#bound(event);
		this.#wake();
	}

	/** Another process has written the session. With `reset`, the client reads the new history from its beginning. */
	reload(reset: AgentEvent | null): void {
		if (this.#ended) return;
		// A blocking client follows turns in this process; the snapshot covers events of other processes.
		if (this.#flow === "blocking" && !this.#isCatchingUp) {
			this.#position = this.#source.delivered();
			return;
		}
		if (reset !== null) {
			this.#histories += 1;
			this.#position = 0;
			this.#drop();
			this.announce(reset);
		}
		if (this.#position >= this.#source.delivered()) return;
		this.#isCatchingUp = true;
		this.#wake();
	}

	/** Delivers an event to this client only, before later queued events. */
	announce(event: AgentEvent): void {
		if (this.#ended) return;
		this.#own.push(event);
		this.#wake();
	}

	isFull(): boolean {
		return this.#flow === "blocking" && this.#events.length >= limit && !this.#ended;
	}

	/** Resolves when the reader has taken the queued events or the feed has ended. */
	capacity(): Promise<void> {
		if (!this.isFull()) return Promise.resolve();
		this.#capacity ??= createDeferred();
		return this.#capacity.promise;
	}

	drained(): Promise<void> {
		if (this.#ended || (this.#isEmpty && this.#reader !== null)) return Promise.resolve();
		this.#quiet ??= createDeferred();
		return this.#quiet.promise;
	}

	/** Ends the feed after queued events and those still to be read back. */
	end(): void {
		if (this.#ended) return;
		this.#ended = true;
		this.#last = this.#source.delivered();
		this.#wake();
		this.#capacity?.resolve();
		this.#capacity = null;
		this.#quiet?.resolve();
		this.#quiet = null;
	}

	/** Not a generator, which needs several more promises per event. */
	[Symbol.asyncIterator](): AsyncIterator<readonly AgentEvent[]> {
		let reading: AsyncGenerator<readonly AgentEvent[], void> | null = null;
		const next = async (): Promise<IteratorResult<readonly AgentEvent[]>> => {
			for (;;) {
				if (reading !== null) {
					const read = await reading.next();
					if (read.done !== true) return read;
					reading = null;
				} else if (this.#own.length + this.#events.length > 0) return { done: false, value: this.#take() };
				else if (this.#isCatchingUp) reading = this.#readBack();
				else if (this.#ended) return { done: true, value: undefined };
				else {
					this.#quiet?.resolve();
					this.#quiet = null;
					this.#reader ??= createDeferred();
					await this.#reader.promise;
				}
			}
		};
		return {
			next,
			async return() {
				await reading?.return();
				return { done: true, value: undefined };
			},
		};
	}

	get #isEmpty(): boolean {
		return this.#own.length + this.#events.length === 0 && !this.#isCatchingUp;
	}

	#wake(): void {
		this.#reader?.resolve();
		this.#reader = null;
	}

	#take(): readonly AgentEvent[] {
		const batch = this.#own.length === 0 ? this.#events : [...this.#own, ...this.#events];
		this.#own = [];
		this.#drop();
		return batch;
	}

	#drop(): void {
		this.#events = [];
		this.#size = 0;
		this.#capacity?.resolve();
		this.#capacity = null;
	}

	/** Reads stored events from the position up to the delivered ones. */
	async *#readBack(): AsyncGenerator<readonly AgentEvent[]> {
		const wanted = this.#head;
		const history = this.#histories;
		let batch: AgentEvent[] = [];
		let size = 0;
		reading: for await (const events of this.#source.read(this.#position)) {
			for (const event of events) {
				if (history !== this.#histories) return;
				// Stored but not yet delivered.
				if (event.seq !== undefined && event.seq > this.#head) break reading;
				batch.push(event);
				size += textSize(event.body);
				this.#position = event.seq ?? this.#position;
				if (batch.length < readAtOnce && size <= sizeLimit) continue;
				yield batch;
				batch = [];
				size = 0;
			}
		}
		if (history !== this.#histories) return;
		if (batch.length > 0) yield batch;
		if (history !== this.#histories) return;
		if (wanted <= this.#source.left()) this.#position = Math.max(this.#position, wanted);
		if (this.#position < wanted) {
			throw new KernelError("storage-failed", `The session's journal ends at ${this.#position}, not at ${wanted}.`);
		}
		if (this.#position >= this.#head) this.#isCatchingUp = false;
	}

	/** Number of the last due event. */
	get #head(): number {
		return this.#last ?? this.#source.delivered();
	}

	/** Enforces the bound: drops volatile events, then all events if that is not enough. */
	#bound(added: AgentEvent): void {
		this.#size += sizeOf(added);
		if (this.#events.length <= limit && this.#size <= sizeLimit) return;
		const durable = this.#events.filter(({ seq }) => seq !== undefined);
		const size = durable.reduce((sum, { body }) => sum + textSize(body), 0);
		if (durable.length <= limit / 2 && size <= sizeLimit / 2) {
			this.#events = durable;
			this.#size = size;
			return;
		}
		const first = durable[0]?.seq;
		if (first !== undefined) this.#position = first - 1;
		this.#isCatchingUp = true;
		this.#drop();
	}
}
