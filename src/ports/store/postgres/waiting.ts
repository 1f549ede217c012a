import { type Clock, sleep } from "../../../base/clock.ts";
import { errorText, KernelError, systemErrorCode } from "../../../base/errors.ts";
import { isTransient } from "./database.ts";

const firstPause = 100;
const longestPause = 2_000;

/** An untrusted certificate is a permanent failure. */
const certificateFault = /CERT|SIGNED|TLS|SSL/;

function isAway(thrown: unknown): boolean {
	if (!isTransient(thrown)) return false;
	const code = thrown instanceof KernelError ? systemErrorCode(thrown.cause) : null;
	return code === null || !certificateFault.test(code);
}

export interface Waiting {
	readonly clock: Clock;
	readonly signal: AbortSignal;
	onWait(reason: string): void;
}

/** Retries until the database responds. Fails if waiting cannot help, or when the signal aborts. */
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
