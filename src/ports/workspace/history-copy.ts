// Copies of a file history: for a fork beside the session, and for a session that goes to another store.
import { randomUUID } from "node:crypto";
import { copyFile, link, mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { systemErrorCode } from "../../base/errors.ts";
import type { ContentId } from "./entry.ts";
import { HistoryLog, packLines, unpackLines } from "./history-log.ts";
import { type HistoryPlace, putContents, type SavedHistory } from "./history-place.ts";
import { HistoryRecords } from "./history-records.ts";
import { ObjectStore } from "./object-store.ts";

/** Copies a history, so that the copy can go back to what it holds. Stored contents are shared by hard links. */
export async function copyHistory(from: string, to: string): Promise<void> {
	const lines = await readFile(path.join(from, "history.jsonl")).catch((thrown: unknown) => {
		if (systemErrorCode(thrown) === "ENOENT") return null;
		throw thrown;
	});
	if (lines === null) return;
	// A session without events has no directory yet.
	await mkdir(to, { mode: 0o700, recursive: true });
	await writeFile(path.join(to, "history.jsonl"), lines, { mode: 0o600 });
	await linkObjects(from, to);
}

export async function linkObjects(from: string, to: string): Promise<void> {
	for (const folder of await readdir(path.join(from, "objects")).catch(() => [])) {
		await mkdir(path.join(to, "objects", folder), { mode: 0o700, recursive: true });
		for (const name of await readdir(path.join(from, "objects", folder)).catch(() => [])) {
			const file = path.join("objects", folder, name);
			await link(path.join(from, file), path.join(to, file)).catch(async (thrown: unknown) => {
				// Swept meanwhile, or a file system without hard links.
				if (systemErrorCode(thrown) !== "ENOENT") await copyFile(path.join(from, file), path.join(to, file));
			});
		}
	}
}

/** Copies what is saved, contents of the newest turns first, up to the limit. Returns whether the limit left nothing out. */
export async function copySaved(from: HistoryPlace, to: HistoryPlace, limit: number): Promise<boolean> {
	const saved = await from.read();
	if (saved === null) return true;
	const history = new HistoryRecords();
	for (const line of await unpackLines(saved.records)) history.take(line);
	const packed = (id: ContentId) => from.content(id);
	const { contents, isWhole } = await putContents(to, { records: history.all, known: new Map(), packed, limit });
	await to.replace({ version: randomUUID(), records: await packLines(history.lines()), contents });
	return isWhole;
}

/** The history in a directory as a place: what its turns changed, without the state of the directories. */
export class DirectoryPlace implements HistoryPlace {
	readonly #directory: string;
	readonly #log: HistoryLog;
	readonly #objects: ObjectStore;

	constructor(directory: string) {
		this.#directory = directory;
		this.#log = new HistoryLog(path.join(directory, "history.jsonl"));
		this.#objects = new ObjectStore(path.join(directory, "objects"), undefined);
	}

	async read(): Promise<SavedHistory | null> {
		const lines = await this.#log.read();
		if (lines === null) return null;
		return { version: "", records: await packLines(lines), contents: new Map() };
	}

	content(id: ContentId): Promise<Uint8Array | null> {
		return this.#objects.packed(id);
	}

	put(id: ContentId, packed: Uint8Array): Promise<void> {
		return this.#objects.putPacked(id, packed);
	}

	async replace({ records }: SavedHistory): Promise<void> {
		await mkdir(this.#directory, { mode: 0o700, recursive: true });
		await this.#log.replace(await unpackLines(records));
	}
}
