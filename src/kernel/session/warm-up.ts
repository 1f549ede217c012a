// What makes the first turn of a session quick, done after the first client was answered.
import type { Clock } from "../../base/clock.ts";
import type { Log } from "../../base/log.ts";

export interface WarmUpSettings {
	work(): Promise<void>;
	/** Asked when the work is due: a prompt that came meanwhile does the same on its own. */
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

	/** Begins once, after what is being sent now. A failure is logged: the turn will meet it again. */
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
