// Splits long synchronous work, so that other work on the event loop is not blocked.
import { setImmediate as whenTurnEnds } from "node:timers";
import { setImmediate as nextTurn } from "node:timers/promises";

/** Milliseconds of work before yielding to the event loop. */
const longestStretch = 20;

export interface Pace {
	/**
	 * Call it between pieces of work, and wait for the promise if there is one: it yields to other work. Undefined while
	 * the pieces have not added up to a long time since other work last ran.
	 */
	rest(): Promise<void> | undefined;
	/** Runs a piece of work as soon as the pieces before it, from all callers, leave time for it. */
	run<Result>(work: () => Result): Promise<Result>;
}

let lastLong: Promise<void> = Promise.resolve();

/** Lets other work run before a piece that is known to be long, and not a part of many. No two pieces come at once. */
export function otherWork(): Promise<void> {
	// In the turn that runs, what arrived meanwhile is looked at no more.
	lastLong = lastLong.then(() => nextTurn()).then(() => nextTurn());
	return lastLong;
}

/**
 * The way to yield between pieces. A loop awaits `rest()` in each iteration; a callback continues at once or after `rest()`; pieces
 * that nobody puts in an order share a pace and are each given to `run`. Waits for other things in between are free: a
 * turn of the event loop, however it came about, starts the time anew.
 */
export function createPace(): Pace {
	let startedAt: number | null = null;
	let turn: Promise<void> | null = null;
	const begin = (): void => {
		startedAt = performance.now();
		whenTurnEnds(() => {
			startedAt = null;
		});
	};
	const rest = (): Promise<void> | undefined => {
		if (startedAt === null) begin();
		else if (performance.now() - startedAt >= longestStretch) {
			turn ??= nextTurn().then(() => {
				turn = null;
				begin();
			});
			return turn;
		}
		return undefined;
	};
	begin();
	return {
		rest,
		async run(work) {
			// Another piece that waited for the same turn may have used up the time.
			for (let yielding = rest(); yielding !== undefined; yielding = rest()) await yielding;
			return work();
		},
	};
}
