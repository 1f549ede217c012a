// A clock for conversations: a wait of up to ten seconds is over as soon as the client has nothing left to do.
import { availableParallelism, loadavg } from "node:os";
import type { Clock } from "../../../src/base/clock.ts";

/** Waits beyond this many milliseconds never end by themselves: they are the deadlines nobody is to meet. */
const longestWait = 10_000;

/**
 * Real milliseconds without a line after which the server counts as waiting for the clock. It may as well wait for a
 * command to end, which takes longer on a machine that has more to do than it can.
 */
function idleAfter(): number {
	return 40 * Math.max(1, (loadavg()[0] ?? 0) / availableParallelism());
}

export interface IdleClock {
	readonly clock: Clock;
	/** Passes the promise on; while it is pending, due waits end one after the other. */
	whileIdle<T>(work: Promise<T>): Promise<T>;
}

export function createIdleClock(): IdleClock {
	let now = Date.UTC(2026, 0, 1);
	const waits = new Set<{ readonly at: number; readonly callback: () => void }>();

	const endNext = () => {
		const due = [...waits].filter(({ at }) => at - now <= longestWait).sort((one, other) => one.at - other.at)[0];
		if (due === undefined) return;
		waits.delete(due);
		now = Math.max(now, due.at);
		due.callback();
	};

	return {
		clock: {
			now: () => now,
			monotonic: () => now,
			after(milliseconds, callback) {
				const wait = { at: now + milliseconds, callback };
				waits.add(wait);
				return () => void waits.delete(wait);
			},
		},
		async whileIdle(work) {
			const timer = setInterval(endNext, idleAfter());
			try {
				return await work;
			} finally {
				clearInterval(timer);
			}
		},
	};
}
