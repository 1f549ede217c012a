// An append-only file of JSON lines: reads past damage, appends whole lines in order, syncs on demand. Its users define
// the lines.
import { KernelError } from "../../base/errors.ts";
import { isRecord } from "../../base/json.ts";
import { createLineSplitter, type Line } from "../../base/lines.ts";
import type { Log } from "../../base/log.ts";
import { joinLines, type LineText, wholeText } from "../../base/long-text.ts";
import type { AppendFile, Files } from "../../files/port.ts";
import { toStorageError } from "./storage-error.ts";

/** Bytes of the longest line that is read: the longest line of the wire plus its envelope. */
const lineLimit = 128 * 1024 * 1024;
const tailPiece = 64 * 1024;
const newline = 0x0a;

/** The JSON object of a line, or null when it has none. */
export function parseLine(text: string): Record<string, unknown> | null {
	try {
		const value: unknown = JSON.parse(text);
		return isRecord(value) ? value : null;
	} catch {
		return null;
	}
}

/** The JSON object of a line, or null when it holds none. */
type ParsedLine = Record<string, unknown> | null;

function parseAll(lines: readonly Line[]): ParsedLine[] {
	return lines.flatMap((line) => {
		if (line.kind === "oversized") return [null];
		return line.text.trim() === "" ? [] : [parseLine(line.text)];
	});
}

/** Every line that is not blank. */
export function parseLines(bytes: Buffer): ParsedLine[] {
	const splitter = createLineSplitter(lineLimit);
	return [...parseAll(splitter.push(bytes)), ...parseAll(splitter.end())];
}

export interface LinesRead {
	/** Only the first bytes of the file. */
	readonly length?: number;
	/** Bytes of the longest line that is parsed; a longer one is reported as none, as soon as that is known. */
	readonly limit?: number;
}

/** Every line that is not blank, read in pieces. Nothing for a missing file. */
export async function* readLines(
	files: Files,
	path: string,
	{ length = Number.POSITIVE_INFINITY, limit = lineLimit }: LinesRead = {},
): AsyncGenerator<ParsedLine> {
	const splitter = createLineSplitter(limit);
	let left = length;
	for await (const piece of files.readPieces(path)) {
		yield* parseAll(splitter.push(piece.subarray(0, left)));
		left -= piece.length;
		if (left <= 0) break;
	}
	yield* parseAll(splitter.end());
}

/** The bytes after the last newline of a file of `size` bytes, read from its end. */
async function readTail(files: Files, path: string, size: number): Promise<Buffer> {
	const pieces: Buffer[] = [];
	for (let end = size; end > 0; ) {
		const start = Math.max(0, end - tailPiece);
		const piece = (await files.readRange(path, start, end - start)) ?? Buffer.alloc(0);
		const at = piece.lastIndexOf(newline);
		pieces.unshift(piece.subarray(at + 1));
		if (at !== -1) break;
		end = start;
	}
	return Buffer.concat(pieces);
}

export interface LineFile {
	/** Whether lines were appended to it. */
	readonly hasGrown: boolean;
	/** Appends the lines with one write; nothing is written for none. Fails `storage-failed`. */
	append(lines: readonly LineText[]): Promise<void>;
	/** Adds a line before everything else, by replacing the file once. Fails `storage-failed`. */
	prepend(line: LineText): Promise<void>;
	/**
	 * Replaces all lines, with one replacement of the file, after copying it to the path that `aside` returns. Both are
	 * then on stable storage. Fails `storage-failed`, and then the file is unchanged.
	 */
	rotate(lines: readonly LineText[], aside: () => Promise<string>): Promise<void>;
	/** Puts what was appended on stable storage. Fails `storage-failed`. */
	sync(): Promise<void>;
	/** Waits for the earlier calls and returns the file's size in bytes, 0 when it is missing. */
	size(): Promise<number>;
	close(): Promise<void>;
}

export interface LineFileOptions {
	readonly files: Files;
	readonly log: Log;
	readonly path: string;
	/** Its size when the session was opened: a file that is shorter later was modified by somebody else. */
	readonly knownSize: number;
	/** The first line of a file that is new or empty. */
	readonly header?: string;
	/** Runs before each append; what it throws is the append's failure. */
	prepare(): Promise<void>;
	/** Called when the file was created or replaced: its name is then not on stable storage. */
	nameMade(): void;
}

/** Nothing is opened, created or repaired before the first append. */
export function createLineFile({ files, log, path, header, prepare, nameMade, ...options }: LineFileOptions): LineFile {
	let knownSize = options.knownSize;
	let handle: AppendFile | null = null;
	let unsynced = false;
	let hasGrown = false;
	/** What a failed append may have left in the file, and where. */
	let failed: { readonly start: number; readonly bytes: Buffer } | null = null;
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
		const size = (await files.status(path))?.size ?? 0;
		if (size < knownSize) {
			throw new KernelError("storage-failed", `Cannot write ${path}: it was removed while the session was open.`);
		}
		return size;
	};

	/** Truncates what a failed append left, whole lines too: the caller was informed that they are not stored. */
	const cutFailed = async (size: number): Promise<number> => {
		if (failed === null) return size;
		const { start, bytes } = failed;
		const found = (await files.readRange(path, start, bytes.length + 1)) ?? Buffer.alloc(0);
		const isOurs = found.length > 0 && bytes.subarray(0, found.length).equals(found);
		if (isOurs) await files.truncate(path, start);
		failed = null;
		return isOurs ? start : size;
	};

	/** Truncates a partial last line; returns the size then and the separator that must precede the next line. */
	const repairEnd = async (size: number): Promise<{ size: number; separator: string }> => {
		const tail = await readTail(files, path, size);
		if (tail.length === 0) return { size, separator: "" };
		// A complete record without a newline is a record: every reader accepts it.
		if (parseLine(tail.toString("utf8")) !== null) return { size, separator: "\n" };
		const rest = size - tail.length;
		await files.truncate(path, rest);
		knownSize = rest;
		log.warn("a half-written last line was cut off", { path, offset: rest, base64: tail.toString("base64") });
		return { size: rest, separator: "" };
	};

	const appendText = async (lines: readonly LineText[]): Promise<void> => {
		let size = await checkedSize();
		let before = "";
		if (handle === null) {
			const end = await repairEnd(await cutFailed(size));
			size = end.size;
			before = size === 0 && header !== undefined ? `${header}\n` : end.separator;
			const isNew = size === 0 && (await files.status(path)) === null;
			handle = await files.openAppend(path);
			if (isNew) nameMade();
		}
		const joined = joinLines(lines, "\n");
		const isShort = typeof joined === "string";
		try {
			await (isShort ? handle.append(before + joined) : handle.appendPieces(withBefore(before, joined)));
		} catch (thrown) {
			failed = { start: size, bytes: Buffer.from(before + wholeText(joined)) };
			throw thrown;
		}
		unsynced = true;
		hasGrown = true;
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
		get hasGrown() {
			return hasGrown;
		},
		append: (lines) =>
			inOrder(async () => {
				if (lines.length === 0) return;
				await prepare();
				try {
					await appendText(lines);
				} catch (thrown) {
					// Reopened next time, so that the end of the file is checked again.
					await closeHandle().catch(() => undefined);
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
		rotate: (lines, aside) =>
			inOrder(async () => {
				await prepare();
				try {
					await cutFailed(await checkedSize());
					await closeHandle();
					const content = await files.read(path);
					if (content !== null) await files.replace(await aside(), content, { sync: true });
					const text = lines.map((line) => `${wholeText(line)}\n`).join("");
					await files.replace(path, text, { sync: true });
					knownSize = Buffer.byteLength(text);
					unsynced = false;
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
		size: () => inOrder(async () => (await files.status(path))?.size ?? 0),
		close: () => inOrder(closeHandle),
	};
}

function withBefore(before: string, text: Iterable<string>): Iterable<string> {
	return {
		*[Symbol.iterator]() {
			yield before;
			yield* text;
		},
	};
}
