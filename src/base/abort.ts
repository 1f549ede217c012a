// Waiting for work no longer than a signal allows.
import { type Clock, sleep } from "./clock.ts";

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

/**
 * The same, but the work has some time after the abort, in milliseconds, to end by itself. For what ends with its signal
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
