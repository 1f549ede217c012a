// Empty directories that stand where a confined command must create nothing: a mount needs something to be mounted on.
// They are removed with the last command that needs them; one that a killed process left is recognized and removed later.
import { lstatSync, lutimesSync, mkdirSync, readdirSync, readFileSync, readlinkSync, rmdirSync } from "node:fs";
import { systemErrorCode } from "../base/errors.ts";

/** Seconds since the epoch: no directory in use has been unchanged since then. */
const placeholderTime = 1;

/** How many running commands of this process need each placeholder. */
const users = new Map<string, number>();

/** Whether the directory is one that `claimPlaceholder` made, perhaps in another process. */
export function isPlaceholder(directory: string): boolean {
	try {
		const status = lstatSync(directory, { throwIfNoEntry: false });
		return (
			status?.isDirectory() === true && status.mtimeMs === placeholderTime * 1000 && readdirSync(directory).length === 0
		);
	} catch {
		return false;
	}
}

/** Marks the directory as a placeholder. Another process may have removed it by now: its mount fails then, and is repeated. */
function markPlaceholder(directory: string): void {
	try {
		lutimesSync(directory, placeholderTime, placeholderTime);
	} catch (thrown) {
		if (systemErrorCode(thrown) !== "ENOENT") throw thrown;
	}
}

/** Makes the directory unless it exists, for one command. False when this user cannot create anything there. */
export function claimPlaceholder(directory: string): boolean {
	try {
		mkdirSync(directory);
		markPlaceholder(directory);
	} catch (thrown) {
		const code = systemErrorCode(thrown);
		if (code === "EACCES" || code === "EROFS" || code === "EPERM") return false;
		if (code !== "EEXIST") throw thrown;
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
 * Releases the placeholders of one command and removes those that nothing needs any more. Removing a directory removes
 * what another process has mounted on it, so one that is mounted anywhere stays; the command there removes it.
 */
export function releasePlaceholders(directories: readonly string[]): void {
	const free: string[] = [];
	for (const directory of directories) {
		const left = (users.get(directory) ?? 1) - 1;
		if (left > 0) users.set(directory, left);
		else {
			users.delete(directory);
			free.push(directory);
		}
	}
	const unused = free.filter(isPlaceholder);
	if (unused.length === 0) return;
	const tables = mountTables();
	for (const directory of unused) {
		const mounted = ` ${toMountSpelling(directory)} `;
		if (tables.some((table) => table.includes(mounted))) continue;
		try {
			rmdirSync(directory);
		} catch {
			// Something was put into it, or it is gone.
		}
	}
}
