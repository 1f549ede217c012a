// Corrects event times of a turn when the system clock is set meanwhile: otherwise spans could end before they began, or take
// hours.

/**
 * Allowed difference in milliseconds between event time and the monotonic clock: an event is recorded only once stored, which can
 * take a while.
 */
const tolerance = 30_000;

export class Timeline {
	readonly #monotonic: () => number;
	/** System time at the monotonic zero. */
	readonly #origin: number;
	/** Correction of event times since the clock was set. */
	#shift = 0;

	/** `at` is the time of the first event, just recorded. */
	constructor(at: number, monotonic: () => number) {
		this.#monotonic = monotonic;
		this.#origin = at - monotonic();
	}

	/** The corrected time of an event just recorded. */
	place(at: number): number {
		const now = this.#origin + this.#monotonic();
		if (Math.abs(at + this.#shift - now) > tolerance) this.#shift = now - at;
		return at + this.#shift;
	}
}
