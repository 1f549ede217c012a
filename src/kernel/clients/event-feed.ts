// The queue of events for one attached client. A blocking feed is bounded by the emitters, which wait for its reader; a
// droppable one never makes them wait: beyond its bound it loses volatile events first, then everything, and reads the
// durable events back from the journal at the reader's own pace.

import type { AgentEvent } from "../../api/values/event.ts";
import { createDeferred, type Deferred } from "../../base/deferred.ts";
import { KernelError } from "../../base/errors.ts";
import { textSize } from "../../base/json.ts";

/** Events queued for a client before emitters have to wait, or events are dropped. */
const limit = 256;
/** Characters of text queued for a droppable client, or read back at once; a single event may be larger. */
const sizeLimit = 4 * 1024 * 1024;
/** Events of one batch that is read back from the journal. */
const readAtOnce = 256;

export type Flow = "blocking" | "droppable";

export interface FeedSource {
	/** The stored events after this number, in batches of any length. */
	read(after: number): AsyncIterable<readonly AgentEvent[]>;
	/** The number of the last event that was delivered to the clients. */
	delivered(): number;
	/** The number of the last event that earlier processes left: those that cannot be read are passed over. */
	left(): number;
}

export interface FeedOptions {
	readonly flow: Flow;
	/** The number of the last event that the client has already; those after it are read first. */
	readonly after: number;
	readonly source: FeedSource;
	/** Whether the client is delivered the progress of tool calls. */
	readonly wantsProgress: boolean;
}

/** Nearly all events are deltas of a text. */
function sizeOf({ body }: AgentEvent): number {
	return body.type === "content.delta" && body.part.type === "text" ? body.part.text.length : textSize(body);
}

export class EventFeed implements AsyncIterable<readonly AgentEvent[]> {
	readonly #flow: Flow;
	readonly #source: FeedSource;
	readonly #wantsProgress: boolean;
	/** What concerns this client alone: it is never dropped, and comes first. */
	#own: AgentEvent[] = [];
	#events: AgentEvent[] = [];
	#size = 0;
	/** The number of the last durable event that was queued or read back. */
	#position: number;
	/** Counts the histories: what is being read back of an earlier one is of no use. */
	#histories = 0;
	/** Whether the reader has to be given stored events before those that are emitted now. */
	#isCatchingUp: boolean;
	#ended = false;
	/** The number of the last event that is to be read back; null as long as more may come. */
	#last: number | null = null;
	/** Resolved when there is something for the reader, which waits. */
	#reader: Deferred<void> | null = null;
	/** Resolved when emitters need not wait any more. */
	#capacity: Deferred<void> | null = null;
	/** Resolved when the reader has consumed everything. */
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
		// Nobody waits for the reader before reporting progress.
		if (event.body.type === "tool.progress" && (!this.#wantsProgress || this.isFull())) return;
		const { seq } = event;
		// The journal has it: it is read back from there later, or was already.
		if (this.#isCatchingUp || (seq !== undefined && seq <= this.#position)) return;
		this.#position = seq ?? this.#position;
		this.#events.push(event);
		if (this.#flow === "droppable") this.#bound(event);
		this.#wake();
	}

	/** Another process has written the session; with `reset`, its history is another one, which the client is given from its beginning. */
	reload(reset: AgentEvent | null): void {
		if (this.#ended) return;
		// One that never misses an event is a client of the running turns here: those of other processes are in the snapshot.
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

	/** Delivers an event that concerns this client alone, before what is queued later. */
	announce(event: AgentEvent): void {
		if (this.#ended) return;
		this.#own.push(event);
		this.#wake();
	}

	isFull(): boolean {
		return this.#flow === "blocking" && this.#events.length >= limit && !this.#ended;
	}

	/** Resolves when the reader has taken the queued events, or the feed has ended. */
	capacity(): Promise<void> {
		if (!this.isFull()) return Promise.resolve();
		this.#capacity ??= createDeferred();
		return this.#capacity.promise;
	}

	/** Resolves once the reader has consumed everything queued: it requests more. */
	drained(): Promise<void> {
		if (this.#ended || (this.#isEmpty && this.#reader !== null)) return Promise.resolve();
		this.#quiet ??= createDeferred();
		return this.#quiet.promise;
	}

	/** Ends the feed after the queued events, and those that are still to be read back. */
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

	/** Written out instead of as a generator, which takes several promises more for every event. */
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

	/** Stored events from the position on, until it has reached what is delivered now. */
	async *#readBack(): AsyncGenerator<readonly AgentEvent[]> {
		const wanted = this.#head;
		const history = this.#histories;
		let batch: AgentEvent[] = [];
		let size = 0;
		reading: for await (const events of this.#source.read(this.#position)) {
			for (const event of events) {
				if (history !== this.#histories) return;
				// It is stored, and not yet delivered.
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

	/** The number of the last event that is due. */
	get #head(): number {
		return this.#last ?? this.#source.delivered();
	}

	/** Drops what is beyond the bound: volatile events, and if that is not enough, all of them. */
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
