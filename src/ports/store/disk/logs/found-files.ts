// A session's files as found at its opening: each is checked and read once, so that all parts of the opening see the same moment.
import path from "node:path";
import type { FileReader, FileStatus } from "../../../files/port.ts";
import { showsLaterChanges } from "../file-times.ts";

/** Bytes at the end of a file that are read together. Earlier bytes are read on demand. */
const endLength = 64 * 1024;
const newline = 0x0a;

export interface FoundFiles extends FileReader {
	noteMissing(directory: string): void;
	/** The file's status if it ends with a complete line and any later change will show in it; else null. */
	wholeStatus(file: string, now: number): Promise<FileStatus | null>;
	/** Called after opening: drops all cached content; files are read on demand from now on. */
	release(): void;
}

/** Reads nothing until needed. */
export function createFoundFiles(files: FileReader): FoundFiles {
	const statuses = new Map<string, Promise<FileStatus | null>>();
	const ends = new Map<string, Promise<Buffer | null>>();
	let missing: string | null = null;
	let isReleased = false;

	const status = (file: string): Promise<FileStatus | null> => {
		if (isReleased) return files.status(file);
		if (missing !== null && file.startsWith(missing)) return Promise.resolve(null);
		const known = statuses.get(file) ?? files.status(file);
		statuses.set(file, known);
		return known;
	};
	/** The size of a file that can be read once; null for anything else, which the port handles. */
	const sizeOf = async (file: string): Promise<number | null> => {
		const found = await status(file);
		if (isReleased) return null;
		return found === null || found.kind === "file" ? (found?.size ?? 0) : null;
	};
	/** The last bytes of a file of this size; null if it was removed since. */
	const endOf = (file: string, size: number): Promise<Buffer | null> => {
		const start = Math.max(0, size - endLength);
		const readEnd = async () =>
			start === 0
				? ((await files.read(file))?.subarray(0, size) ?? null)
				: await files.readRange(file, start, size - start);
		const known = ends.get(file) ?? readEnd();
		ends.set(file, known);
		return known;
	};
	const isMissing = async (file: string): Promise<boolean> => !isReleased && (await status(file)) === null;

	return {
		status,
		async read(file) {
			if (await isMissing(file)) return null;
			const size = await sizeOf(file);
			if (size === null) return files.read(file);
			if (size > endLength) return (await files.read(file))?.subarray(0, size) ?? null;
			return size === 0 ? Buffer.alloc(0) : endOf(file, size);
		},
		async readRange(file, offset, length) {
			if (await isMissing(file)) return null;
			const size = await sizeOf(file);
			if (size === null) return files.readRange(file, offset, length);
			const start = Math.max(0, size - endLength);
			if (offset >= size) return Buffer.alloc(0);
			if (offset < start) return files.readRange(file, offset, Math.min(length, size - offset));
			return (await endOf(file, size))?.subarray(offset - start, offset - start + length) ?? null;
		},
		async *readPieces(file) {
			if (await isMissing(file)) return;
			const size = await sizeOf(file);
			if (size === null || size > endLength) yield* files.readPieces(file);
			else if (size > 0) yield (await endOf(file, size)) ?? Buffer.alloc(0);
		},
		noteMissing(directory) {
			missing = directory + path.sep;
		},
		async wholeStatus(file, now) {
			const [found, end] = await Promise.all([statuses.get(file), ends.get(file)]);
			if (found === undefined || found === null || end === undefined || end === null) return null;
			const isWhole = end.length === Math.min(found.size, endLength) && end.at(-1) === newline;
			return isWhole && showsLaterChanges(found.modifiedAt, now) ? found : null;
		},
		release() {
			isReleased = true;
			statuses.clear();
			ends.clear();
		},
	};
}
