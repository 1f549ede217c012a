// Waiting for work no longer than a signal allows.
import { type Clock, sleep } from "./clock.ts";

/** Resolves when the signal aborts. For a signal that is not waited for again and again: each wait stays with it until then. */
export function aborted(signal: AbortSignal): Promise<void> {
	return new Promise((resolve) => {
		signal.addEventListener("abort", () => resolve(), { once: true });
		if (signal.aborted) resolve();
	});
}

/** The work's value, or null as soon as the signal aborts; the work itself goes on. */
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

/** The work's value; fails with the signal's reason as soon as it aborts. The work itself goes on. */
export function orAbort<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
	return new Promise((resolve, reject) => {
		const abort = () => reject(signal.reason);
		signal.addEventListener("abort", abort, { once: true });
		if (signal.aborted) abort();
		work.then(resolve, reject).finally(() => signal.removeEventListener("abort", abort));
	});
}

/**
 * As `unlessAborted`, but the work has some time after the abort, in milliseconds, to end by itself. For what ends with its signal
 * unless it hangs in something that knows none.
 */
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
	// What becomes of the work is told by the work.
	late.catch(() => {});
	try {
		return await Promise.race([work, late]);
	} finally {
		over.abort();
	}
}
