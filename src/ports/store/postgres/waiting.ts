// Waits for a database that does not answer at the moment.
import { type Clock, sleep } from "../../../base/clock.ts";
import { errorText, KernelError, systemErrorCode } from "../../../base/errors.ts";
import { isTransient } from "./database.ts";

const firstPause = 100;
const longestPause = 2_000;

/** A certificate that is not trusted stays so. */
const certificateFault = /CERT|SIGNED|TLS|SSL/;

function isAway(thrown: unknown): boolean {
	if (!isTransient(thrown)) return false;
	const code = thrown instanceof KernelError ? systemErrorCode(thrown.cause) : null;
	return code === null || !certificateFault.test(code);
}

export interface Waiting {
	readonly clock: Clock;
	readonly signal: AbortSignal;
	/** Called with the reason before the first pause. */
	onWait(reason: string): void;
}

/**
 * Repeats the work until the database answers. Fails as the work does when waiting cannot help, and as its last attempt did
 * once the signal aborts.
 */
export async function untilAnswered<T>(work: () => Promise<T>, { clock, signal, onWait }: Waiting): Promise<T> {
	for (let pause = firstPause; ; pause = Math.min(2 * pause, longestPause)) {
		try {
			return await work();
		} catch (thrown) {
			if (signal.aborted || !isAway(thrown)) throw thrown;
			if (pause === firstPause) onWait(errorText(thrown));
		}
		await sleep(clock, pause, signal);
	}
}
