// A process and what it started: a command may be a wrapper around the program that is measured.
import { readdirSync, readFileSync } from "node:fs";

/** What Linux says about a process in a file; null on other systems, and of a process that is gone. */
export function readProcess(pid: number, file: string): string | null {
	if (process.platform !== "linux") return null;
	try {
		return readFileSync(`/proc/${pid}/${file}`, "utf8");
	} catch {
		return null;
	}
}

function childrenOf(pid: number): number[] {
	let threads: string[];
	try {
		threads = readdirSync(`/proc/${pid}/task`);
	} catch {
		return [];
	}
	const words = threads.flatMap((thread) => (readProcess(pid, `task/${thread}/children`) ?? "").split(" "));
	return words.map(Number).filter((child) => child > 0);
}

/** A process and its descendants; only itself where the system does not report them. */
export function processTree(pid: number): number[] {
	return [pid, ...(process.platform === "linux" ? childrenOf(pid).flatMap(processTree) : [])];
}

/** Ends a process and its descendants at once. */
export function killTree({ pid }: { readonly pid?: number | undefined }): void {
	for (const each of pid === undefined ? [] : processTree(pid)) {
		try {
			process.kill(each, "SIGKILL");
		} catch {
			// It has ended meanwhile.
		}
	}
}
