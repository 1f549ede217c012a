// Corrects event times when the system clock is set: otherwise spans could end before they began.

/** Tolerated milliseconds between event time and the monotonic clock: events are recorded once stored. */
const tolerance = 30_000;

export class Timeline {
	readonly #monotonic: () => number;
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
