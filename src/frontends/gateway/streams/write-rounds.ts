// Idle: every stream is written at once. Busy: all are written together in rounds, which saves system calls.
import { performance } from "node:perf_hooks";

/** Milliseconds that a text waits for the next round while busy. */
export const roundSpan = 20;
/** The event loop utilization above which the process counts as busy. */
const busyShare = 0.5;
/** Milliseconds over which utilization is measured. */
const shareSpan = 100;

export class WriteRounds {
	readonly #isBusy: () => boolean;
	readonly #later: (run: () => void) => void;
	readonly #due = new Set<() => void>();
	#isScheduled = false;

	/** `later` schedules a round while busy. It uses real time, so that test clocks do not delay it. */
	constructor(isBusy = watchLoad(), later: (run: () => void) => void = (run) => void setTimeout(run, roundSpan)) {
		this.#isBusy = isBusy;
		this.#later = later;
	}

	add(write: () => void): void {
		this.#due.add(write);
		if (this.#isScheduled) return;
		this.#isScheduled = true;
		if (this.#isBusy()) this.#later(this.#run);
		else setImmediate(this.#run);
	}

	readonly #run = (): void => {
		this.#isScheduled = false;
		const due = [...this.#due];
		this.#due.clear();
		for (const write of due) write();
	};
}

/** Whether the event loop was busy lately; never on platforms without this data. */
function watchLoad(): () => boolean {
	let last = performance.eventLoopUtilization();
	let lookedAt = performance.now();
	let isBusy = false;
	return () => {
		const now = performance.now();
		if (now - lookedAt < shareSpan) return isBusy;
		const current = performance.eventLoopUtilization();
		isBusy = performance.eventLoopUtilization(current, last).utilization > busyShare;
		last = current;
		lookedAt = now;
		return isBusy;
	};
}
