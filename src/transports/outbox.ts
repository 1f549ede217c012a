// The queue between those who send lines and a stream that takes them: bounded in bytes, joined into few writes.
// It never drops a line while the other side lives; producers of much wait for `ready`.
import { createDeferred, type Deferred } from "../base/deferred.ts";

/** A sink for text. `done` is called when the text was handed on, with an error when it could not be. */
export type WriteText = (text: string, done: (error?: Error | null) => void) => void;

export interface Outbox {
	send(line: string): void;
	ready(): Promise<void>;
	/** Bytes (UTF-16 units, to be exact) that wait to be taken. */
	queued(): number;
	flush(): Promise<void>;
	/** Declares the other side gone: everything queued is dropped and every waiter released. */
	abandon(reason: unknown): void;
	readonly gone: AbortSignal;
}

/** `limit` is the number of queued UTF-16 units above which `ready` waits; `ending` is put behind everything sent. */
export function createOutbox(write: WriteText, limit: number, ending = "\n"): Outbox {
	const gone = new AbortController();
	let queued: string[] = [];
	let size = 0;
	let inFlight = 0;
	let scheduled = false;
	let roomWaiter: Deferred<void> | null = null;
	let emptyWaiter: Deferred<void> | null = null;

	const release = () => {
		if (size + inFlight < limit) {
			roomWaiter?.resolve();
			roomWaiter = null;
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
		// One write at a time: what comes meanwhile is joined into the next.
		if (inFlight > 0 || queued.length === 0) return;
		const text = `${queued.join(ending)}${ending}`;
		inFlight = size;
		queued = [];
		size = 0;
		write(text, (error) => {
			if (gone.signal.aborted) return;
			if (error) return abandon(error);
			inFlight = 0;
			release();
			drain();
		});
	};

	return {
		send(line) {
			if (gone.signal.aborted) return;
			queued.push(line);
			size += line.length + ending.length;
			if (scheduled) return;
			scheduled = true;
			queueMicrotask(drain);
		},
		ready() {
			if (size + inFlight < limit) return Promise.resolve();
			roomWaiter ??= createDeferred();
			return roomWaiter.promise;
		},
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
