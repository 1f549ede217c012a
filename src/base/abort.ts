import { setMaxListeners } from "node:events";
import { type Clock, sleep } from "./clock.ts";

/** Abort reason without effect on finished work. Shared, because creating an error captures the stack. */
export const workIsOver = new DOMException("The work is over.", "AbortError");

/** Resolves when the signal aborts. Each wait stays registered until then: not for long-lived signals in a loop. */
export function aborted(signal: AbortSignal): Promise<void> {
	return new Promise((resolve) => {
		signal.addEventListener("abort", () => resolve(), { once: true });
		if (signal.aborted) resolve();
	});
}

/** The work's value, or null as soon as the signal aborts. The work itself continues. */
export async function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T | null> {
	let stop = () => {};
	const aborted = new Promise<null>((resolve) => {
		stop = () => resolve(null);
		signal.addEventListener("abort", stop, { once: true });
		if (signal.aborted) stop();
	});
	try {
		return await Promise.race([work, aborted]);
	} finally {
		signal.removeEventListener("abort", stop);
	}
}

/** Sequential waits under one signal, with a single listener instead of one per wait. */
export interface AbortableWaits {
	/** The work's value, or null as soon as the signal aborts. The work itself continues. One wait at a time. */
	until<T>(work: Promise<T>): Promise<T | null>;
	end(): void;
}

export function createAbortableWaits(signal: AbortSignal): AbortableWaits {
	let stop = () => {};
	const onAbort = () => stop();
	signal.addEventListener("abort", onAbort, { once: true });
	return {
		until: <T>(work: Promise<T>) =>
			new Promise<T | null>((resolve, reject) => {
				stop = () => resolve(null);
				if (signal.aborted) stop();
				work.then(resolve, reject);
			}),
		end: () => signal.removeEventListener("abort", onAbort),
	};
}

/** The work's value; fails with the signal's reason as soon as it aborts. The work itself continues. */
export function orAbort<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
	return new Promise((resolve, reject) => {
		const abort = () => reject(signal.reason);
		signal.addEventListener("abort", abort, { once: true });
		if (signal.aborted) abort();
		work.then(resolve, reject).finally(() => signal.removeEventListener("abort", abort));
	});
}

/** The same, but gives the work some milliseconds to end after the abort. */
export async function unlessLate<T>(
	work: Promise<T>,
	signal: AbortSignal,
	patience: number,
	clock: Clock,
): Promise<T | null> {
	const over = new AbortController();
	const late = unlessAborted(work, signal).then(async (value) => {
		if (signal.aborted) await sleep(clock, patience, over.signal);
		return value;
	});
	// The race below rejects with the work's own error.
	late.catch(() => {});
	try {
		return await Promise.race([work, late]);
	} finally {
		over.abort(workIsOver);
	}
}

/** For work that is never aborted. */
export const never: AbortSignal = new AbortController().signal;
// Any amount of such work runs at once.
setMaxListeners(0, never);
