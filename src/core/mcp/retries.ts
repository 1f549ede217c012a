import type { Clock } from "../../base/clock.ts";
import type { LinkFailure } from "./failure.ts";

export interface Retries {
	isDue(): boolean;
	missed(failure: LinkFailure): void;
	connected(): void;
}

/** Milliseconds after the second consecutive failure; doubles with each further one. */
const firstDelay = 15_000;
const longestDelay = 600_000;

export function createRetries(clock: Clock): Retries {
	let misses = 0;
	let dueFrom = 0;
	return {
		isDue: () => clock.monotonic() >= dueFrom,
		missed({ kind }) {
			// Starting a program is expensive; checking for a new sign-in is cheap.
			misses = kind === "unauthorized" ? 0 : misses + 1;
			const delay = misses <= 1 ? 0 : Math.min(firstDelay * 2 ** (misses - 2), longestDelay);
			dueFrom = clock.monotonic() + delay;
		},
		connected() {
			misses = 0;
		},
	};
}
