// Trusts nothing: checks sizes, checksums and paths.
import path from "node:path";
import { crc32 } from "node:zlib";
import { type ZipFile as Archive, type Entry, fromBufferPromise, getFileNameLowLevel } from "yauzl";
import { errorText } from "../../base/errors.ts";
import { quoted } from "../printable-text.ts";

export interface ZipFile {
	readonly path: string;
	/** Permission bits; null if the archive has none. */
	readonly mode: number | null;
	readonly size: number;
	/** Unpacks the file. Fails with a ZipError if it is damaged. */
	read(): Promise<Uint8Array>;
}

export class ZipError extends Error {
	override readonly name = "ZipError";
}

/** Archive systems whose attributes hold a Unix mode. */
const unixSystems: ReadonlySet<number> = new Set([3, 19]);
const typeBits = 0o170000;
const regularFile = 0o100000;
const directoryType = 0o040000;
const linkType = 0o120000;

export async function readZip(bytes: Buffer): Promise<ZipFile[]> {
	const archive = await fromBufferPromise(bytes, {
		autoClose: false,
		// Names are checked below, for our own error messages.
		decodeStrings: false,
	}).catch(() => {
		throw new ZipError("it is not a zip file, or it is truncated");
	});
	const files: ZipFile[] = [];
	try {
		for await (const entry of archive.eachEntry()) {
			const file = toFile(archive, entry);
			if (file !== null) files.push(file);
		}
	} catch (thrown) {
		throw thrown instanceof ZipError ? thrown : new ZipError(`it is damaged: ${errorText(thrown)}`);
	}
	return files;
}

function toFile(archive: Archive, entry: Entry): ZipFile | null {
	const name = getFileNameLowLevel(entry.generalPurposeBitFlag, entry.fileNameRaw, entry.extraFields, true);
	const mode = unixSystems.has(entry.versionMadeBy >> 8) ? entry.externalFileAttributes >>> 16 : 0;
	checkName(name);
	checkType(name, mode);
	if (name.endsWith("/") || (mode & typeBits) === directoryType) return null;
	if (entry.isEncrypted()) throw new ZipError(`${quoted(name)} is encrypted`);
	if (!entry.canDecodeFileData()) throw new ZipError(`${quoted(name)} is packed in an unusual way`);
	return {
		path: path.posix.normalize(name),
		mode: mode === 0 ? null : mode & 0o777,
		size: entry.uncompressedSize,
		read: () => unpack(archive, entry, name),
	};
}

function checkName(name: string): void {
	const isOutside = name.startsWith("/") || name.split("/").includes("..");
	if (isOutside) throw new ZipError(`${quoted(name)} points outside the directory`);
	if (name === "" || /[\\\0]/.test(name)) throw new ZipError(`${quoted(name)} is not a usable name`);
}

function checkType(name: string, mode: number): void {
	const type = mode & typeBits;
	if (type === linkType) throw new ZipError(`${quoted(name)} is a link`);
	if (![0, regularFile, directoryType].includes(type)) throw new ZipError(`${quoted(name)} is not a regular file`);
}

async function unpack(archive: Archive, entry: Entry, name: string): Promise<Uint8Array> {
	try {
		const pieces: Buffer[] = [];
		for await (const piece of await archive.openReadStreamPromise(entry)) pieces.push(piece);
		const content = Buffer.concat(pieces);
		if (crc32(content) === entry.crc32) return content;
	} catch (thrown) {
		throw new ZipError(`${quoted(name)} is damaged: ${errorText(thrown)}`);
	}
	throw new ZipError(`${quoted(name)} is damaged: its checksum differs`);
}
