// Lists everything below the roots with metadata. Reads only names and metadata, follows no links, and yields to other work.
import { lstatSync, readdirSync, type Stats } from "node:fs";
import { createPace } from "../../base/pace.ts";
import type { Stamp } from "./entry.ts";

export type SeenKind = "file" | "link" | "directory" | "opaque" | "special";

export interface Seen extends Stamp {
	readonly kind: SeenKind;
}

export interface WalkRequest {
	/** Absolute, with links resolved; no root contains another. */
	readonly roots: readonly string[];
	/** Whether to skip the contents of the directory. */
	isOpaque(directory: string): boolean;
	/** Whether to defer a directory to `later` instead of scanning it now. */
	isLater(directory: string): boolean;
	/** Whether a file or link is as it was, so that the walk only counts it. */
	isKnown(target: string, stats: Stats): boolean;
	/** Excluded with all their contents. */
	readonly excluded: ReadonlySet<string>;
	readonly fileLimit: number;
}

export interface Walk {
	/** Everything found, except what is known. */
	readonly seen: Map<string, Seen>;
	/** Known files and links that were found. */
	known: number;
	readonly later: string[];
	/** Unreadable directories, whose contents are unknown. */
	readonly unreadable: string[];
	/** Paths with names that are not UTF-8. */
	readonly unnamed: string[];
	/** Whether it ended at the file limit. */
	isTooMany: boolean;
}

export function newWalk(): Walk {
	return { seen: new Map(), known: 0, later: [], unreadable: [], unnamed: [], isTooMany: false };
}

const repositoryName = ".git";

/** Adds everything below the roots to the walk. */
export async function walk(request: WalkRequest, result: Walk): Promise<void> {
	const pace = createPace();
	const waiting = [...request.roots];
	for (let directory = waiting.pop(); directory !== undefined; directory = waiting.pop()) {
		result.isTooMany = result.seen.size + result.known > request.fileLimit;
		if (result.isTooMany) return;
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
			if (request.isKnown(target, stats)) {
				result.known += 1;
				continue;
			}
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

/** Metadata of one path; null if missing. */
export function look(target: string): Seen | null {
	const stats = lstat(target);
	return stats === null ? null : toSeen(stats);
}

function lstat(target: string): Stats | null {
	try {
		return lstatSync(target, { throwIfNoEntry: false }) ?? null;
	} catch {
		// Its directory is gone or not searchable.
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

/** Whether the stamp is that of these stats. */
export function hasStamp(stats: Stats, stamp: Stamp): boolean {
	return (
		stats.size === stamp.size &&
		stats.mtimeMs === stamp.modifiedAt &&
		stats.ctimeMs === stamp.changedAt &&
		stats.ino === stamp.inode &&
		(stats.mode & permissionBits) === stamp.mode
	);
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
