// The times of the events of a turn, which are those of a clock that somebody may set meanwhile: spans would then have been
// over before they began, or have taken hours.

/**
 * Milliseconds by which the time of an event and a clock that nobody sets may differ: an event is noted only when it is stored, which
 * can take a while.
 */
const tolerance = 30_000;

export class Timeline {
	readonly #monotonic: () => number;
	/** What the time was at the zero of that clock. */
	readonly #origin: number;
	/** What is added to the times of events, since the clock was set. */
	#shift = 0;

	/** `at` is the time of the first event, which has just been noted. */
	constructor(at: number, monotonic: () => number) {
		this.#monotonic = monotonic;
		this.#origin = at - monotonic();
	}

	/** The time of an event that has just been noted, as if nobody had set the clock since the first one. */
	place(at: number): number {
		const now = this.#origin + this.#monotonic();
		if (Math.abs(at + this.#shift - now) > tolerance) this.#shift = now - at;
		return at + this.#shift;
	}
}
