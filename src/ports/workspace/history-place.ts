// Where a file history is saved for other machines that continue the session. The directory stays the working copy.
import { randomUUID } from "node:crypto";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import type { Log } from "../../base/log.ts";
import type { ContentId } from "./entry.ts";
import { type HistoryLog, type LogLine, packLines, unpackLines } from "./history-log.ts";
import { addContents, type HistoryRecord } from "./history-records.ts";

export interface SavedHistory {
	/** Changes with each save. */
	readonly version: string;
	readonly records: Uint8Array;
	/** Bytes of each saved content. */
	readonly contents: ReadonlyMap<ContentId, number>;
}

export interface HistoryPlace {
	read(): Promise<SavedHistory | null>;
	/** A saved content, compressed; null if it is not saved. */
	content(id: ContentId): Promise<Uint8Array | null>;
	put(id: ContentId, packed: Uint8Array): Promise<void>;
	/** Saves the records, and removes all contents but these. */
	replace(saved: SavedHistory): Promise<void>;
}

interface MirrorSettings {
	readonly place: HistoryPlace;
	readonly directory: string;
	/** Bytes of saved contents. */
	readonly limit: number;
	readonly log: Log;
}

export class HistoryMirror {
	readonly #settings: MirrorSettings;
	#contents: ReadonlyMap<ContentId, number> = new Map();
	#isFull = false;

	constructor(settings: MirrorSettings) {
		this.#settings = settings;
	}

	content(id: ContentId): Promise<Uint8Array | null> {
		return this.#settings.place.content(id);
	}

	/** For another history, with the same limit. */
	at(place: HistoryPlace, directory: string): HistoryMirror {
		return new HistoryMirror({ ...this.#settings, place, directory });
	}

	/** Prepares the directory. If another machine saved last, its records replace those in the log. */
	async fetch(log: HistoryLog): Promise<void> {
		const { place, directory } = this.#settings;
		await mkdir(directory, { mode: 0o700, recursive: true });
		const saved = await place.read();
		if (saved === null) return;
		this.#contents = saved.contents;
		const own = await readFile(this.#versionFile, "utf8").catch(() => null);
		if (own === saved.version) return;
		await log.replace(await unpackLines(saved.records));
		await this.#noteVersion(saved.version);
	}

	/** Saves these records, contents of the newest first, up to the limit; omissions are logged once. */
	async save(
		lines: Iterable<LogLine>,
		records: readonly HistoryRecord[],
		packed: (id: ContentId) => Promise<Uint8Array | null>,
	): Promise<void> {
		const { place, limit, log } = this.#settings;
		const { contents, isWhole } = await putContents(place, { records, known: this.#contents, packed, limit });
		if (!isWhole && !this.#isFull) {
			log.warn("Another machine that continues the session cannot restore everything: the limit is reached.", {
				limit,
				setting: "agentwire.rewind.max_database_bytes",
			});
		}
		this.#isFull ||= !isWhole;
		const version = randomUUID();
		await place.replace({ version, records: await packLines(lines), contents });
		this.#contents = contents;
		await this.#noteVersion(version);
	}

	get #versionFile(): string {
		return path.join(this.#settings.directory, "saved");
	}

	async #noteVersion(version: string): Promise<void> {
		await writeFile(this.#versionFile, version, { mode: 0o600 });
	}
}

export interface PutContents {
	readonly records: readonly HistoryRecord[];
	/** Bytes of the contents that the place has. */
	readonly known: ReadonlyMap<ContentId, number>;
	packed(id: ContentId): Promise<Uint8Array | null>;
	readonly limit: number;
}

/** Puts contents of the newest records first, up to the limit. */
export async function putContents(place: HistoryPlace, { records, known, packed, limit }: PutContents) {
	const contents = new Map<ContentId, number>();
	let bytes = 0;
	let isWhole = true;
	const needed = new Set<ContentId>();
	for (const record of records.toReversed()) addContents(record, needed);
	for (const id of needed) {
		const content = known.has(id) ? null : await packed(id);
		const size = known.get(id) ?? content?.length;
		// Absent if only the user's repository has it.
		if (size === undefined) continue;
		if (bytes + size > limit) {
			isWhole = false;
			continue;
		}
		if (content !== null) await place.put(id, content);
		bytes += size;
		contents.set(id, size);
	}
	return { contents, isWhole };
}
