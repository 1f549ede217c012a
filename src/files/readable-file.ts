// Opens files for reading without waiting for anybody: what is no file is refused before it is opened, and what only
// looks like one (below /proc and /sys) is read as far as it has something to give.
import { constants, type Stats } from "node:fs";
import { type FileHandle, open, stat } from "node:fs/promises";
import { devNull } from "node:os";
import { systemErrorCode } from "../base/errors.ts";

/** Most bytes of a file that says it has none: those of the kernel may go on for ever. */
const unsizedLimit = 16 * 1024 * 1024;

/** Most bytes that are read as a whole. */
const wholeLimit = 2 ** 31 - 1;

const unsizedPiece = 64 * 1024;

/** A FIFO waits for no writer, and no terminal becomes ours. Files on a disk know neither. */
const flags = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY;

/** A file open for reading, with its size when it was opened; 0 also for one that does not know it. */
export interface ReadableFile {
	readonly handle: FileHandle;
	readonly size: number;
}

function refusal(code: "EINVAL" | "EFBIG", reason: string, target: string): Error {
	return Object.assign(new Error(`${code}: ${reason}, read '${target}'`), { code, path: target });
}

/** A link to it is a common way to have no such file. */
async function isNullDevice(status: Stats): Promise<boolean> {
	return status.isCharacterDevice() && status.rdev === (await stat(devNull)).rdev;
}

/**
 * It is looked at before it is opened: opening a FIFO or a device has effects of its own on others. Rejects like `open`, and
 * for what is neither a file nor the null device. Reading a directory fails later.
 */
export async function openReadable(target: string): Promise<ReadableFile> {
	const status = await stat(target);
	if (!status.isFile() && !status.isDirectory() && !(await isNullDevice(status))) {
		throw refusal("EINVAL", "not a regular file", target);
	}
	return { handle: await open(target, flags), size: status.isFile() ? status.size : 0 };
}

/** Bytes read into `bytes` from its `offset` on; 0 at the end, and where nothing more comes for now. */
export async function readSome(
	{ handle, size }: ReadableFile,
	bytes: Buffer,
	offset: number,
	position: number | null,
): Promise<number> {
	try {
		return (await handle.read(bytes, offset, bytes.length - offset, position)).bytesRead;
	} catch (thrown) {
		if (size === 0 && systemErrorCode(thrown) === "EAGAIN") return 0;
		throw thrown;
	}
}

/** The bytes in pieces from where the file stands. */
export async function* readOn(file: ReadableFile, target: string, pieceLength: number): AsyncGenerator<Buffer> {
	let total = 0;
	while (true) {
		const bytes = Buffer.allocUnsafe(pieceLength);
		const count = await readSome(file, bytes, 0, null);
		if (count === 0) return;
		total += count;
		if (file.size === 0 && total > unsizedLimit) throw refusal("EFBIG", "it says it is empty and never ends", target);
		yield bytes.subarray(0, count);
	}
}

/** The whole file. */
export async function readWhole(file: ReadableFile, target: string): Promise<Buffer> {
	if (file.size > wholeLimit) throw refusal("EFBIG", "too large to be read as a whole", target);
	if (file.size === 0) {
		const pieces: Buffer[] = [];
		for await (const piece of readOn(file, target, unsizedPiece)) pieces.push(piece);
		return Buffer.concat(pieces);
	}
	const bytes = Buffer.allocUnsafeSlow(file.size);
	let filled = 0;
	while (filled < bytes.length) {
		const count = await readSome(file, bytes, filled, null);
		if (count === 0) break;
		filled += count;
	}
	return bytes.subarray(0, filled);
}
