// The home directory, also where the user id has no passwd entry or HOME is empty, as in containers.
import { homedir, userInfo } from "node:os";
import path from "node:path";

/** Null when there is none. */
export function findHome(): string | null {
	return [homedir, () => userInfo().homedir].map(absoluteFrom).find((home) => home !== null) ?? null;
}

/** The directory of caches; without a home, one in which nothing can be kept. */
export function cacheDirectory(): string {
	return process.env["XDG_CACHE_HOME"] || path.join(findHome() ?? "/nonexistent", ".cache");
}

/** Node throws where the system knows no such user. */
function absoluteFrom(source: () => string): string | null {
	try {
		const home = source();
		return path.isAbsolute(home) ? home : null;
	} catch {
		return null;
	}
}
