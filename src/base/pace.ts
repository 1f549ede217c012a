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

/**
 * Runs pieces of work that come from outside, each at once. A promise means: others are to have their turn, wait for it before
 * the next piece.
 */
export function createPacedSteps(): (work: () => void) => Promise<void> | undefined {
	let spent = 0;
	return (work) => {
		const startedAt = performance.now();
		try {
			work();
		} finally {
			spent += performance.now() - startedAt;
		}
		if (spent < longestStretch) return undefined;
		return nextTurn().then(() => {
			spent = 0;
		});
	};
}

export interface PacedCallbacks {
	/** Work begins after a time in which there was none. */
	begin(): void;
	/** Goes on with the work: at once, or when others have had their turn. */
	next(work: () => void): void;
}

/** For work of many pieces, each of which is called back when the one before it is done, perhaps at once. */
export function createPacedCallbacks(): PacedCallbacks {
	let startedAt = 0;
	const begin = () => {
		startedAt = performance.now();
	};
	return {
		begin,
		next(work) {
			if (performance.now() - startedAt < longestStretch) return work();
			void nextTurn().then(() => {
				begin();
				work();
			});
		},
	};
}
