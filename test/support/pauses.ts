// Measures how long work keeps the event loop from everybody else.
import { setImmediate as nextTurn } from "node:timers/promises";

/** Milliseconds: nothing from outside may keep the event loop longer. */
export const longestPause = 250;

/** Runs the work and gives the longest time, in milliseconds, in which nothing else could run. */
async function pauseOf(work: () => Promise<unknown>): Promise<number> {
	let longest = 0;
	let since = performance.now();
	let used = process.cpuUsage();
	let isDone = false;
	const look = () => {
		const { user, system } = process.cpuUsage(used);
		// While the machine gives the time to others, the work is not to blame.
		longest = Math.max(longest, Math.min(performance.now() - since, (user + system) / 1000));
		since = performance.now();
		used = process.cpuUsage();
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

/** The pause of the best of three tries: other work of the machine makes pauses longer, nothing makes them shorter. */
export async function shortestPause(work: () => Promise<unknown>): Promise<number> {
	let shortest = Number.POSITIVE_INFINITY;
	for (let attempt = 0; attempt < 3 && shortest > longestPause / 2; attempt += 1) {
		shortest = Math.min(shortest, await pauseOf(work));
	}
	return shortest;
}
