// Prepares a fast first turn once the first client has been answered.
import type { Clock } from "../../base/clock.ts";
import type { Log } from "../../base/log.ts";

export interface WarmUpSettings {
	work(): Promise<void>;
	/** Called when the work is due: an earlier prompt may have done it already. */
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

	/** Starts once, after the current response is sent. Logs failures, since the turn will hit them again. */
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
