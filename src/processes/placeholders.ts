// Empty directories that stand where a confined command must create nothing: a mount needs something to be mounted on.
// They are removed with the last command that needs them; one that a killed process left is recognized and removed later.
import {
	lstatSync,
	lutimesSync,
	mkdirSync,
	opendirSync,
	readdirSync,
	readFileSync,
	readlinkSync,
	rmdirSync,
} from "node:fs";
import { systemErrorCode } from "../base/errors.ts";

/**
 * Seconds since the epoch, as the time of a placeholder's last change: no directory in use has been unchanged since then.
 * `shared` is one that was there already when another process needed it, or that a killed one left.
 */
const placeholderTimes = { own: 1, shared: 2 } as const;

/** How many running commands of this process need each placeholder. */
const users = new Map<string, number>();

/** Looks at one entry only: a command may have set the time of a directory with millions. */
function isEmpty(directory: string): boolean {
	const entries = opendirSync(directory);
	try {
		return entries.readSync() === null;
	} finally {
		entries.closeSync();
	}
}

/** Which processes have needed the placeholder; null when the directory is none. */
function ownersOf(directory: string): keyof typeof placeholderTimes | null {
	try {
		const status = lstatSync(directory, { throwIfNoEntry: false });
		if (status?.isDirectory() !== true || status.mtimeMs > placeholderTimes.shared * 1000) return null;
		if (!isEmpty(directory)) return null;
		if (status.mtimeMs === placeholderTimes.own * 1000) return "own";
		return status.mtimeMs === placeholderTimes.shared * 1000 ? "shared" : null;
	} catch {
		return null;
	}
}

/** Whether the directory is one that `claimPlaceholder` made, perhaps in another process. */
export function isPlaceholder(directory: string): boolean {
	return ownersOf(directory) !== null;
}

/**
 * Marks the directory as a placeholder. Another process may have removed it by now: its mount fails then, and is repeated.
 * That of another user cannot be marked, nor removed.
 */
function markPlaceholder(directory: string, time: number): void {
	try {
		lutimesSync(directory, time, time);
	} catch (thrown) {
		if (!["ENOENT", "EPERM", "EACCES", "EROFS"].includes(systemErrorCode(thrown) ?? "")) throw thrown;
	}
}

/** Makes the directory unless it exists, for one command. False when this user cannot create anything there. */
export function claimPlaceholder(directory: string): boolean {
	try {
		mkdirSync(directory);
		markPlaceholder(directory, placeholderTimes.own);
	} catch (thrown) {
		const code = systemErrorCode(thrown);
		if (code === "EACCES" || code === "EROFS" || code === "EPERM") return false;
		if (code !== "EEXIST") throw thrown;
		if (!users.has(directory) && isPlaceholder(directory)) markPlaceholder(directory, placeholderTimes.shared);
	}
	users.set(directory, (users.get(directory) ?? 0) + 1);
	return true;
}

/** A path as the kernel spells it in a table of mounts, where spaces separate. */
export function toMountSpelling(file: string): string {
	return file.replace(/[ \t\n\\]/g, (character) => `\\${character.charCodeAt(0).toString(8).padStart(3, "0")}`);
}

/** The tables of mounts of all processes; those with the same mounts share one. */
function mountTables(): readonly string[] {
	const tables = new Map<string, string>();
	for (const name of readdirSync("/proc")) {
		if (!/^\d+$/.test(name)) continue;
		try {
			const namespace = readlinkSync(`/proc/${name}/ns/mnt`);
			if (!tables.has(namespace)) tables.set(namespace, readFileSync(`/proc/${name}/mountinfo`, "utf8"));
		} catch {
			// It is gone, or another user's.
		}
	}
	return [...tables.values()];
}

/**
 * Releases the placeholders of one command and removes those that nothing needs any more. Removing a directory removes what
 * a process has mounted on it, so one that is mounted anywhere stays; the command there removes it. Looking for that takes
 * milliseconds, and is not needed when the command is gone for sure and no other process has claimed the placeholder.
 */
export function releasePlaceholders(directories: readonly string[], isGone: boolean): void {
	const free: string[] = [];
	for (const directory of directories) {
		const left = (users.get(directory) ?? 1) - 1;
		if (left > 0) users.set(directory, left);
		else {
			users.delete(directory);
			free.push(directory);
		}
	}
	const remove = (directory: string): void => {
		try {
			rmdirSync(directory);
		} catch {
			// Something was put into it, or it is gone.
		}
	};
	const doubtful: string[] = [];
	for (const directory of free) {
		const owners = ownersOf(directory);
		if (owners === "own" && isGone) remove(directory);
		else if (owners !== null) doubtful.push(directory);
	}
	if (doubtful.length === 0) return;
	const tables = mountTables();
	for (const directory of doubtful) {
		const mounted = ` ${toMountSpelling(directory)} `;
		if (!tables.some((table) => table.includes(mounted))) remove(directory);
	}
}
