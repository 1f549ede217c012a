// Time as a port, so that deadlines and retries run under a fake clock in tests.

export interface Clock {
	/** Milliseconds since the epoch. */
	now(): number;
	/** Calls back once after `milliseconds`; the returned function withdraws it. */
	after(milliseconds: number, callback: () => void): () => void;
}

export const systemClock: Clock = {
	now: () => Date.now(),
	after: (milliseconds, callback) => {
		const timer = setTimeout(callback, milliseconds);
		return () => clearTimeout(timer);
	},
};

/** Waits; resolves early, without error, when the signal aborts. */
export function sleep(clock: Clock, milliseconds: number, signal: AbortSignal): Promise<void> {
	if (signal.aborted) return Promise.resolve();
	return new Promise((resolve) => {
		const finish = () => {
			withdraw();
			signal.removeEventListener("abort", finish);
			resolve();
		};
		const withdraw = clock.after(milliseconds, finish);
		signal.addEventListener("abort", finish, { once: true });
	});
}
