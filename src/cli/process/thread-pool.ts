// Sizes Node's thread pool, which reads files and resolves names. A call without a response occupies a thread; there
// are more than Node's four, so that some remain for the session.
import { access } from "node:fs";

const threadCount = 12;

/** One of so many threads may be occupied by a file that does not respond; names take half at most. */
const threadsPerPlace = 3;

const variable = "UV_THREADPOOL_SIZE";

/**
 * Creates the threads, unless the person has set their number. Call it before anything else is read. Returns how many
 * calls may wait for files that are not the program's own.
 */
export function makeThreadPool(): number {
	const wanted = Number(process.env[variable]);
	if (Number.isInteger(wanted) && wanted > 0) return toPlaces(wanted);
	process.env[variable] = String(threadCount);
	// The first call creates them. Children must not inherit the variable.
	access("/", () => {});
	delete process.env[variable];
	return toPlaces(threadCount);
}

function toPlaces(threads: number): number {
	return Math.max(1, Math.floor(threads / threadsPerPlace));
}
