// The threads by which Node reads files and looks up names. A call that is not answered holds one; there are more than
// Node's four of them, so that some are left for the session when others are held.
import { access } from "node:fs";

const threadCount = 12;

/** Of so many threads one may be held by a file that does not answer; names take half at most. */
const threadsPerPlace = 3;

const variable = "UV_THREADPOOL_SIZE";

/**
 * Makes the threads, unless the person has said how many there are to be. To be called before anything else is read.
 * Gives how many calls may wait for files that are not the program's own.
 */
export function makeThreadPool(): number {
	const wanted = Number(process.env[variable]);
	if (Number.isInteger(wanted) && wanted > 0) return toPlaces(wanted);
	process.env[variable] = String(threadCount);
	// The first call makes them. No child is to inherit what is for this process.
	access("/", () => {});
	delete process.env[variable];
	return toPlaces(threadCount);
}

function toPlaces(threads: number): number {
	return Math.max(1, Math.floor(threads / threadsPerPlace));
}
