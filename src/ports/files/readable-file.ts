// Refuses anything but regular files before opening, and reads pseudo files up to the data they return.
import { constants, type Stats } from "node:fs";
import { devNull } from "node:os";
import { systemErrorCode } from "../../base/errors.ts";
import { type OpenFile, openFile, statusOf } from "./file-calls.ts";

/** Maximum bytes of a file that reports size 0: kernel files may be endless. */
const unsizedLimit = 16 * 1024 * 1024;

/** Maximum bytes read at once. */
const wholeLimit = 2 ** 31 - 1;

/** No waiting for the writer of a FIFO, and no terminal becomes the controlling one. */
const flags = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY;

/** A file open for reading, with its size at opening; 0 if the size is unknown. */
export interface ReadableFile {
	readonly handle: OpenFile;
	readonly size: number;
}

function refusal(code: "EINVAL" | "EFBIG", reason: string, target: string): Error {
	return Object.assign(new Error(`${code}: ${reason}, read '${target}'`), { code, path: target });
}

/** A link to the null device is a common way to disable a file. */
async function isNullDevice(status: Stats): Promise<boolean> {
	return status.isCharacterDevice() && status.rdev === (await statusOf(devNull)).rdev;
}

/** Checks the status first: opening a FIFO or device has side effects. Reading a directory fails later. */
export async function openReadable(target: string): Promise<ReadableFile> {
	const status = await statusOf(target);
	if (!status.isFile() && !status.isDirectory() && !(await isNullDevice(status))) {
		throw refusal("EINVAL", "not a regular file", target);
	}
	return { handle: await openFile(target, flags), size: status.isFile() ? status.size : 0 };
}

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

/** Bytes of the first piece, which may be all that is needed, and of later ones. */
const firstPiece = 64 * 1024;
const laterPiece = 256 * 1024;

/** From the second piece on, each is longer and read while the previous one is in use. */
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
				// The error is reported to the caller that asks for the piece.
				next.catch(() => {});
			}
			total += piece.length;
			if (file.size === 0 && total > unsizedLimit)
				throw refusal("EFBIG", "it reports a size of 0 but never ends", target);
			yield piece;
		}
	} finally {
		// A caller that stops early closes the file.
		await next?.catch(() => {});
	}
}

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
