// Splits long synchronous work, so that other work on the event loop is not blocked.
import { setImmediate as nextTurn } from "node:timers/promises";

/** Milliseconds of work before yielding to the event loop. */
const longestStretch = 20;

export interface Pace {
	/** Yields when the work has run for a while; undefined otherwise. */
	rest(): Promise<void> | undefined;
}

/** For a loop without other waits: `await rest()` in each iteration. */
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

/** Runs synchronous pieces of work one after another, yielding between those that add up to a long time. */
export function createPacedWork(): <Result>(work: () => Result) => Promise<Result> {
	let spent = 0;
	let turn: Promise<void> | null = null;
	return async (work) => {
		// Another piece that waited for the same yield may have used the time up.
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
 * Runs each synchronous piece of work that comes from outside at once. A returned promise must be awaited before the
 * next piece.
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
	/** Starts counting after a pause without work. */
	begin(): void;
	/** Continues with the work: at once, or after a yield. */
	next(work: () => void): void;
}

/** For work of many pieces, each of which is called back when the one before it is done, perhaps synchronously. */
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
