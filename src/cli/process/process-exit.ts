// Exits the process in time, whatever still runs. `process.exit` waits for Node's thread pool: a read that never ends,
// or a name that no server resolves, would keep a finished process alive.
import type { LogFile } from "../../host/log/log-file.ts";

/** Milliseconds between the end of the work and the end of the process. */
const shutdownBudget = 1750;

/** Milliseconds for the log, and then for the thread pool, when the time is over. */
const lastWords = 80;

/**
 * Milliseconds after which a process that hangs in something that no timer interrupts is killed; 2 s including the
 * kill.
 */
const lastResort = 1950;

/** Milliseconds to wait for the thread pool at an exit without a deadline. */
const poolPatience = 1000;
const pollInterval = 5;

/** Work in the thread pool, by the names of Node's requests. */
const pooledWork = /^(?:FSReq|FILEHANDLECLOSEREQ|GetAddrInfo|GetNameInfo)/;

function isPoolBusy(): boolean {
	return process.getActiveResourcesInfo().some((name) => pooledWork.test(name));
}

/**
 * Exits now. While the thread pool is busy no exit code is possible, only a death by signal; SIGTERM is the one that
 * does not count as a crash.
 */
function exitNow(code: number): never {
	if (isPoolBusy()) {
		// Without listeners the signal has its default effect.
		process.removeAllListeners("SIGTERM");
		process.kill(process.pid, "SIGTERM");
	}
	process.exit(code);
}

let isEnding = false;

/**
 * From now on the process exits within two seconds, wherever it hangs: in a read that never ends, in the exit itself,
 * or in something that blocks timers. The first call counts.
 */
export function endInTime(exitCode: () => number, log: LogFile | null): void {
	if (isEnding) return;
	isEnding = true;
	void import("../../ports/processes/last-resort.ts").then(({ killSelfAfter }) => killSelfAfter(lastResort));
	setTimeout(async () => {
		log?.error("The end took too long; what was left is given up.", { budget: shutdownBudget });
		await Promise.race([log?.flush(), pause(lastWords)]);
		await exitSoon(exitCode(), lastWords);
	}, shutdownBudget);
}

/** Exits as soon as the thread pool is idle or the time is over. */
export async function exitSoon(code: number, patience = poolPatience): Promise<never> {
	const deadline = performance.now() + patience;
	while (isPoolBusy() && performance.now() < deadline) {
		await pause(pollInterval);
	}
	return exitNow(code);
}

function pause(milliseconds: number): Promise<void> {
	return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
