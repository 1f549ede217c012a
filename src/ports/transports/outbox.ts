// The queue between senders of lines and a stream: bounded in bytes, joined into few writes. It never drops a line
// while the other side exists; producers of much data await `ready`.
import { createDeferred, type Deferred } from "../../base/deferred.ts";
import { createPace } from "../../base/pace.ts";
import type { LineText, LongText } from "../../base/text/long-text.ts";

/** A sink for text. `done` is called when the text was passed on, with an error when that failed. */
export type WriteText = (text: string, done: (error?: Error | null) => void) => void;

export interface Outbox {
	send(line: LineText): void;
	ready(): Promise<void>;
	/** Whether `ready` would wait. */
	isFull(): boolean;
	/** Queued bytes (UTF-16 units, to be exact). */
	queued(): number;
	flush(): Promise<void>;
	/** Declares the other side gone: drops everything queued and releases every waiter. */
	abandon(reason: unknown): void;
	readonly gone: AbortSignal;
}

/**
 * Queued UTF-16 units that are written at once. The first lines in a turn of the event loop are as well: nothing may wait for
 * what is done next. Others are written when the turn ends, with what more sessions send meanwhile: each write is a
 * call of the system, and so is what it makes the other side do.
 */
const enough = 8192;

/** `limit` is the number of queued UTF-16 units above which `ready` waits; `ending` follows everything sent. */
export function createOutbox(write: WriteText, limit: number, ending = "\n"): Outbox {
	const gone = new AbortController();
	let queued: LineText[] = [];
	let size = 0;
	let inFlight = 0;
	let scheduled = false;
	/** Whether something was written in this turn of the event loop. */
	let hasWritten = false;
	/** With a fast reader everything would be written in one turn of the event loop, however much it is. */
	const pace = createPace();
	const proceed = (work: () => void): void => {
		const turn = pace.rest();
		if (turn === undefined) work();
		else void turn.then(work);
	};
	let drainWaiter: Deferred<void> | null = null;
	let emptyWaiter: Deferred<void> | null = null;

	const release = () => {
		if (size + inFlight < limit) {
			drainWaiter?.resolve();
			drainWaiter = null;
		}
		if (size + inFlight === 0) {
			emptyWaiter?.resolve();
			emptyWaiter = null;
		}
	};

	const abandon = (reason: unknown) => {
		queued = [];
		size = 0;
		inFlight = 0;
		if (!gone.signal.aborted) gone.abort(reason);
		release();
	};

	const drain = () => {
		scheduled = false;
		// One write at a time: text queued meanwhile is joined into the next.
		if (inFlight > 0 || queued.length === 0) return;
		const firstLong = queued.findIndex((line) => typeof line !== "string");
		const long = firstLong === 0 ? queued[0] : undefined;
		const batch = queued.splice(0, firstLong === -1 ? queued.length : Math.max(1, firstLong));
		inFlight = batch.reduce((sum, line) => sum + line.length + ending.length, 0);
		size -= inFlight;
		const finish = (error?: Error | null) => {
			if (gone.signal.aborted) return;
			if (error) return abandon(error);
			inFlight = 0;
			release();
			if (queued.length > 0) proceed(drain);
		};
		if (typeof long === "object") writePieces(long, finish);
		else {
			// For the last ending: to add it afterwards would copy everything once more.
			batch.push("");
			write(batch.join(ending), finish);
		}
	};

	const endTurn = () => {
		hasWritten = false;
		drain();
	};

	/** A line that is too long for one string. */
	const writePieces = (line: LongText, done: (error?: Error | null) => void): void => {
		const pieces = line[Symbol.iterator]();
		const next = (error?: Error | null): void => {
			const piece = error || gone.signal.aborted ? null : pieces.next();
			if (piece === null) done(error);
			else if (piece.done === true) write(ending, done);
			else write(piece.value, (failure) => proceed(() => next(failure)));
		};
		next();
	};

	return {
		send(line) {
			if (gone.signal.aborted) return;
			queued.push(line);
			size += line.length + ending.length;
			if (inFlight > 0) return;
			if (size >= enough) return drain();
			if (scheduled) return;
			scheduled = true;
			if (hasWritten) return;
			hasWritten = true;
			queueMicrotask(drain);
			setImmediate(endTurn);
		},
		ready() {
			if (size + inFlight < limit) return Promise.resolve();
			drainWaiter ??= createDeferred();
			return drainWaiter.promise;
		},
		isFull: () => size + inFlight >= limit,
		queued: () => size + inFlight,
		flush() {
			if (size + inFlight === 0) return Promise.resolve();
			emptyWaiter ??= createDeferred();
			return emptyWaiter.promise;
		},
		abandon,
		gone: gone.signal,
	};
}
