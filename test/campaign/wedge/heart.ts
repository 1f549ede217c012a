// The heartbeat of a process: a small request every 20 milliseconds, and how long the slowest answer took.
// Other work on the machine makes answers late, too: what the process or this one waited for a processor does not count.
import { readFileSync } from "node:fs";

const interval = 20;
/** A process that is stuck is not sent ever more: it takes a limited number of requests at a time. */
const maximumOpen = 100;

export interface Beats {
	readonly count: number;
	/** Milliseconds of the slowest answer, without what the machine is to blame for. */
	readonly slowest: number;
	/** The same with it. */
	readonly slowestByClock: number;
}

/** Milliseconds that the main thread of a process could have run and had to wait for a processor; 0 where that is not known. */
export function waitedForProcessor(processId: number): number {
	try {
		const [, waited = "0"] = readFileSync(`/proc/${processId}/task/${processId}/schedstat`, "utf8").split(" ");
		return Number(waited) / 1e6;
	} catch {
		return 0;
	}
}

/** The most bytes that the process has had in memory so far; 0 where that is not known. */
export function peakMemory(processId: number): number {
	try {
		const [, kilobytes = "0"] = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${processId}/status`, "utf8")) ?? [];
		return Number(kilobytes) * 1024;
	} catch {
		return 0;
	}
}

interface OpenBeat {
	readonly sentAt: number;
	readonly waited: number;
	/** How late the timer of this side was since. */
	lag: number;
}

export class Heart {
	readonly #processId: number;
	readonly #send: (number: number) => void;
	readonly #open = new Map<number, OpenBeat>();
	#timer: NodeJS.Timeout | undefined;
	#lastTick = 0;
	#sent = 0;
	#count = 0;
	#slowest = 0;
	#slowestByClock = 0;

	/** `send` sends the request of that number. */
	constructor(processId: number, send: (number: number) => void) {
		this.#processId = processId;
		this.#send = send;
	}

	start(): void {
		this.#lastTick = performance.now();
		this.#timer = setInterval(() => this.#tick(), interval);
	}

	/** Takes the answer to the request of that number. */
	take(number: number): void {
		const beat = this.#open.get(number);
		if (beat === undefined) return;
		this.#open.delete(number);
		this.#count += 1;
		this.#weigh(beat);
	}

	/** Stops; what is not answered by now counts as answered now. */
	stop(): Beats {
		clearInterval(this.#timer);
		for (const beat of this.#open.values()) this.#weigh(beat);
		this.#open.clear();
		return this.beats();
	}

	beats(): Beats {
		return { count: this.#count, slowest: this.#slowest, slowestByClock: this.#slowestByClock };
	}

	#tick(): void {
		const now = performance.now();
		const lag = this.#lagAt(now);
		for (const beat of this.#open.values()) beat.lag = Math.max(beat.lag, lag);
		this.#lastTick = now;
		if (this.#open.size >= maximumOpen) return;
		this.#sent += 1;
		const waited = waitedForProcessor(this.#processId);
		this.#open.set(this.#sent, { sentAt: performance.now(), waited, lag: 0 });
		this.#send(this.#sent);
	}

	#lagAt(now: number): number {
		return Math.max(0, now - this.#lastTick - interval);
	}

	#weigh({ sentAt, waited, lag }: OpenBeat): void {
		const now = performance.now();
		const byClock = now - sentAt;
		const excuse = Math.max(waitedForProcessor(this.#processId) - waited, lag, this.#lagAt(now));
		this.#slowestByClock = Math.max(this.#slowestByClock, byClock);
		this.#slowest = Math.max(this.#slowest, byClock - excuse);
	}
}
