// Time as a port, so that deadlines and retries run under a fake clock in tests.

export interface Clock {
	/** Milliseconds since the epoch, to store or show. The system time may be changed at any moment. */
	now(): number;
	/** Monotonic milliseconds, to measure durations within this process. */
	monotonic(): number;
	/** Calls back once; the returned function cancels it. A background timer does not keep the process alive. */
	after(milliseconds: number, callback: () => void, inBackground?: boolean): () => void;
}

/** Maximum milliseconds: a signed 32-bit integer. */
const longestTimer = 2_147_483_647;

export const systemClock: Clock = {
	now: () => Date.now(),
	monotonic: () => performance.now(),
	after: (milliseconds, callback, inBackground = false) => {
		let left = milliseconds;
		let timer: NodeJS.Timeout;
		// A longer platform timer would fire immediately, so longer waits are split.
		const wait = () => {
			const stage = Math.min(left, longestTimer);
			left -= stage;
			timer = setTimeout(left > 0 ? wait : callback, stage);
			if (inBackground) timer.unref();
		};
		wait();
		return () => clearTimeout(timer);
	},
};

/** Waits. Resolves early, without error, when the signal aborts. In the background it does not keep the process alive. */
export function sleep(clock: Clock, milliseconds: number, signal: AbortSignal, inBackground?: boolean): Promise<void> {
	if (signal.aborted) return Promise.resolve();
	return new Promise((resolve) => {
		const finish = () => {
			withdraw();
			signal.removeEventListener("abort", finish);
			resolve();
		};
		const withdraw = clock.after(milliseconds, finish, inBackground);
		signal.addEventListener("abort", finish, { once: true });
	});
}

export interface Deadline {
	readonly isOver: boolean;
	withdraw(): void;
}

/** Expires after this many milliseconds, by a background timer. */
export function createDeadline(clock: Clock, milliseconds: number): Deadline {
	let isOver = false;
	const withdraw = clock.after(
		milliseconds,
		() => {
			isOver = true;
		},
		true,
	);
	return {
		get isOver() {
			return isOver;
		},
		withdraw,
	};
}
