// `process.exit` waits for Node's thread pool: a blocked read would keep a finished process alive.
import type { LogFile } from "../../host/log/log-file.ts";

/** Milliseconds between the end of the work and the end of the process. */
const shutdownBudget = 1750;

/** Milliseconds for the log, and then for the thread pool, after the time is up. */
const lastWords = 80;

/** Milliseconds after which a process stuck in something no timer can interrupt is killed; 2 s including the kill. */
const lastResort = 1950;

/** Milliseconds to wait for the thread pool at an exit without a deadline. */
const poolPatience = 1000;
const pollInterval = 5;

/** Node request types that run in the thread pool. */
const pooledWork = /^(?:FSReq|FILEHANDLECLOSEREQ|GetAddrInfo|GetNameInfo)/;

function isPoolBusy(): boolean {
	return process.getActiveResourcesInfo().some((name) => pooledWork.test(name));
}

/** While the thread pool is busy, only a signal works; SIGTERM does not count as a crash. */
function exitNow(code: number): never {
	if (isPoolBusy()) {
		// Without listeners the signal has its default effect.
		process.removeAllListeners("SIGTERM");
		process.kill(process.pid, "SIGTERM");
	}
	process.exit(code);
}

let isEnding = false;

/** Exits within two seconds, even from hanging reads or code that blocks timers. Only the first call counts. */
export function endInTime(exitCode: () => number, log: LogFile | null): void {
	if (isEnding) return;
	isEnding = true;
	void import("../../ports/processes/last-resort.ts").then(({ killSelfAfter }) => killSelfAfter(lastResort));
	setTimeout(async () => {
		log?.error("Shutdown took too long; the remaining work was abandoned.", { budget: shutdownBudget });
		await Promise.race([log?.flush(), pause(lastWords)]);
		await exitSoon(exitCode(), lastWords);
	}, shutdownBudget);
}

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
