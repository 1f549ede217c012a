// Mount points for paths that a command must not create; leftovers of killed processes are removed later.
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

/** How programs see it: as a directory to list or a file to read. */
export type PlaceholderKind = "directory" | "file";

/** Modification times in seconds, older than any used file. `shared` marks one that others may need. */
const placeholderTimes = { own: 1, shared: 2 } as const;

/** Number of running commands of this process per placeholder. */
const users = new Map<string, number>();

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

/** Whether `claimPlaceholder` created it, possibly in another process. */
export function isPlaceholder(place: string): boolean {
	return findPlaceholder(place) !== null;
}

/** If another process has removed it, the mount fails and is repeated. */
function markPlaceholder(place: string, time: number): void {
	try {
		lutimesSync(place, time, time);
	} catch (thrown) {
		if (!["ENOENT", "EPERM", "EACCES", "EROFS"].includes(systemErrorCode(thrown) ?? "")) throw thrown;
	}
}

/** Returns false when this user cannot create it. An existing one may be of the other kind. */
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

export function toMountSpelling(file: string): string {
	return file.replace(/[ \t\n\\]/g, (character) => `\\${character.charCodeAt(0).toString(8).padStart(3, "0")}`);
}

function mountTables(): readonly string[] {
	const tables = new Map<string, string>();
	for (const name of readdirSync("/proc")) {
		if (!/^\d+$/.test(name)) continue;
		try {
			const namespace = readlinkSync(`/proc/${name}/ns/mnt`);
			if (!tables.has(namespace)) tables.set(namespace, readFileSync(`/proc/${name}/mountinfo`, "utf8"));
		} catch {
			// It is gone, or belongs to another user.
		}
	}
	return [...tables.values()];
}

/** Mounted placeholders stay, because removal also removes mounts of other processes. */
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
		// A file may contain data by now.
		const found = findPlaceholder(place);
		if (found !== null) remove(place, found.kind);
	}
}

function remove(place: string, kind: PlaceholderKind): void {
	try {
		if (kind === "file") unlinkSync(place);
		else rmdirSync(place);
	} catch {
		// It is no longer empty, or gone.
	}
}
