// A clock that moves on by exactly what is waited for, at once.
import type { Clock } from "../../src/base/clock.ts";

export interface SteppingClock extends Clock {
	/** Milliseconds waited for so far. */
	readonly waited: number;
}

export function createSteppingClock(start: number): SteppingClock {
	let now = start;
	return {
		now: () => now,
		after(milliseconds, callback) {
			now += milliseconds;
			const immediate = setImmediate(callback);
			return () => clearImmediate(immediate);
		},
		get waited() {
			return now - start;
		},
	};
}
