// Lists what is below the roots, with the system's description of each path. It looks at names and descriptions alone,
// follows no link, and yields to other work.
import { lstatSync, readdirSync, type Stats } from "node:fs";
import { createPace } from "../../base/pace.ts";
import type { Stamp } from "./entry.ts";

export type SeenKind = "file" | "link" | "directory" | "opaque" | "special";

export interface Seen extends Stamp {
	readonly kind: SeenKind;
}

export interface WalkRequest {
	/** Absolute, links resolved; none is below another one. */
	readonly roots: readonly string[];
	/** Whether the directory is not looked into. */
	isOpaque(directory: string): boolean;
	/** Whether to come back to a directory in `later`, instead of looking into it now. */
	isLater(directory: string): boolean;
	/** Left out with everything below. */
	readonly excluded: ReadonlySet<string>;
	readonly fileLimit: number;
	/** By the clock that nobody sets, in milliseconds. */
	readonly deadline: number;
}

export interface Walk {
	readonly seen: Map<string, Seen>;
	readonly later: string[];
	/** Directories that could not be read: nothing is known of what is in them. */
	readonly unreadable: string[];
	/** Paths whose names are not UTF-8. */
	readonly unnamed: string[];
	/** Why it did not come to its end; null when it did. */
	ended: "too-many" | "too-late" | null;
}

export function newWalk(): Walk {
	return { seen: new Map(), later: [], unreadable: [], unnamed: [], ended: null };
}

const repositoryName = ".git";

/** Adds what is below the roots to the walk. */
export async function walk(request: WalkRequest, result: Walk): Promise<void> {
	const pace = createPace();
	const waiting = [...request.roots];
	for (let directory = waiting.pop(); directory !== undefined; directory = waiting.pop()) {
		if (performance.now() > request.deadline) result.ended = "too-late";
		if (result.seen.size > request.fileLimit) result.ended = "too-many";
		if (result.ended !== null) return;
		let names: string[];
		try {
			names = readdirSync(directory);
		} catch {
			result.unreadable.push(directory);
			continue;
		}
		for (const name of names) {
			if (name === repositoryName) continue;
			const target = directory === "/" ? `/${name}` : `${directory}/${name}`;
			if (request.excluded.has(target)) continue;
			if (name.includes("\ufffd")) {
				result.unnamed.push(target);
				continue;
			}
			const stats = lstat(target);
			if (stats === null) continue;
			const seen = toSeen(stats);
			if (seen.kind !== "directory") result.seen.set(target, seen);
			else if (request.isOpaque(target)) result.seen.set(target, { ...seen, kind: "opaque" });
			else if (request.isLater(target)) result.later.push(target);
			else {
				result.seen.set(target, seen);
				waiting.push(target);
			}
		}
		const rest = pace.rest();
		if (rest !== undefined) await rest;
	}
}

/** The description of one path; null where there is nothing. */
export function look(target: string): Seen | null {
	const stats = lstat(target);
	return stats === null ? null : toSeen(stats);
}

function lstat(target: string): Stats | null {
	try {
		return lstatSync(target, { throwIfNoEntry: false }) ?? null;
	} catch {
		// Its directory is gone, or may not be searched.
		return null;
	}
}

const permissionBits = 0o7777;

function toSeen(stats: Stats): Seen {
	const kind = stats.isFile()
		? "file"
		: stats.isDirectory()
			? "directory"
			: stats.isSymbolicLink()
				? "link"
				: "special";
	return {
		kind,
		size: stats.size,
		mode: stats.mode & permissionBits,
		modifiedAt: stats.mtimeMs,
		changedAt: stats.ctimeMs,
		inode: stats.ino,
	};
}

export function isSameStamp(one: Stamp, other: Stamp): boolean {
	return (
		one.size === other.size &&
		one.modifiedAt === other.modifiedAt &&
		one.changedAt === other.changedAt &&
		one.inode === other.inode &&
		one.mode === other.mode
	);
}
