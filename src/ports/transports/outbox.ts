// Bounded in bytes. Never drops a line while the peer is connected; producers await `ready`.
import { createDeferred, type Deferred } from "../../base/deferred.ts";
import { createPace } from "../../base/pace.ts";
import type { LineText, LongText } from "../../base/text/long-text.ts";

/** A text sink. Calls `done` when the text was passed on, or with an error. */
export type WriteText = (text: string, done: (error?: Error | null) => void) => void;

/** Queued UTF-16 units to write without delay; later lines of a turn are joined to save system calls. */
const enough = 8192;

export class Outbox {
	readonly #write: WriteText;
	readonly #limit: number;
	readonly #ending: string;
	readonly #gone = new AbortController();
	#waiting: LineText[] = [];
	#size = 0;
	#inFlight = 0;
	#scheduled = false;
	/** Whether this event loop turn has already written. */
	#hasWritten = false;
	/** Yields between writes, since a fast reader would otherwise drain everything in one event loop turn. */
	readonly #pace = createPace();
	#drainWaiter: Deferred<void> | null = null;
	#emptyWaiter: Deferred<void> | null = null;

	/** `limit` is the queued UTF-16 units above which `ready` waits; `ending` follows every line. */
	constructor(write: WriteText, limit: number, ending = "\n") {
		this.#write = write;
		this.#limit = limit;
		this.#ending = ending;
	}

	get gone(): AbortSignal {
		return this.#gone.signal;
	}

	send(line: LineText): void {
		if (this.#gone.signal.aborted) return;
		this.#waiting.push(line);
		this.#size += line.length + this.#ending.length;
		if (this.#inFlight > 0) return;
		if (this.#size >= enough) {
			this.#drain();
			return;
		}
		if (this.#scheduled) return;
		this.#scheduled = true;
		if (this.#hasWritten) return;
		this.#hasWritten = true;
		queueMicrotask(() => this.#drain());
		setImmediate(() => {
			this.#hasWritten = false;
			this.#drain();
		});
	}

	ready(): Promise<void> {
		if (this.queued() < this.#limit) return Promise.resolve();
		this.#drainWaiter ??= createDeferred();
		return this.#drainWaiter.promise;
	}

	isFull(): boolean {
		return this.queued() >= this.#limit;
	}

	queued(): number {
		return this.#size + this.#inFlight;
	}

	flush(): Promise<void> {
		if (this.queued() === 0) return Promise.resolve();
		this.#emptyWaiter ??= createDeferred();
		return this.#emptyWaiter.promise;
	}

	/** Declares the peer gone: drops the queue and releases every waiter. */
	abandon(reason: unknown): void {
		this.#waiting = [];
		this.#size = 0;
		this.#inFlight = 0;
		if (!this.#gone.signal.aborted) this.#gone.abort(reason);
		this.#release();
	}

	#proceed(work: () => void): void {
		const turn = this.#pace.rest();
		if (turn === undefined) work();
		else void turn.then(work);
	}

	#release(): void {
		if (this.queued() < this.#limit) {
			this.#drainWaiter?.resolve();
			this.#drainWaiter = null;
		}
		if (this.queued() === 0) {
			this.#emptyWaiter?.resolve();
			this.#emptyWaiter = null;
		}
	}

	#drain(): void {
		this.#scheduled = false;
		// One write at a time: text queued meanwhile joins the next.
		if (this.#inFlight > 0 || this.#waiting.length === 0) return;
		const firstLong = this.#waiting.findIndex((line) => typeof line !== "string");
		const long = firstLong === 0 ? this.#waiting[0] : undefined;
		const batch = this.#waiting.splice(0, firstLong === -1 ? this.#waiting.length : Math.max(1, firstLong));
		this.#inFlight = batch.reduce((sum, line) => sum + line.length + this.#ending.length, 0);
		this.#size -= this.#inFlight;
		const finish = (error?: Error | null) => {
			if (this.#gone.signal.aborted) return;
			if (error) return this.abandon(error);
			this.#inFlight = 0;
			this.#release();
			if (this.#waiting.length > 0) this.#proceed(() => this.#drain());
		};
		if (typeof long === "object") this.#writePieces(long, finish);
		else {
			// For the last ending: appending it later would copy everything again.
			batch.push("");
			this.#write(batch.join(this.#ending), finish);
		}
	}

	#writePieces(line: LongText, done: (error?: Error | null) => void): void {
		const pieces = line[Symbol.iterator]();
		const next = (error?: Error | null): void => {
			const piece = error || this.#gone.signal.aborted ? null : pieces.next();
			if (piece === null) done(error);
			else if (piece.done === true) this.#write(this.#ending, done);
			else this.#write(piece.value, (failure) => this.#proceed(() => next(failure)));
		};
		next();
	}
}
