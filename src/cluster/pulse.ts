// Whether the other end of a connection is still there. A network may swallow what is sent and keep the connection open: then
// neither end gets an error, and the worker, which reaches the database by another way, lives as far as anybody knows.
import type { Clock } from "../base/clock.ts";

/** Milliseconds between two signs of life of a front end, each of which the worker answers. */
export const pulse = 2_000;
/**
 * Pulses without a byte from the other end after which the connection is lost: as long as a lease. They are counted, not measured:
 * an end that was stopped itself finds only then what has arrived meanwhile.
 */
const silentPulses = 5;

export interface PulseParts {
	/** The bytes that have arrived so far. */
	arrived(): number;
	/** Called at each pulse. */
	onPulse?(): void;
	/** Called once, when nothing has arrived for too long. */
	onSilent(): void;
}

/** Watches until nothing has arrived for five pulses, or the signal aborts. */
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
