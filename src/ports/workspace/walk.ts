// Lists everything below the roots with metadata. Reads only names and metadata, follows no links, and yields to other work.
import { lstatSync, readdirSync, type Stats, statfsSync } from "node:fs";
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
	readonly excluded: ReadonlySet<string>;
	readonly fileLimit: number;
	readonly listings: Listings;
	/** Milliseconds since the epoch. */
	readonly startedAt: number;
}

export interface Walk {
	/** Everything found, except what is known. */
	readonly seen: Map<string, Seen>;
	/** Known files and links that were found. */
	known: number;
	readonly later: string[];
	readonly unreadable: string[];
	/** Paths with names that are not UTF-8. */
	readonly unnamed: string[];
	isTooMany: boolean;
}

export function newWalk(): Walk {
	return { seen: new Map(), known: 0, later: [], unreadable: [], unnamed: [], isTooMany: false };
}

const repositoryName = ".git";

export async function walk(request: WalkRequest, result: Walk): Promise<void> {
	const pace = createPace();
	const waiting = request.roots.map((root) => [root, lstat(root)] as const);
	for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
		const [directory, own] = next;
		result.isTooMany = result.seen.size + result.known > request.fileLimit;
		if (result.isTooMany) return;
		const targets = request.listings.find(directory, own) ?? list(directory, own, request, result);
		for (const target of targets) {
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
				waiting.push([target, stats]);
			}
		}
		const rest = pace.rest();
		if (rest !== undefined) await rest;
	}
}

function list(directory: string, own: Stats | null, request: WalkRequest, result: Walk): readonly string[] {
	let names: string[];
	try {
		names = readdirSync(directory);
	} catch {
		result.unreadable.push(directory);
		return [];
	}
	const targets: string[] = [];
	let isWhole = true;
	for (const name of names) {
		if (name === repositoryName) continue;
		const target = directory === "/" ? `/${name}` : `${directory}/${name}`;
		if (request.excluded.has(target)) continue;
		if (name.includes("\ufffd")) {
			result.unnamed.push(target);
			isWhole = false;
		} else targets.push(target);
	}
	if (isWhole) request.listings.note(directory, own, targets, request.startedAt);
	return targets;
}

/** Milliseconds within which two changes may have equal timestamps. */
export const clockGrain = 50;

/** File systems that change the times of a directory with every entry: ext, XFS, Btrfs, tmpfs, OverlayFS, F2FS, ZFS. */
const exactFileSystems: ReadonlySet<number> = new Set([
	0xef53, 0x58465342, 0x9123683e, 0x01021994, 0x794c7630, 0xf2f52010, 0x2fc12fc1,
]);

interface Listing {
	readonly changedAt: number;
	readonly modifiedAt: number;
	readonly inode: number;
	readonly device: number;
	readonly targets: readonly string[];
}

/** Lists of directories that did not change since they were read, so that they are not read again. */
export class Listings {
	readonly #known = new Map<string, Listing>();
	/** By device. */
	readonly #areExact = new Map<number, boolean>();

	find(directory: string, own: Stats | null): readonly string[] | null {
		const known = this.#known.get(directory);
		if (known === undefined || own === null) return null;
		const { changedAt, modifiedAt, inode, device, targets } = known;
		const isSame = own.ctimeMs === changedAt && own.mtimeMs === modifiedAt && own.ino === inode && own.dev === device;
		return isSame ? targets : null;
	}

	/** `own` was read before the list. */
	note(directory: string, own: Stats | null, targets: readonly string[], startedAt: number): void {
		const isSettled = own !== null && Math.max(own.ctimeMs, own.mtimeMs) < startedAt - clockGrain;
		if (!isSettled || !this.#isExact(directory, own.dev)) this.#known.delete(directory);
		else {
			const { ctimeMs: changedAt, mtimeMs: modifiedAt, ino: inode, dev: device } = own;
			this.#known.set(directory, { changedAt, modifiedAt, inode, device, targets });
		}
	}

	#isExact(directory: string, device: number): boolean {
		const known = this.#areExact.get(device);
		if (known !== undefined) return known;
		let isExact = false;
		try {
			isExact = process.platform === "linux" && exactFileSystems.has(statfsSync(directory).type);
		} catch {
			// The directory is gone.
		}
		this.#areExact.set(device, isExact);
		return isExact;
	}
}

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
