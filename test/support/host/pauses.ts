// Measures how long work keeps the event loop from everybody else.
import { readFileSync } from "node:fs";
import { setImmediate as nextTurn } from "node:timers/promises";

/** Milliseconds: nothing from outside may keep the event loop longer. */
export const longestPause = 250;

/** Processor time of this thread in milliseconds; of the whole process where the system does not say more. */
function threadTime(): number {
	if (process.platform === "linux") {
		const [nanoseconds = ""] = readFileSync("/proc/thread-self/schedstat", "utf8").split(" ");
		if (nanoseconds !== "0") return Number(nanoseconds) / 1_000_000;
	}
	const { user, system } = process.cpuUsage();
	return (user + system) / 1000;
}

/** Runs the work and gives the longest time, in milliseconds, in which nothing else could run. */
async function pauseOf(work: () => Promise<unknown>): Promise<number> {
	let longest = 0;
	let since = performance.now();
	let used = threadTime();
	let isDone = false;
	const look = () => {
		// While the machine gives the time to others, the work is not to blame.
		longest = Math.max(longest, Math.min(performance.now() - since, threadTime() - used));
		since = performance.now();
		used = threadTime();
	};
	const done = work().finally(() => {
		isDone = true;
	});
	while (!isDone) {
		await nextTurn();
		look();
	}
	await done;
	return longest;
}

const yardstick = JSON.stringify(Array.from({ length: 20_000 }, (_, index) => ({ index, text: `text ${index}` })));
/** Milliseconds of processor time that reading the yardstick takes on the machine that the limit is meant for. */
const yardstickTime = 12;

/** How many times slower than that machine this one is now: its cores may be shared with others. At least 1. */
function slowness(): number {
	const used = threadTime();
	JSON.parse(yardstick);
	return Math.max(1, (threadTime() - used) / yardstickTime);
}

/**
 * The pause of the best of five tries, in milliseconds of the machine that the limit is meant for: other work of the
 * machine makes pauses longer, nothing makes them shorter.
 */
export async function shortestPause(work: () => Promise<unknown>): Promise<number> {
	let shortest = Number.POSITIVE_INFINITY;
	for (let attempt = 0; attempt < 5 && shortest > longestPause / 2; attempt += 1) {
		const before = slowness();
		const pause = await pauseOf(work);
		shortest = Math.min(shortest, pause / Math.min(before, slowness()));
	}
	return shortest;
}
