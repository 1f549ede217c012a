// Reads zip archives by their central directory, with the modes that the usual libraries do not tell. Takes nothing on
// trust: sizes, checksums and paths are checked, and what could leave the directory it is unpacked into is refused.
import path from "node:path";
import { crc32, inflateRawSync } from "node:zlib";
import { errorText } from "../../base/errors.ts";
import { quoted } from "../print/printer.ts";

export interface ZipFile {
	/** Relative, normalised, with slashes. */
	readonly path: string;
	/** Permission bits; null when the archive has none. */
	readonly mode: number | null;
	/** Bytes when unpacked, as declared; `read` gives no more. */
	readonly size: number;
	/** Unpacks the file. Throws ZipError when it is damaged. */
	read(): Uint8Array;
}

/** An archive that cannot be unpacked; the message is a clause. */
export class ZipError extends Error {
	override readonly name = "ZipError";
}

const endSignature = 0x06054b50;
const endLength = 22;
const longestComment = 0xffff;
const entrySignature = 0x02014b50;
const entryLength = 46;
const localSignature = 0x04034b50;
const localLength = 30;
/** Stands in a field whose value is in a zip64 record instead: too large for us in any case. */
const elsewhere = 0xffffffff;

const encryptedFlag = 1;
const stored = 0;
const deflated = 8;
/** Systems whose attributes hold a Unix mode. */
const unixSystems: ReadonlySet<number> = new Set([3, 19]);
const typeBits = 0o170000;
const regularFile = 0o100000;
const directoryType = 0o040000;
const linkType = 0o120000;

/** The files in an archive, in its order; its directories are left out. Throws ZipError. */
export function readZip(bytes: Buffer): ZipFile[] {
	try {
		const end = findEnd(bytes);
		const files: ZipFile[] = [];
		let position = bytes.readUInt32LE(end + 16);
		for (let left = bytes.readUInt16LE(end + 10); left > 0; left -= 1) {
			const entry = readEntry(bytes, position);
			if (entry.file !== null) files.push(entry.file);
			position = entry.next;
		}
		return files;
	} catch (thrown) {
		throw thrown instanceof RangeError ? new ZipError("it is damaged or cut off") : thrown;
	}
}

/** Where the record at the end begins, behind which there may be a comment. */
function findEnd(bytes: Buffer): number {
	const first = Math.max(0, bytes.length - endLength - longestComment);
	for (let position = bytes.length - endLength; position >= first; position -= 1) {
		if (bytes.readUInt32LE(position) === endSignature) return position;
	}
	throw new ZipError("it is no zip file, or cut off");
}

function readEntry(bytes: Buffer, at: number): { readonly file: ZipFile | null; readonly next: number } {
	if (bytes.readUInt32LE(at) !== entrySignature) throw new ZipError("it is damaged: its directory is broken");
	const nameLength = bytes.readUInt16LE(at + 28);
	const next = at + entryLength + nameLength + bytes.readUInt16LE(at + 30) + bytes.readUInt16LE(at + 32);
	const name = bytes.toString("utf8", at + entryLength, at + entryLength + nameLength);
	const mode = unixSystems.has(bytes.readUInt8(at + 5)) ? bytes.readUInt16LE(at + 40) : 0;
	checkName(name);
	checkType(name, mode);
	if (name.endsWith("/") || (mode & typeBits) === directoryType) return { file: null, next };

	const method = bytes.readUInt16LE(at + 10);
	if ((bytes.readUInt16LE(at + 8) & encryptedFlag) !== 0) throw new ZipError(`${quoted(name)} is encrypted`);
	if (method !== stored && method !== deflated) throw new ZipError(`${quoted(name)} is packed in an unusual way`);
	const packed: PackedFile = {
		name,
		isDeflated: method === deflated,
		checksum: bytes.readUInt32LE(at + 16),
		packedSize: bytes.readUInt32LE(at + 20),
		size: bytes.readUInt32LE(at + 24),
		header: bytes.readUInt32LE(at + 42),
	};
	if ([packed.size, packed.packedSize, packed.header].includes(elsewhere)) {
		throw new ZipError(`${quoted(name)} is too large`);
	}
	return {
		file: {
			path: path.posix.normalize(name),
			mode: mode === 0 ? null : mode & 0o777,
			size: packed.size,
			read: () => unpack(bytes, packed),
		},
		next,
	};
}

function checkName(name: string): void {
	const isOutside = name.startsWith("/") || name.split("/").includes("..");
	if (isOutside) throw new ZipError(`${quoted(name)} leads out of the directory`);
	if (name === "" || /[\\\0]/.test(name)) throw new ZipError(`${quoted(name)} is no usable name`);
}

function checkType(name: string, mode: number): void {
	const type = mode & typeBits;
	if (type === linkType) throw new ZipError(`${quoted(name)} is a link`);
	if (![0, regularFile, directoryType].includes(type)) throw new ZipError(`${quoted(name)} is no regular file`);
}

interface PackedFile {
	readonly name: string;
	readonly isDeflated: boolean;
	readonly checksum: number;
	readonly packedSize: number;
	readonly size: number;
	/** Where the local header is, behind which the data are. */
	readonly header: number;
}

function unpack(bytes: Buffer, { name, isDeflated, checksum, packedSize, size, header }: PackedFile): Uint8Array {
	const damaged = (cause?: unknown) => {
		const reason = cause === undefined ? "" : `: ${errorText(cause)}`;
		return new ZipError(`${quoted(name)} is damaged${reason}`);
	};
	const isHere = header + localLength <= bytes.length && bytes.readUInt32LE(header) === localSignature;
	if (!isHere) throw damaged();
	const start = header + localLength + bytes.readUInt16LE(header + 26) + bytes.readUInt16LE(header + 28);
	const data = bytes.subarray(start, start + packedSize);
	const content = isDeflated ? inflate(data, size, damaged) : data;
	if (content.length !== size || crc32(content) !== checksum) throw damaged();
	return content;
}

/** Inflates to no more than was declared, whatever the data would grow to. */
function inflate(data: Uint8Array, size: number, damaged: (cause: unknown) => ZipError): Uint8Array {
	try {
		return inflateRawSync(data, { maxOutputLength: Math.max(1, size) });
	} catch (thrown) {
		throw damaged(thrown);
	}
}
