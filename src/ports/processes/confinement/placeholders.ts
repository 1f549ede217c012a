// Empty files and directories that stand where a confined command must create nothing: a mount needs something to be
// mounted on. They are removed with the last command that needs them; one that a killed process left is recognized and
// removed later.
import {
	lstatSync,
	lutimesSync,
	mkdirSync,
	opendirSync,
	readdirSync,
	readFileSync,
	readlinkSync,
	rmdirSync,
	unlinkSync,
	writeFileSync,
} from "node:fs";
import { systemErrorCode } from "../../../base/errors.ts";

/** What programs can do with it: list a directory, read a file. */
export type PlaceholderKind = "directory" | "file";

/**
 * Seconds since the epoch, as the time of a placeholder's last change: nothing in use has been unchanged since then.
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

interface FoundPlaceholder {
	readonly kind: PlaceholderKind;
	/** Which processes have needed it. */
	readonly owners: keyof typeof placeholderTimes;
}

/** Null when there is nothing, or no placeholder. */
function findPlaceholder(place: string): FoundPlaceholder | null {
	try {
		const status = lstatSync(place, { throwIfNoEntry: false });
		if (status === undefined || status.mtimeMs > placeholderTimes.shared * 1000) return null;
		const kind = status.isDirectory() ? "directory" : status.isFile() ? "file" : null;
		if (kind === null || (kind === "file" ? status.size > 0 : !isEmpty(place))) return null;
		if (status.mtimeMs === placeholderTimes.own * 1000) return { kind, owners: "own" };
		return status.mtimeMs === placeholderTimes.shared * 1000 ? { kind, owners: "shared" } : null;
	} catch {
		return null;
	}
}

/** Whether the file or directory is one that `claimPlaceholder` made, perhaps in another process. */
export function isPlaceholder(place: string): boolean {
	return findPlaceholder(place) !== null;
}

/**
 * Marks the file or directory as a placeholder. Another process may have removed it by now: its mount fails then, and is
 * repeated. That of another user cannot be marked, nor removed.
 */
function markPlaceholder(place: string, time: number): void {
	try {
		lutimesSync(place, time, time);
	} catch (thrown) {
		if (!["ENOENT", "EPERM", "EACCES", "EROFS"].includes(systemErrorCode(thrown) ?? "")) throw thrown;
	}
}

/**
 * Makes the placeholder unless there is something, for one command. False when this user cannot create anything there.
 * One that is there already may be of the other kind.
 */
export function claimPlaceholder(place: string, kind: PlaceholderKind): boolean {
	try {
		if (kind === "file") writeFileSync(place, "", { flag: "wx" });
		else mkdirSync(place);
		markPlaceholder(place, placeholderTimes.own);
	} catch (thrown) {
		const code = systemErrorCode(thrown);
		if (code === "EACCES" || code === "EROFS" || code === "EPERM") return false;
		if (code !== "EEXIST") throw thrown;
		if (!users.has(place) && isPlaceholder(place)) markPlaceholder(place, placeholderTimes.shared);
	}
	users.set(place, (users.get(place) ?? 0) + 1);
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
 * Releases the placeholders of one command and removes those that nothing needs any more. Removing one removes what
 * a process has mounted on it, so one that is mounted anywhere stays; the command there removes it. Looking for that takes
 * milliseconds, and is not needed when the command is gone for sure and no other process has claimed the placeholder.
 */
export function releasePlaceholders(places: readonly string[], isGone: boolean): void {
	const free: string[] = [];
	for (const place of places) {
		const left = (users.get(place) ?? 1) - 1;
		if (left > 0) users.set(place, left);
		else {
			users.delete(place);
			free.push(place);
		}
	}
	const doubtful: string[] = [];
	for (const place of free) {
		const found = findPlaceholder(place);
		if (found?.owners === "own" && isGone) remove(place, found.kind);
		else if (found !== null) doubtful.push(place);
	}
	if (doubtful.length === 0) return;
	const tables = mountTables();
	for (const place of doubtful) {
		const mounted = ` ${toMountSpelling(place)} `;
		if (tables.some((table) => table.includes(mounted))) continue;
		// Somebody may have written into a file by now.
		const found = findPlaceholder(place);
		if (found !== null) remove(place, found.kind);
	}
}

function remove(place: string, kind: PlaceholderKind): void {
	try {
		if (kind === "file") unlinkSync(place);
		else rmdirSync(place);
	} catch {
		// Something was put into it, or it is gone.
	}
}
