// When streams are written to. Each write is a call of the system, and so is what it makes a client do: while there is time, every
// stream is written to at once; while the process has little, all of them are, once in a while, with what has come meanwhile.
import { performance } from "node:perf_hooks";

/** Milliseconds from the first text to its round while the process is busy. */
export const roundSpan = 20;
/** The share of time in which the event loop works, and above which the process is busy. */
const busyShare = 0.5;
/** Milliseconds over which that share is taken. */
const shareSpan = 100;

export class WriteRounds {
	readonly #isBusy: () => boolean;
	readonly #later: (run: () => void) => void;
	readonly #due = new Set<() => void>();
	#isScheduled = false;

	/** `later` begins a round while the process is busy. It is no deadline of the product's: no clock of a test holds it up. */
	constructor(isBusy = watchLoad(), later: (run: () => void) => void = (run) => void setTimeout(run, roundSpan)) {
		this.#isBusy = isBusy;
		this.#later = later;
	}

	/** Calls back in the next round, once. */
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

/** Whether the event loop had much to do lately. A platform that does not know it has never. */
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
