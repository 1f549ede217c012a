// An append-only file of JSON lines: appends whole lines in order, repairs its end, syncs on demand. Its users define the
// lines.
import { KernelError } from "../../../base/errors.ts";
import type { Log } from "../../../base/log.ts";
import { joinLines, type LineText, wholeText } from "../../../base/long-text.ts";
import type { AppendFile, FileStatus, Files } from "../../../files/port.ts";
import { parseLine, readTail } from "./json-lines.ts";
import { toStorageError } from "./storage-error.ts";

export interface LineFile {
	/** Its size in bytes as of the last call that changed it. */
	readonly length: number;
	/** Whether somebody else has changed it since the session was opened. */
	isShared(): Promise<boolean>;
	/** How it was when it was last seen to end with a whole line; null when that is not known. */
	readonly whole: FileStatus | null;
	/** Appends the lines with one write; nothing is written for none. Fails `storage-failed`. */
	append(lines: readonly LineText[]): Promise<void>;
	/** Adds a line before everything else, by replacing the file once. Fails `storage-failed`. */
	prepend(line: LineText): Promise<void>;
	/**
	 * Replaces all lines, with one replacement of the file, after copying it to the path that `aside` returns. Both are
	 * then on stable storage, unless `sync` is false. Fails `storage-failed`, and then the file is unchanged.
	 */
	rotate(lines: readonly LineText[], aside: () => Promise<string>, sync?: boolean): Promise<void>;
	/** Replaces the whole file; with `sync` it is then on stable storage. Fails `storage-failed`, and nothing has changed. */
	rewrite(pieces: AsyncIterable<Uint8Array>, sync?: boolean): Promise<void>;
	/** Repairs the end of the file as an append does before its lines. Fails `storage-failed`. */
	repairEnd(): Promise<void>;
	/** Takes the last append back, as if it had failed. Fails `storage-failed`: the next append does it then. */
	undo(): Promise<void>;
	/** Puts what was appended on stable storage. Fails `storage-failed`. */
	sync(): Promise<void>;
	close(): Promise<void>;
}

export interface LineFileOptions {
	readonly files: Files;
	readonly log: Log;
	readonly path: string;
	/** Its size when the session was opened: a file that is shorter later was modified by somebody else. */
	readonly knownSize: number;
	/** How it was when it was seen to end with a whole line: as long as it is so, its end is not read again. */
	readonly wholeAt?: FileStatus | null;
	/** The first line of a file that is new or empty. */
	readonly header?: string;
	/** Whether the file can be made again: then it is not looked at before each append. Default false. */
	readonly isReplaceable?: boolean;
	/** Runs before each append and each replacement; what it throws is the failure of that. */
	prepare(): Promise<void>;
	/** Called when the file was created or replaced: its name is then not on stable storage. */
	nameMade(): void;
}

/** What was appended, and where. */
interface Appended {
	readonly start: number;
	readonly before: string;
	readonly text: LineText;
}

/** Nothing is opened, created or repaired before the first append. */
export function createLineFile({ files, log, path, header, prepare, nameMade, ...options }: LineFileOptions): LineFile {
	let knownSize = options.knownSize;
	let handle: AppendFile | null = null;
	let unsynced = false;
	let isShared = false;
	/** How it was when it was last looked at; null without a file. */
	let seen: FileStatus | null = null;
	/** How it was when its last line was seen to be whole. */
	let whole = options.wholeAt ?? null;
	/** What a failed append may have left in the file, and where. */
	let failed: Appended | null = null;
	let lastAppended: Appended | null = null;
	let last: Promise<unknown> = Promise.resolve();

	const inOrder = <T>(work: () => Promise<T>): Promise<T> => {
		const next = last.then(work, work);
		last = next.catch(() => undefined);
		return next;
	};

	const closeHandle = async (): Promise<void> => {
		const open = handle;
		handle = null;
		await open?.close();
	};

	const checkedSize = async (): Promise<number> => {
		const status = await files.status(path);
		seen = status;
		const size = status?.size ?? 0;
		if (size < knownSize) {
			throw new KernelError("storage-failed", `Cannot write ${path}: it was removed while the session was open.`);
		}
		if (size > knownSize && failed === null) isShared = true;
		return size;
	};

	/** Truncates what a failed append left, whole lines too: the caller was informed that they are not stored. */
	const cutFailed = async (size: number): Promise<number> => {
		if (failed === null) return size;
		const { start } = failed;
		const bytes = Buffer.from(failed.before + wholeText(failed.text));
		const found = (await files.readRange(path, start, bytes.length + 1)) ?? Buffer.alloc(0);
		const isOurs = found.length > 0 && bytes.subarray(0, found.length).equals(found);
		if (isOurs) await files.truncate(path, start);
		failed = null;
		return isOurs ? start : size;
	};

	/** The sooner the better: a later run of the program would take it for stored. */
	const cutAtOnce = async (): Promise<void> => {
		await closeHandle().catch(() => undefined);
		if (failed === null) return;
		const size = (await files.status(path))?.size ?? 0;
		knownSize = Math.min(knownSize, await cutFailed(size));
	};

	/** Truncates a partial last line; returns the size then and the separator that must precede the next line. */
	const repairEnd = async (size: number): Promise<{ size: number; separator: string }> => {
		const isKnown = seen !== null && whole !== null && size === seen.size && isSame(seen, whole);
		const tail = isKnown ? Buffer.alloc(0) : await readTail(files, path, size);
		if (tail.length === 0) {
			whole = size === seen?.size ? seen : null;
			return { size, separator: "" };
		}
		// A complete record without a newline is a record: every reader accepts it.
		if (parseLine(tail.toString("utf8")) !== null) return { size, separator: "\n" };
		const rest = size - tail.length;
		await files.truncate(path, rest);
		knownSize = rest;
		log.warn("a half-written last line was cut off", { path, offset: rest, base64: tail.toString("base64") });
		return { size: rest, separator: "" };
	};

	const appendText = async (lines: readonly LineText[], checking: Promise<number> | null): Promise<void> => {
		let size = handle !== null && options.isReplaceable === true ? knownSize : await (checking ?? checkedSize());
		let before = "";
		if (handle === null) {
			const end = await repairEnd(await cutFailed(size));
			size = end.size;
			before = size === 0 && header !== undefined ? `${header}\n` : end.separator;
			handle = await files.openAppend(path);
			if (seen === null) nameMade();
		}
		const joined = joinLines(lines, "\n");
		const isShort = typeof joined === "string";
		try {
			await (isShort ? handle.append(before + joined) : handle.appendPieces(withBefore(before, joined)));
		} catch (thrown) {
			failed = { start: size, before, text: joined };
			throw thrown;
		}
		lastAppended = { start: size, before, text: joined };
		unsynced = true;
		knownSize = isShort ? size + Buffer.byteLength(before + joined) : ((await files.status(path))?.size ?? 0);
	};

	const syncFile = async (): Promise<void> => {
		if (handle !== null) return handle.sync();
		// The file's end is checked before an append, not here: the handle is not held open.
		const file = await files.openAppend(path);
		try {
			await file.sync();
		} finally {
			await file.close();
		}
	};

	return {
		get length() {
			return knownSize;
		},
		get whole() {
			return whole;
		},
		isShared: () =>
			inOrder(async () => {
				const status = await files.status(path);
				isShared ||= (status?.size ?? 0) !== knownSize;
				if (!isShared && failed === null && lastAppended !== null) whole = status;
				return isShared;
			}),
		append: (lines) =>
			inOrder(async () => {
				if (lines.length === 0) return;
				// An open file is looked at meanwhile: each of the two takes a thread its time.
				const checking = handle === null || options.isReplaceable === true ? null : checkedSize();
				checking?.catch(() => undefined);
				await prepare();
				try {
					await appendText(lines, checking);
				} catch (thrown) {
					// Reopened next time, so that the end of the file is checked again.
					await cutAtOnce().catch(() => undefined);
					throw toStorageError(path, thrown);
				}
			}),
		undo: () =>
			inOrder(async () => {
				failed = lastAppended;
				lastAppended = null;
				try {
					await cutAtOnce();
				} catch (thrown) {
					throw toStorageError(path, thrown);
				}
			}),
		repairEnd: () =>
			inOrder(async () => {
				try {
					const end = await repairEnd(await cutFailed(await checkedSize()));
					knownSize = end.size;
					if (end.separator === "") return;
					handle ??= await files.openAppend(path);
					await handle.append(end.separator);
					knownSize += end.separator.length;
				} catch (thrown) {
					await closeHandle().catch(() => undefined);
					throw toStorageError(path, thrown);
				}
			}),
		rewrite: (pieces, sync = false) =>
			inOrder(async () => {
				await prepare();
				try {
					await closeHandle();
					await files.replaceByPieces(path, pieces, { sync });
					nameMade();
					failed = null;
					lastAppended = null;
					unsynced = !sync;
					knownSize = (await files.status(path))?.size ?? 0;
				} catch (thrown) {
					throw toStorageError(path, thrown);
				}
			}),
		prepend: (line) =>
			inOrder(async () => {
				await prepare();
				try {
					await checkedSize();
					await closeHandle();
					const content = (await files.read(path)) ?? Buffer.alloc(0);
					const changed = Buffer.concat([Buffer.from(`${wholeText(line)}\n`), content]);
					await files.replace(path, changed);
					nameMade();
					knownSize = changed.length;
					unsynced = true;
				} catch (thrown) {
					throw toStorageError(path, thrown);
				}
			}),
		rotate: (lines, aside, sync = true) =>
			inOrder(async () => {
				await prepare();
				try {
					await cutFailed(await checkedSize());
					await closeHandle();
					const content = await files.read(path);
					if (content !== null) await files.replace(await aside(), content, { sync });
					const text = lines.map((line) => `${wholeText(line)}\n`).join("");
					await files.replace(path, text, { sync });
					knownSize = Buffer.byteLength(text);
					unsynced = !sync;
					lastAppended = null;
				} catch (thrown) {
					throw toStorageError(path, thrown);
				}
			}),
		sync: () =>
			inOrder(async () => {
				if (!unsynced) return;
				try {
					await syncFile();
					unsynced = false;
				} catch (thrown) {
					throw toStorageError(path, thrown);
				}
			}),
		close: () => inOrder(closeHandle),
	};
}

function isSame(one: FileStatus, other: FileStatus): boolean {
	return one.size === other.size && one.modifiedAt === other.modifiedAt;
}

function withBefore(before: string, text: Iterable<string>): Iterable<string> {
	return {
		*[Symbol.iterator]() {
			yield before;
			yield* text;
		},
	};
}
