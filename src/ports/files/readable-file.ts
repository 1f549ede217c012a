// Opens files for reading without blocking: anything but a regular file is refused before it is opened, and pseudo
// files (below /proc and /sys) are read up to the last data they return.
import { constants, type Stats } from "node:fs";
import { devNull } from "node:os";
import { systemErrorCode } from "../../base/errors.ts";
import { type OpenFile, openFile, statusOf } from "./file-calls.ts";

/** The most bytes of a file that reports size 0: those of the kernel may be endless. */
const unsizedLimit = 16 * 1024 * 1024;

/** The most bytes that are read at once. */
const wholeLimit = 2 ** 31 - 1;

/**
 * Opening a FIFO does not wait for a writer, and no terminal becomes ours. The flags have no effect on regular files.
 */
const flags = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY;

/** A file open for reading, with its size when it was opened; 0 also when the size is unknown. */
export interface ReadableFile {
	readonly handle: OpenFile;
	readonly size: number;
}

function refusal(code: "EINVAL" | "EFBIG", reason: string, target: string): Error {
	return Object.assign(new Error(`${code}: ${reason}, read '${target}'`), { code, path: target });
}

/** A link to it is a common way to disable a file. */
async function isNullDevice(status: Stats): Promise<boolean> {
	return status.isCharacterDevice() && status.rdev === (await statusOf(devNull)).rdev;
}

/**
 * The status is checked before it is opened: opening a FIFO or a device has effects on others. Rejects like `open`, and
 * for anything but a regular file or the null device. Reading a directory fails later.
 */
export async function openReadable(target: string): Promise<ReadableFile> {
	const status = await statusOf(target);
	if (!status.isFile() && !status.isDirectory() && !(await isNullDevice(status))) {
		throw refusal("EINVAL", "not a regular file", target);
	}
	return { handle: await openFile(target, flags), size: status.isFile() ? status.size : 0 };
}

/** Reads into `bytes` from its `offset` on; 0 at the end, or when nothing is available now. */
export async function readSome(
	{ handle, size }: ReadableFile,
	bytes: Buffer,
	offset: number,
	position: number | null,
): Promise<number> {
	try {
		return await handle.read(bytes, offset, bytes.length - offset, position);
	} catch (thrown) {
		if (size === 0 && systemErrorCode(thrown) === "EAGAIN") return 0;
		throw thrown;
	}
}

/** Bytes of the first piece, which may be all that is wanted, and of those after it. */
const firstPiece = 64 * 1024;
const laterPiece = 256 * 1024;

/**
 * The bytes in pieces from the current position. Who wants a second piece gets the ones after it sooner: they are longer,
 * and each is read while the one before it is being used.
 */
export async function* readOn(file: ReadableFile, target: string): AsyncGenerator<Buffer> {
	const read = async (): Promise<Buffer> => {
		const bytes = Buffer.allocUnsafe(total === 0 ? firstPiece : laterPiece);
		return bytes.subarray(0, await readSome(file, bytes, 0, null));
	};
	let total = 0;
	let next: Promise<Buffer> | null = null;
	try {
		while (true) {
			const piece: Buffer = await (next ?? read());
			next = null;
			if (piece.length === 0) return;
			if (total > 0) {
				next = read();
				// It fails for whoever asks for it.
				next.catch(() => {});
			}
			total += piece.length;
			if (file.size === 0 && total > unsizedLimit) throw refusal("EFBIG", "it says it is empty and never ends", target);
			yield piece;
		}
	} finally {
		// Whoever wants no more closes the file.
		await next?.catch(() => {});
	}
}

/** The whole file, of at most `limit` bytes. */
export async function readWhole(file: ReadableFile, target: string, limit = wholeLimit): Promise<Buffer> {
	const tooLarge = () => refusal("EFBIG", `it has more than ${limit} bytes`, target);
	if (file.size > limit) throw tooLarge();
	if (file.size === 0) {
		const pieces: Buffer[] = [];
		let length = 0;
		for await (const piece of readOn(file, target)) {
			length += piece.length;
			if (length > limit) throw tooLarge();
			pieces.push(piece);
		}
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
