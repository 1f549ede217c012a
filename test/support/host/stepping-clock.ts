// A clock that moves on by exactly what is waited for, at once.
import type { Clock } from "../../../src/base/clock.ts";

export interface SteppingClock extends Clock {
	/** Milliseconds waited for so far. */
	readonly waited: number;
	/** Calls the background timers back that wait now. They do not move the clock on by themselves. */
	runBackground(): void;
}

export function createSteppingClock(start: number): SteppingClock {
	let now = start;
	const background = new Set<() => void>();
	return {
		now: () => now,
		monotonic: () => now,
		after(milliseconds, callback, inBackground = false) {
			if (inBackground) {
				background.add(callback);
				return () => background.delete(callback);
			}
			now += milliseconds;
			const immediate = setImmediate(callback);
			return () => clearImmediate(immediate);
		},
		get waited() {
			return now - start;
		},
		runBackground() {
			const callbacks = [...background];
			background.clear();
			for (const callback of callbacks) callback();
		},
	};
}
