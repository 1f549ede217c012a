// Input added while a turn runs, waiting to be taken between two steps.
import type { SteerQueue } from "../../agent/dependencies.ts";
import type { UserInput } from "../../events/content.ts";

export interface OpenSteerQueue extends SteerQueue {
	/** False when the turn takes no more. */
	add(input: UserInput): boolean;
	/** Takes no more if nothing waits; false when something does. */
	closeIfEmpty(): boolean;
	/** Takes no more from now on. */
	close(): void;
}

export function createSteerQueue(): OpenSteerQueue {
	let waiting: UserInput[] = [];
	let isClosed = false;
	return {
		add(input) {
			if (isClosed) return false;
			waiting.push(input);
			return true;
		},
		isEmpty: () => waiting.length === 0,
		close() {
			isClosed = true;
		},
		take() {
			const taken = waiting;
			waiting = [];
			return taken;
		},
		closeIfEmpty() {
			isClosed = waiting.length === 0;
			return isClosed;
		},
	};
}
