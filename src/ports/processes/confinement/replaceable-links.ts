// Commands control these link targets, so they must not decide what the next command may access.
import { lstatSync, readlinkSync, type Stats } from "node:fs";
import path from "node:path";

/** Whether the path is the directory or below it. */
export function isWithin(file: string, directory: string): boolean {
	return file === directory || file.startsWith(directory === "/" ? "/" : `${directory}/`);
}

export function statusOf(file: string): Stats | null {
	try {
		return lstatSync(file, { throwIfNoEntry: false }) ?? null;
	} catch {
		return null;
	}
}

function targetOf(link: string): string | null {
	try {
		return readlinkSync(link);
	} catch {
		return null;
	}
}

/** The same limit as the system. */
const linkLimit = 40;

/** The first link below a writable directory on the way to `file`, also in link targets; null if none. */
export function findReplaceableLink(file: string, writable: readonly string[]): string | null {
	const names = file.split("/");
	let at = "/";
	for (let links = 0; names.length > 0; ) {
		const name = names.shift() ?? "";
		if (name === "" || name === ".") continue;
		if (name === "..") {
			at = path.dirname(at);
			continue;
		}
		const next = path.join(at, name);
		const status = statusOf(next);
		if (status === null) return null;
		if (!status.isSymbolicLink()) {
			at = next;
			continue;
		}
		if (writable.some((root) => isWithin(at, root))) return next;
		links += 1;
		if (links > linkLimit) return null;
		const target = targetOf(next);
		if (target === null) return null;
		if (target.startsWith("/")) at = "/";
		names.unshift(...target.split("/"));
	}
	return null;
}
