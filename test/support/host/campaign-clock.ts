// A clock that stands still until a test moves it.
import type { Clock } from "../../../src/base/clock.ts";

export interface FakeClock extends Clock {
	/** Moves on, calling back what falls due in the order of its time. */
	advance(milliseconds: number): void;
	/** As somebody sets the time of the machine: nothing falls due by that. */
	setTime(by: number): void;
	/** How many callbacks wait. */
	waiting(): number;
}

export function createFakeClock(start = 1_700_000_000_000): FakeClock {
	let now = start;
	let shift = 0;
	let lastId = 0;
	const timers = new Map<number, { readonly at: number; readonly callback: () => void }>();
	const nextDue = (limit: number) => {
		let found: { id: number; at: number; callback: () => void } | null = null;
		for (const [id, { at, callback }] of timers) {
			if (at <= limit && (found === null || at < found.at)) found = { id, at, callback };
		}
		return found;
	};
	return {
		now: () => now + shift,
		monotonic: () => now,
		after(milliseconds, callback) {
			lastId += 1;
			const id = lastId;
			timers.set(id, { at: now + milliseconds, callback });
			return () => timers.delete(id);
		},
		advance(milliseconds) {
			const limit = now + milliseconds;
			for (let due = nextDue(limit); due !== null; due = nextDue(limit)) {
				timers.delete(due.id);
				now = Math.max(now, due.at);
				due.callback();
			}
			now = limit;
		},
		setTime(by) {
			shift += by;
		},
		waiting: () => timers.size,
	};
}
