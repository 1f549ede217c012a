import { setImmediate as whenTurnEnds } from "node:timers";
import { setImmediate as nextTurn } from "node:timers/promises";

/** Milliseconds of work before yielding to the event loop. */
const longestStretch = 20;

export interface Pace {
	/** Call it between pieces of work and await its promise, if any. Undefined until enough time has passed. */
	rest(): Promise<void> | undefined;
	run<Result>(work: () => Result): Promise<Result>;
}

let lastLong: Promise<void> = Promise.resolve();

/** Yields before a single piece known to be long. Two such pieces never run in a row. */
export function otherWork(): Promise<void> {
	// The current turn no longer checks for newly arrived events.
	lastLong = lastLong.then(() => nextTurn()).then(() => nextTurn());
	return lastLong;
}

/** A loop awaits `rest()`, unordered pieces go through `run`. Any other event loop turn restarts the time. */
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
			// Another piece waiting for the same turn may have used up the time.
			for (let yielding = rest(); yielding !== undefined; yielding = rest()) await yielding;
			return work();
		},
	};
}
