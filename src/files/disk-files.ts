// The file port on the real disk: atomic replacement, appends in order that leave no half line behind.
// Errors are Node's own; retrying, locking and explaining them belong to the callers.
import { constants } from "node:fs";
import {
	type FileHandle,
	lstat,
	mkdir,
	open,
	readdir,
	readFile,
	readlink,
	realpath,
	rename,
	rm,
	stat,
	truncate,
	unlink,
} from "node:fs/promises";
import path from "node:path";
import { systemErrorCode } from "../base/errors.ts";
import { type Access, newFileMode, orNullWhenMissing, privateFileMode } from "./disk-access.ts";
import { replaceFile, syncDirectory, writeWhole } from "./disk-replacement.ts";
import type { Admit, AppendFile, DirectoryEntry, FileStatus, Files } from "./port.ts";
import { createClosing, openToAll, type PrivacyOf } from "./private-paths.ts";

const pieceLength = 64 * 1024;
const privateDirectoryMode = 0o700;

interface Kinds {
	isFile(): boolean;
	isDirectory(): boolean;
}

function toKind(entry: Kinds): FileStatus["kind"] {
	if (entry.isFile()) return "file";
	return entry.isDirectory() ? "directory" : "other";
}

/** How often a file is opened anew that was replaced, or removed, just when it was opened. */
const openingLimit = 20;

/**
 * Judges the file that was opened by where it is. Links may change between two looks, so it has to be the one that is
 * found there without them; false when another one is.
 */
async function isAdmitted(handle: FileHandle, target: string, admits: readonly Admit[]): Promise<boolean> {
	const opened = await handle.stat({ bigint: true });
	// A pipe that a shell puts in place of a file has no path.
	if (!opened.isFile()) return true;
	const resolved = await orNullWhenMissing(realpath(target));
	if (resolved === null) return false;
	for (const admit of admits) await admit(resolved);
	const found = await orNullWhenMissing(lstat(resolved, { bigint: true }));
	return found !== null && opened.dev === found.dev && opened.ino === found.ino;
}

/** Opens a file to be read; null when there is none. */
async function openToRead({ privacyOf, closing, admits }: Access, target: string): Promise<FileHandle | null> {
	for (let count = 0; count < openingLimit; count += 1) {
		const handle = await orNullWhenMissing(open(target, "r"));
		if (handle === null) return null;
		let isKept = false;
		try {
			if (privacyOf(path.resolve(target)) === "kept") await closing.closeFile(handle, target);
			isKept = admits.length === 0 || (await isAdmitted(handle, target, admits));
			if (isKept) return handle;
		} finally {
			if (!isKept) await handle.close();
		}
	}
	throw Object.assign(new Error(`ESTALE: replaced while it was opened, '${target}'`), { code: "ESTALE", path: target });
}

async function readWhole(access: Access, target: string): Promise<Buffer | null> {
	if (access.admits.length === 0 && access.privacyOf(path.resolve(target)) === "open") {
		return orNullWhenMissing(readFile(target));
	}
	const handle = await openToRead(access, target);
	if (handle === null) return null;
	try {
		return await handle.readFile();
	} finally {
		await handle.close();
	}
}

async function readRange(access: Access, target: string, offset: number, length: number): Promise<Buffer | null> {
	const handle = await openToRead(access, target);
	if (handle === null) return null;
	try {
		const bytes = Buffer.alloc(length);
		let filled = 0;
		while (filled < length) {
			const { bytesRead } = await handle.read(bytes, filled, length - filled, offset + filled);
			if (bytesRead === 0) break;
			filled += bytesRead;
		}
		return bytes.subarray(0, filled);
	} finally {
		await handle.close();
	}
}

async function* readPieces(access: Access, target: string): AsyncGenerator<Buffer> {
	const handle = await openToRead(access, target);
	if (handle === null) return;
	try {
		while (true) {
			const bytes = Buffer.allocUnsafe(pieceLength);
			const { bytesRead } = await handle.read(bytes, 0, pieceLength, null);
			if (bytesRead === 0) return;
			yield bytes.subarray(0, bytesRead);
		}
	} finally {
		await handle.close();
	}
}

async function listDirectory(directory: string): Promise<DirectoryEntry[]> {
	const entries = await readdir(directory, { withFileTypes: true });
	return Promise.all(
		entries.map(async (entry) => {
			if (!entry.isSymbolicLink()) return { name: entry.name, kind: toKind(entry) };
			const status = await stat(path.join(directory, entry.name)).catch(() => null);
			return { name: entry.name, kind: status === null ? "other" : toKind(status) };
		}),
	);
}

async function resolvePath(start: string): Promise<string> {
	const absolute = path.resolve(start);
	let tail = "";
	for (let head = absolute; ; head = path.dirname(head)) {
		const resolved = await orNullWhenMissing(realpath(head));
		if (resolved !== null) return tail === "" ? resolved : path.join(resolved, tail);
		const target = await orNullWhenMissing(readlink(head));
		// A link to nothing still leads somewhere: what matters is where a file made through it would appear.
		if (target !== null) return path.join(await resolvePath(path.resolve(path.dirname(head), target)), tail);
		if (head === path.dirname(head)) return absolute;
		tail = path.join(path.basename(head), tail);
	}
}

async function createFile({ privacyOf, closing }: Access, target: string, content: string): Promise<boolean> {
	const isPrivate = privacyOf(path.resolve(target)) === "kept";
	if (isPrivate) await closing.closeDirectories(path.dirname(path.resolve(target)));
	let handle: FileHandle;
	try {
		handle = await open(target, "wx", isPrivate ? privateFileMode : newFileMode);
	} catch (thrown) {
		if (systemErrorCode(thrown) === "EEXIST") return false;
		throw thrown;
	}
	try {
		await writeWhole(handle, Buffer.from(content));
		await handle.close();
	} catch (thrown) {
		await handle.close().catch(() => undefined);
		await rm(target, { force: true }).catch(() => undefined);
		throw thrown;
	}
	return true;
}

/**
 * Cuts off what a failed append left, so that no later record is glued to it. The end of the file is compared first:
 * when another writer has appended since, its lines must stay.
 */
async function cutRemainder(handle: FileHandle, remainder: Buffer): Promise<void> {
	const { size } = await handle.stat();
	const start = size - remainder.length;
	if (remainder.length === 0 || start < 0) return;
	const found = Buffer.alloc(remainder.length);
	const { bytesRead } = await handle.read(found, 0, found.length, start);
	if (bytesRead === found.length && found.equals(remainder)) await handle.truncate(start);
}

async function openAppend({ privacyOf, closing }: Access, target: string): Promise<AppendFile> {
	const isPrivate = privacyOf(path.resolve(target)) === "kept";
	if (isPrivate) await closing.closeDirectories(path.dirname(path.resolve(target)));
	const flags = constants.O_RDWR | constants.O_APPEND | constants.O_CREAT;
	const handle = await open(target, flags, isPrivate ? privateFileMode : newFileMode);
	if (isPrivate) await closing.closeFile(handle, target);
	let last: Promise<unknown> = Promise.resolve();
	const inOrder = <T>(work: () => Promise<T>): Promise<T> => {
		const next = last.then(work, work);
		last = next;
		return next;
	};
	const append = async (bytes: Buffer): Promise<void> => {
		let written = 0;
		try {
			while (written < bytes.length) {
				const { bytesWritten } = await handle.write(bytes, written, bytes.length - written, null);
				written += bytesWritten;
			}
		} catch (thrown) {
			await cutRemainder(handle, bytes.subarray(0, written)).catch(() => undefined);
			throw thrown;
		}
	};
	const appendPieces = async (pieces: Iterable<string>): Promise<void> => {
		let written = 0;
		try {
			for (const piece of pieces) {
				const bytes = Buffer.from(piece);
				let done = 0;
				while (done < bytes.length) {
					const { bytesWritten } = await handle.write(bytes, done, bytes.length - done, null);
					done += bytesWritten;
					written += bytesWritten;
				}
			}
		} catch (thrown) {
			const whole = Buffer.from([...pieces].join(""));
			await cutRemainder(handle, whole.subarray(0, written)).catch(() => undefined);
			throw thrown;
		}
	};
	return {
		append: (text) => inOrder(() => append(Buffer.from(text))),
		appendPieces: (pieces) => inOrder(() => appendPieces(pieces)),
		sync: () => inOrder(() => handle.datasync()),
		close: () => inOrder(() => handle.close()),
	};
}

/**
 * Makes a directory and, where it is missing, what it lies in. Node's own recursive `mkdir` never ends where making a
 * directory fails as if its parent were missing, as below `/proc`.
 */
async function makeDirectories(access: Access, directory: string, mode?: number): Promise<void> {
	await access.closing.closeDirectories(directory);
	if ((await statusOf(directory)) === "directory") return;
	const parent = path.dirname(directory);
	if (parent !== directory) await makeDirectories(access, parent);
	try {
		await mkdir(directory, access.privacyOf(directory) === "open" ? mode : privateDirectoryMode);
	} catch (thrown) {
		// Another one may have made it meanwhile.
		if (systemErrorCode(thrown) !== "EEXIST" || (await statusOf(directory)) !== "directory") throw thrown;
	}
}

async function statusOf(target: string): Promise<"directory" | "other" | null> {
	try {
		return (await stat(target)).isDirectory() ? "directory" : "other";
	} catch (thrown) {
		if (systemErrorCode(thrown) === "ENOENT") return null;
		throw thrown;
	}
}

/** Most of what is removed are single files, which take one call instead of the several of `rm`. */
async function remove(target: string): Promise<void> {
	try {
		await unlink(target);
	} catch {
		await rm(target, { recursive: true, force: true });
	}
}

/**
 * The port on the real file system. Paths should be absolute; relative ones follow the process's directory. `privacyOf`
 * says what is for its owner alone.
 */
export function createDiskFiles(privacyOf: PrivacyOf = openToAll): Files {
	return createPort({ privacyOf, closing: createClosing(privacyOf), admits: [] });
}

function createPort(access: Access): Files {
	return {
		admitting: (admit) => createPort({ ...access, admits: [...access.admits, admit] }),
		read: (target) => readWhole(access, target),
		readRange: (target, offset, length) => readRange(access, target, offset, length),
		readPieces: (target) => readPieces(access, target),
		async status(target) {
			const status = await orNullWhenMissing(stat(target));
			if (status === null) return null;
			return { kind: toKind(status), size: status.size, modifiedAt: status.mtimeMs, mode: status.mode & 0o7777 };
		},
		list: listDirectory,
		resolve: resolvePath,
		makeDirectory: (directory, mode) => makeDirectories(access, path.resolve(directory), mode),
		replace: (target, content, options = {}) => replaceFile(access, target, content, options),
		replaceByPieces: (target, pieces, options = {}) => replaceFile(access, target, pieces, options),
		create: (target, content) => createFile(access, target, content),
		rename: (from, to) => rename(from, to),
		truncate: (target, length) => truncate(target, length),
		openAppend: (target) => openAppend(access, target),
		syncDirectory,
		remove,
	};
}
