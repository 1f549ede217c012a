// Long work that lets others have their turn.
import { setImmediate as nextTurn } from "node:timers/promises";

/** Milliseconds of work after which others get their turn. */
const longestStretch = 20;

/**
 * For a loop over things that wait for nothing: `await rest()` in each round. It lets others run when the work has gone on
 * for a while, and gives undefined otherwise.
 */
export function createPace(): { rest(): Promise<void> | undefined } {
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
