// A session's directories as of the last scan. A scan finds later changes, and ensures that old and new contents are stored.
import type { Stats } from "node:fs";
import { realpath } from "node:fs/promises";
import path from "node:path";
import { createPace } from "../../base/pace.ts";
import type { Change, ContentId, Entry, FileEntry, Stamp } from "./entry.ts";
import { addContent, isSameEntry } from "./entry.ts";
import { type ReadPath, readPath, unread } from "./file-bytes.ts";
import { blobId, type GitSource } from "./git-source.ts";
import type { LogLine } from "./history-log.ts";
import type { ObjectStore } from "./object-store.ts";
import { clockGrain, hasStamp, Listings, look, newWalk, type Seen, type Walk, walk } from "./walk.ts";

export interface IndexedPath {
	readonly entry: Entry;
	/** Null forces reading the content again, regardless of metadata. */
	readonly stamp: Stamp | null;
	/** The walk that last found it unchanged. */
	foundIn: number;
}

export interface TreeLimits {
	readonly files: number;
	readonly fileBytes: number;
	readonly storeBytes: number;
	/** Milliseconds that a command waits for a scan. */
	readonly patience: number;
}

export interface TreeSettings {
	readonly store: ObjectStore;
	readonly git: GitSource;
	roots(): readonly string[];
	readonly home: string;
	/** Excluded with all their contents, for example the share directory. */
	readonly excluded: readonly string[];
	readonly limits: TreeLimits;
	/** Milliseconds since the epoch. */
	now(): number;
}

export interface Scan {
	readonly changes: readonly Change[];
	/** Why the scan is incomplete: sentences. */
	readonly reasons: readonly string[];
	readonly lines: readonly LogLine[];
	readonly isTooMany: boolean;
}

export class TreeIndex {
	readonly #settings: TreeSettings;
	readonly #paths = new Map<string, IndexedPath>();
	/** Null before the first scan; then the user's blob ids, empty without a repository. */
	#blobs: ReadonlySet<string> | null = null;
	#ignored: ReadonlySet<string> = new Set();
	#isKnown = false;
	#bytes = 0;
	#notedBytes = 0;
	#walks = 0;
	readonly #listings = new Listings();

	constructor(settings: TreeSettings) {
		this.#settings = settings;
	}

	/** Whether a full scan has completed. */
	get isKnown(): boolean {
		return this.#isKnown;
	}

	get bytes(): number {
		return this.#bytes;
	}

	set bytes(bytes: number) {
		this.#bytes = bytes;
	}

	/** Directories that are not scanned. */
	get opaque(): readonly string[] {
		return [...this.#paths].filter(([, { entry }]) => entry.kind === "opaque").map(([target]) => target);
	}

	/** Restores state from an earlier process. */
	restore(line: LogLine): void {
		if (line.kind === "known") {
			this.#isKnown = true;
			this.#bytes = line.bytes;
		} else if (line.kind === "stored") {
			this.#bytes = line.bytes;
			this.#notedBytes = line.bytes;
		} else if (line.kind === "path") {
			if (line.entry === null) this.#paths.delete(line.path);
			else this.#paths.set(line.path, { entry: line.entry, stamp: line.stamp, foundIn: 0 });
		}
	}

	/** State for a later process. */
	*lines(): Generator<LogLine> {
		for (const [target, { entry, stamp }] of this.#paths) yield { kind: "path", path: target, entry, stamp };
		if (this.#isKnown) yield { kind: "known", bytes: this.#bytes };
		else yield { kind: "stored", bytes: this.#bytes };
	}

	/** The size of the store, if edits alone have changed it. */
	newSize(): readonly LogLine[] {
		if (this.#isKnown || this.#bytes === this.#notedBytes) return [];
		this.#notedBytes = this.#bytes;
		return [{ kind: "stored", bytes: this.#bytes }];
	}

	addNeeded(needed: Set<ContentId>): void {
		for (const { entry } of this.#paths.values()) addContent(entry, needed);
	}

	/** Why the roots are not scanned, as a sentence, or null. */
	async refusal(): Promise<string | null> {
		const home = await realpath(this.#settings.home).catch(() => this.#settings.home);
		for (const root of await this.#resolvedRoots()) {
			if (root === "/") return "Changes by commands are not recorded: the work directory is `/`.";
			if (home === root || home.startsWith(root + path.sep)) {
				return "Changes by commands are not recorded: the work directory is the home directory or a parent of it.";
			}
		}
		return null;
	}

	/** Reads a path and stores its content, with `isOwn` even if the user's repository has it. The index stays unchanged. */
	async capture(target: string, isOwn = false): Promise<Entry | null> {
		if (await isBeyondLink(target)) return null;
		const read = await readPath(target, this.#settings.limits.fileBytes);
		return read === null ? null : await this.#stored(read, isOwn);
	}

	note(target: string, entry: Entry | null): readonly LogLine[] {
		if (!this.#isKnown && !this.#paths.has(target)) return [];
		if (entry === null) this.#paths.delete(target);
		// The next scan reads it again, because it may change within the same timestamp.
		else this.#paths.set(target, { entry, stamp: null, foundIn: 0 });
		return [{ kind: "path", path: target, entry, stamp: null }];
	}

	/** Known states below the directory, by relative path. */
	entriesBelow(directory: string): Map<string, Entry> {
		const start = directory + path.sep;
		const found = new Map<string, Entry>();
		for (const [target, { entry }] of this.#paths) {
			if (target.startsWith(start)) found.set(target.slice(start.length), entry);
		}
		return found;
	}

	find(target: string): Entry | undefined {
		return this.#paths.get(target)?.entry;
	}

	async covers(target: string): Promise<boolean> {
		const roots = await this.#resolvedRoots();
		if (!roots.some((root) => target.startsWith(root + path.sep))) return false;
		for (let parent = path.dirname(target); parent.length > 1; parent = path.dirname(parent)) {
			if (this.#ignored.has(parent) || this.#settings.excluded.includes(parent)) return false;
		}
		return true;
	}

	/** The content of an entry; null if not stored. */
	async content({ content, blob }: FileEntry): Promise<Buffer | null> {
		if (content === null) return null;
		const stored = await this.#settings.store.get(content);
		if (stored !== null || blob === undefined) return stored;
		return (await this.#settings.git.contents([blob])).get(blob) ?? null;
	}

	/** Scans everything. Finds changes since the last scan, with contents before and after stored. */
	async scan(): Promise<Scan> {
		const isFirst = !this.#isKnown;
		const reasons: string[] = [];
		if (this.#blobs === null) {
			this.#blobs = (await this.#settings.git.blobs()) ?? new Set();
			this.#ignored = await this.#settings.git.ignored();
		}
		const startedAt = this.#settings.now();
		const found = await this.#walk(startedAt);
		if (found.isTooMany) {
			return {
				changes: [],
				lines: [],
				isTooMany: true,
				reasons: [
					`Changes by commands are not recorded: there are more than ${this.#settings.limits.files} files (agentwire.rewind.max_files).`,
				],
			};
		}
		const lines: LogLine[] = [];
		const { changes, toRead } = await this.#compare(found, lines);
		await eachOf(toRead, async ([target, seen]) => {
			const known = this.#paths.get(target)?.entry ?? null;
			const entry = await this.capture(target);
			if (entry === null) return;
			const stamp = isSettled(seen, startedAt) ? toStamp(seen) : null;
			this.#paths.set(target, { entry, stamp, foundIn: 0 });
			const isSame = isSameEntry(known, entry);
			if (stamp !== null || !isSame) lines.push({ kind: "path", path: target, entry, stamp });
			if (!isSame) changes.push({ path: target, before: known, after: entry });
		});
		const opened = changes.flatMap(({ path: target, before, after }) =>
			before?.kind === "opaque" && after?.kind === "directory" ? [target + path.sep] : [],
		);
		const isChange = ({ path: target, before, after }: Change) =>
			!isOtherLook(before, after) && !(before === null && opened.some((directory) => target.startsWith(directory)));
		const all = isFirst ? [] : await this.#withStoredContents(changes.filter(isChange), reasons);
		for (const directory of found.unreadable) reasons.push(`${directory} cannot be read.`);
		for (const target of found.unnamed) reasons.push(`The name of ${JSON.stringify(target)} is not UTF-8.`);
		this.#isKnown = true;
		if (lines.length > 0 || isFirst) lines.push({ kind: "known", bytes: this.#bytes });
		return { changes: all, reasons, lines, isTooMany: false };
	}

	/** Records states known from metadata, and collects the files and links to read. */
	async #compare(found: Walk, lines: LogLine[]): Promise<{ changes: Change[]; toRead: [string, Seen][] }> {
		const pace = createPace();
		const changes: Change[] = [];
		const toRead: [string, Seen][] = [];
		const note = (target: string, before: Entry | undefined, after: Entry | null, stamp: Stamp | null) => {
			changes.push({ path: target, before: before ?? null, after });
			lines.push({ kind: "path", path: target, entry: after, stamp });
			if (after === null) this.#paths.delete(target);
			else this.#paths.set(target, { entry: after, stamp, foundIn: 0 });
		};
		for (const [target, seen] of found.seen) {
			if (seen.kind === "file" || seen.kind === "link") toRead.push([target, seen]);
			else {
				const known = this.#paths.get(target);
				const entry = toEntry(seen);
				if (known === undefined || !isSameEntry(known.entry, entry)) note(target, known?.entry, entry, null);
			}
			const rest = pace.rest();
			if (rest !== undefined) await rest;
		}
		for (const [target, { entry, foundIn }] of this.#paths) {
			if (foundIn === this.#walks || found.seen.has(target) || (look(target) !== null && !(await isBeyondLink(target))))
				continue;
			if (!found.unreadable.some((directory) => target.startsWith(directory + path.sep)))
				note(target, entry, null, null);
		}
		return { changes, toRead };
	}

	async #walk(startedAt: number): Promise<Walk> {
		const { limits, excluded } = this.#settings;
		const result = newWalk();
		const isFirst = !this.#isKnown;
		this.#walks += 1;
		const request = {
			isKnown: (target: string, stats: Stats) => {
				const known = this.#paths.get(target);
				if (known?.stamp == null || !isOfKind(known.entry, stats) || !hasStamp(stats, known.stamp)) return false;
				known.foundIn = this.#walks;
				return true;
			},
			isOpaque: (directory: string) => this.#ignored.has(directory),
			// Check whether git ignores a new directory before scanning it.
			isLater: (directory: string) => !isFirst && (this.#blobs?.size ?? 0) > 0 && !this.#paths.has(directory),
			excluded: new Set(excluded),
			fileLimit: limits.files,
			listings: this.#listings,
			startedAt,
		};
		await walk({ ...request, roots: await this.#resolvedRoots() }, result);
		if (result.later.length === 0 || result.isTooMany) return result;
		this.#ignored = await this.#settings.git.ignored();
		const roots: string[] = [];
		for (const directory of result.later) {
			const seen = look(directory);
			if (seen === null) continue;
			const isOpaque = this.#ignored.has(directory);
			result.seen.set(directory, isOpaque ? { ...seen, kind: "opaque" } : seen);
			if (!isOpaque && seen.kind === "directory") roots.push(directory);
		}
		await walk({ ...request, isLater: () => false, roots }, result);
		return result;
	}

	/** Stores the bytes, unless the user's repository has them. */
	async #stored(read: ReadPath, isOwn: boolean): Promise<Entry> {
		const { entry, bytes, seen } = read;
		if (entry.kind !== "file" || bytes === null || entry.content === null) return entry;
		const blobs = this.#blobs;
		if (blobs !== null && blobs.size > 0) {
			const [sample = ""] = blobs;
			const blob = blobId(bytes, sample.length);
			if (!isOwn && blobs.has(blob)) return { ...entry, blob };
		}
		if (this.#bytes > this.#settings.limits.storeBytes) {
			return unread(seen, "the store of this session is full (agentwire.rewind.max_store_bytes)").entry;
		}
		try {
			this.#bytes += await this.#settings.store.put(entry.content, bytes);
			return entry;
		} catch (thrown) {
			return unread(seen, `its content could not be stored: ${thrown instanceof Error ? thrown.message : "unknown"}`)
				.entry;
		}
	}

	/** Copies contents that only the user's repository has, which may delete them before they are needed. */
	async #withStoredContents(changes: readonly Change[], reasons: string[]): Promise<readonly Change[]> {
		const { store, git } = this.#settings;
		const borrowed = new Map<string, FileEntry>();
		for (const { before } of changes) {
			if (before?.kind !== "file" || before.blob === undefined || before.content === null) continue;
			if (!(await store.has(before.content))) borrowed.set(before.blob, before);
		}
		if (borrowed.size === 0) return changes;
		const contents = await git.contents([...borrowed.keys()]);
		const missing = new Set<string>();
		for (const [blob, { content }] of borrowed) {
			const bytes = contents.get(blob);
			if (bytes === undefined || content === null) missing.add(blob);
			else this.#bytes += await store.put(content, bytes);
		}
		if (missing.size === 0) return changes;
		const why = "the repository does not have its earlier content any more";
		return changes.map((change) => {
			const { before } = change;
			if (before?.kind !== "file" || before.blob === undefined || !missing.has(before.blob)) return change;
			reasons.push(`${change.path}: ${why}.`);
			const { mode, size } = before;
			return { ...change, before: { kind: "file", mode, size, content: null, unread: why, mark: before.blob } };
		});
	}

	async #resolvedRoots(): Promise<readonly string[]> {
		const resolved = await Promise.all(this.#settings.roots().map((root) => realpath(root).catch(() => root)));
		const all = [...new Set(resolved)];
		return all.filter((root) => !all.some((other) => other !== root && root.startsWith(other + path.sep)));
	}
}

const concurrency = 8;

async function eachOf<Item>(items: readonly Item[], work: (item: Item) => Promise<void>): Promise<void> {
	const iterator = items.values();
	const run = async () => {
		for (const item of iterator) await work(item);
	};
	await Promise.all(Array.from({ length: concurrency }, run));
}

function isOfKind({ kind }: Entry, stats: Stats): boolean {
	return kind === "file" ? stats.isFile() : kind === "link" && stats.isSymbolicLink();
}

function toEntry({ kind, mode }: Seen): Entry {
	if (kind === "directory") return { kind: "directory", mode };
	return kind === "opaque" ? { kind: "opaque" } : { kind: "special" };
}

/** Whether git merely started or stopped ignoring the directory. */
function isOtherLook(before: Entry | null, after: Entry | null): boolean {
	const kinds = new Set([before?.kind, after?.kind]);
	return kinds.has("opaque") && kinds.has("directory");
}

function toStamp({ size, mode, modifiedAt, changedAt, inode }: Seen): Stamp {
	return { size, mode, modifiedAt, changedAt, inode };
}

/** Whether a later change would alter the timestamps, which have limited resolution. */
function isSettled({ kind, modifiedAt, changedAt }: Seen, startedAt: number): boolean {
	return kind !== "file" || Math.max(modifiedAt, changedAt) < startedAt - clockGrain;
}

/** Whether a link in its path leads elsewhere, to a different file. */
async function isBeyondLink(target: string): Promise<boolean> {
	const directory = path.dirname(target);
	return (await realpath(directory).catch(() => null)) !== directory;
}
