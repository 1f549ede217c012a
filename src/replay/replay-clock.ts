// The clock of a replay: waits of no length end at once, and others only when the recording says that their time was up.
import type { Clock } from "../base/clock.ts";

export interface ReplayClock extends Clock {
	/** Ends the waits of exactly so many milliseconds. */
	fire(milliseconds: number): void;
}

export function createReplayClock(now: () => number): ReplayClock {
	const waits = new Map<() => void, number>();
	return {
		now,
		monotonic: () => 0,
		after(milliseconds, callback) {
			if (milliseconds <= 0) {
				const immediate = setImmediate(callback);
				return () => clearImmediate(immediate);
			}
			waits.set(callback, milliseconds);
			return () => void waits.delete(callback);
		},
		fire(milliseconds) {
			for (const [callback, length] of [...waits]) {
				if (length !== milliseconds) continue;
				waits.delete(callback);
				callback();
			}
		},
	};
}
