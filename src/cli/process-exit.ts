// The end of the process, in time and whatever still runs. `process.exit` waits for the thread pool of Node: a read that
// never ends, or a name that no server answers for, would keep a process that has nothing more to do.
import type { LogFile } from "./log-file.ts";

/** Milliseconds for everything that is done between the end of the work and the end of the process. */
const shutdownBudget = 1750;

/** Milliseconds that first the log, then the thread pool may take of what is left when the time is over. */
const lastWords = 80;

/** Milliseconds after which a process that hangs in something that no timer interrupts is killed; 2 s with the killing. */
const lastResort = 1950;

/** Milliseconds that work in the thread pool is waited for at an exit for which nobody has set a time. */
const poolPatience = 1000;
const pollInterval = 5;

/** Work in the thread pool, by the names of Node's requests. */
const pooledWork = /^(?:FSReq|FILEHANDLECLOSEREQ|GetAddrInfo|GetNameInfo)/;

function isPoolBusy(): boolean {
	return process.getActiveResourcesInfo().some((name) => pooledWork.test(name));
}

/**
 * Ends the process now. While something is in the thread pool no exit code can be had, only a death by signal; SIGTERM is
 * the one that is nobody's crash.
 */
function exitNow(code: number): never {
	if (isPoolBusy()) {
		// Without listeners it does what it does by default.
		process.removeAllListeners("SIGTERM");
		process.kill(process.pid, "SIGTERM");
	}
	process.exit(code);
}

let isEnding = false;

/**
 * From now on the process has two seconds, wherever it stays behind: with a read that never ends, in the exit itself, or in
 * something that lets no timer come. The first call counts.
 */
export function endInTime(exitCode: () => number, log: LogFile | null): void {
	if (isEnding) return;
	isEnding = true;
	void import("../processes/last-resort.ts").then(({ killSelfAfter }) => killSelfAfter(lastResort));
	setTimeout(async () => {
		log?.error("The end took too long; what was left is given up.", { budget: shutdownBudget });
		await Promise.race([log?.flush(), pause(lastWords)]);
		await exitSoon(exitCode(), lastWords);
	}, shutdownBudget);
}

/** Ends the process, as soon as nothing is in the thread pool or its time is over. */
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
