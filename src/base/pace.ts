// Long work that lets others have their turn.
import { setImmediate as nextTurn } from "node:timers/promises";

/** Milliseconds of work after which others get their turn. */
const longestStretch = 20;

export interface Pace {
	/** Lets others run when the work has gone on for a while, and gives undefined otherwise. */
	rest(): Promise<void> | undefined;
}

/** For a loop over things that wait for nothing: `await rest()` in each round. */
export function createPace(): Pace {
	let startedAt = performance.now();
	return {
		rest() {
			if (performance.now() - startedAt < longestStretch) return undefined;
			return nextTurn().then(() => {
				startedAt = performance.now();
			});
		},
	};
}

/** Runs pieces of work that wait for nothing, one when asked, with a turn for others between those that add up. */
export function createPacedWork(): <Result>(work: () => Result) => Promise<Result> {
	let spent = 0;
	let turn: Promise<void> | null = null;
	return async (work) => {
		// Of those that wait for the same turn, each one may use it up.
		while (spent >= longestStretch) {
			turn ??= nextTurn().then(() => {
				spent = 0;
				turn = null;
			});
			await turn;
		}
		const startedAt = performance.now();
		try {
			return work();
		} finally {
			spent += performance.now() - startedAt;
		}
	};
}
