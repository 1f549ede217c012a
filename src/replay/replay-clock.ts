import type { Clock } from "../base/clock.ts";

export interface ReplayClock extends Clock {
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
