// Detects a dead connection: a network may drop data without an error, while the worker still reaches the database another way.
import type { Clock } from "../base/clock.ts";

/** Milliseconds between two pings of a front end, which the worker answers. */
export const pulse = 2_000;
/** Silent pulses before a connection counts as lost, about one lease. A timer would misfire after a suspension. */
const silentPulses = 5;

export interface PulseParts {
	/** Total bytes received. */
	arrived(): number;
	onPulse?(): void;
	/** Called once after too many silent pulses. */
	onSilent(): void;
}

/** Watches until five pulses pass without data or the signal aborts. */
export function watchPulse({ arrived, onPulse, onSilent }: PulseParts, clock: Clock, signal: AbortSignal): void {
	let known = arrived();
	let silent = 0;
	let withdraw = () => {};
	const beat = () => {
		if (signal.aborted) return;
		const now = arrived();
		silent = now === known ? silent + 1 : 0;
		known = now;
		if (silent >= silentPulses) {
			onSilent();
			return;
		}
		onPulse?.();
		withdraw = clock.after(pulse, beat, true);
	};
	withdraw = clock.after(pulse, beat, true);
	signal.addEventListener("abort", () => withdraw(), { once: true });
}
