// Prepares what makes the first turn of a session fast, after the first client was answered.
import type { Clock } from "../../base/clock.ts";
import type { Log } from "../../base/log.ts";

export interface WarmUpSettings {
	work(): Promise<void>;
	/** Called when the work is due: a prompt that came earlier has done it already. */
	isNeeded(): boolean;
	readonly clock: Clock;
	readonly log: Log;
}

export class WarmUp {
	readonly #settings: WarmUpSettings;
	#isBegun = false;

	constructor(settings: WarmUpSettings) {
		this.#settings = settings;
	}

	/** Starts once, after what is being sent now. A failure is logged: the turn will fail on it again. */
	beginSoon(): void {
		if (this.#isBegun) return;
		this.#isBegun = true;
		const { work, isNeeded, clock, log } = this.#settings;
		clock.after(0, () => {
			if (!isNeeded()) return;
			work().catch((thrown: unknown) => log.debug("The first turn could not be warmed up.", { error: thrown }));
		});
	}
}
