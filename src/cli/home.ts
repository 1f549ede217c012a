// Finds the home directory even if the user id has no passwd entry or HOME is empty, as in containers.
import { homedir, userInfo } from "node:os";
import path from "node:path";

export function findHome(): string | null {
	return [homedir, () => userInfo().homedir].map(absoluteFrom).find((home) => home !== null) ?? null;
}

export function cacheDirectory(): string {
	return process.env["XDG_CACHE_HOME"] || path.join(findHome() ?? "/nonexistent", ".cache");
}

function absoluteFrom(source: () => string): string | null {
	try {
		const home = source();
		return path.isAbsolute(home) ? home : null;
	} catch {
		return null;
	}
}
