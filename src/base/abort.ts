// Waiting for work no longer than a signal allows.

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
