// Lets others have their turn in the middle of long work, so that no input keeps the event loop to itself.
import { setImmediate as nextTurn } from "node:timers/promises";

/** Milliseconds that work goes on before others get their turn. */
const share = 20;

/** What long work calls often: it gives nothing to wait for until the work's share of time is used up. */
export type TakeTurns = () => Promise<void> | undefined;

export function createTurnTaking(): TakeTurns {
	let since = performance.now();
	return () => {
		if (performance.now() - since < share) return undefined;
		return nextTurn().then(() => {
			since = performance.now();
		});
	};
}
