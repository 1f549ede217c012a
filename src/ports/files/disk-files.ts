// Atomic replacement and ordered appends. Errors are Node's own; callers retry, lock and explain.
import { type BigIntStats, constants, type Stats } from "node:fs";
import { mkdir, opendir, readlink, rm, truncate } from "node:fs/promises";
import path from "node:path";
import { systemErrorCode } from "../../base/errors.ts";
import { type Access, newFileMode, orNullWhenMissing, privateFileMode } from "./disk-access.ts";
import { closingOnFailure, replaceFile, syncDirectory, writeWhole } from "./disk-replacement.ts";
import {
	exactLinkStatusOf,
	type OpenFile,
	openFile,
	removeFile,
	renameFile,
	resolvedPathOf,
	statusOf,
} from "./file-calls.ts";
import type { Admit, AppendFile, DirectoryEntry, FileStatus, Files } from "./port.ts";
import { createClosing, openToAll, type PrivacyOf } from "./private-paths.ts";
import { openReadable, type ReadableFile, readOn, readSome, readWhole } from "./readable-file.ts";

const listedAtOnce = 500;
const privateDirectoryMode = 0o700;

/** Writing to anything but a regular file fails instead of blocking. */
const appendFlags =
	constants.O_RDWR | constants.O_APPEND | constants.O_CREAT | constants.O_NONBLOCK | constants.O_NOCTTY;

interface Kinds {
	isFile(): boolean;
	isDirectory(): boolean;
}

function toFileStatus(stats: Stats): FileStatus {
	const { size, mtimeMs: modifiedAt, mode, uid: owner } = stats;
	return { kind: toKind(stats), size, modifiedAt, mode: mode & 0o7777, owner };
}

function toKind(entry: Kinds): FileStatus["kind"] {
	if (entry.isFile()) return "file";
	return entry.isDirectory() ? "directory" : "other";
}

/** How often a file is reopened that was replaced or removed while it was being opened. */
const openingLimit = 200;

/** Checks the opened file by its resolved path; false if a link changed in between. */
async function isAdmitted(
	handle: OpenFile,
	opened: BigIntStats,
	target: string,
	admits: readonly Admit[],
): Promise<boolean> {
	// A pipe that a shell substitutes for a file has no path.
	if (!opened.isFile()) return true;
	const admitAt = async (resolved: string): Promise<boolean> => {
		for (const admit of admits) await admit(resolved);
		const found = await orNullWhenMissing(exactLinkStatusOf(resolved));
		return found !== null && opened.dev === found.dev && opened.ino === found.ino;
	};
	// In another process's mount namespace the path may be another.
	const own = await handle.resolvedPath();
	if (own !== null && (await admitAt(own))) return true;
	const resolved = await orNullWhenMissing(resolvedPathOf(target));
	return resolved !== null && (await admitAt(resolved));
}

async function openToRead({ privacyOf, closing, admits }: Access, target: string): Promise<ReadableFile | null> {
	for (let count = 0; count < openingLimit; count += 1) {
		const file = await orNullWhenMissing(openReadable(target));
		if (file === null) return null;
		let isAdmissible = false;
		try {
			const isPrivate = privacyOf(path.resolve(target)) === "private";
			if (isPrivate || admits.length > 0) {
				const opened = await file.handle.exactStatus();
				if (isPrivate) await closing.closeFile(file.handle, target, opened);
				isAdmissible = admits.length === 0 || (await isAdmitted(file.handle, opened, target, admits));
			} else isAdmissible = true;
			if (isAdmissible) return file;
		} finally {
			if (!isAdmissible) await file.handle.close();
		}
	}
	throw Object.assign(new Error(`ESTALE: replaced while it was opened, '${target}'`), { code: "ESTALE", path: target });
}

async function withReadable<T>(
	access: Access,
	target: string,
	work: (file: ReadableFile) => Promise<T>,
): Promise<T | null> {
	const file = await openToRead(access, target);
	if (file === null) return null;
	try {
		return await work(file);
	} finally {
		await file.handle.close();
	}
}

function readRange(access: Access, target: string, offset: number, length: number): Promise<Buffer | null> {
	return withReadable(access, target, async (file) => {
		const bytes = Buffer.alloc(length);
		let filled = 0;
		while (filled < length) {
			const count = await readSome(file, bytes, filled, offset + filled);
			if (count === 0) break;
			filled += count;
		}
		return bytes.subarray(0, filled);
	});
}

async function* readPieces(access: Access, target: string): AsyncGenerator<Buffer> {
	const file = await openToRead(access, target);
	if (file === null) return;
	try {
		yield* readOn(file, target);
	} finally {
		await file.handle.close();
	}
}

async function listDirectory(directory: string): Promise<DirectoryEntry[]> {
	const entries: DirectoryEntry[] = [];
	// In chunks: reading a very large directory at once would block other calls.
	for await (const entry of await opendir(directory, { bufferSize: listedAtOnce })) {
		const status = entry.isSymbolicLink() ? await statusOf(path.join(directory, entry.name)).catch(() => null) : entry;
		entries.push({ name: entry.name, kind: status === null ? "other" : toKind(status) });
	}
	// Stable order: listings become part of prompts.
	return entries.sort((one, other) => (one.name < other.name ? -1 : 1));
}

async function resolvePath(start: string): Promise<string> {
	const absolute = path.resolve(start);
	let tail = "";
	for (let head = absolute; ; head = path.dirname(head)) {
		const resolved = await orNullWhenMissing(resolvedPathOf(head));
		if (resolved !== null) return tail === "" ? resolved : path.join(resolved, tail);
		const target = await orNullWhenMissing(readlink(head));
		// A dangling link matters too: a file created through it would appear at its target.
		if (target !== null) return path.join(await resolvePath(path.resolve(path.dirname(head), target)), tail);
		if (head === path.dirname(head)) return absolute;
		tail = path.join(path.basename(head), tail);
	}
}

async function createFile({ privacyOf, closing }: Access, target: string, content: string): Promise<FileStatus | null> {
	const isPrivate = privacyOf(path.resolve(target)) === "private";
	if (isPrivate) await closing.closeDirectories(path.dirname(path.resolve(target)));
	let handle: OpenFile;
	try {
		handle = await openFile(target, "wx", isPrivate ? privateFileMode : newFileMode);
	} catch (thrown) {
		if (systemErrorCode(thrown) === "EEXIST") return null;
		throw thrown;
	}
	try {
		await writeWhole(handle, Buffer.from(content));
		const status = toFileStatus(await handle.status());
		await handle.close();
		return status;
	} catch (thrown) {
		await handle.close().catch(() => undefined);
		await rm(target, { force: true }).catch(() => undefined);
		throw thrown;
	}
}

/** Truncates the remains of a failed append, unless another writer has appended since. */
async function cutRemainder(handle: OpenFile, remainder: Buffer): Promise<void> {
	const { size } = await handle.status();
	const start = size - remainder.length;
	if (remainder.length === 0 || start < 0) return;
	const found = Buffer.alloc(remainder.length);
	const count = await handle.read(found, 0, found.length, start);
	if (count === found.length && found.equals(remainder)) await handle.truncate(start);
}

async function openAppend({ privacyOf, closing }: Access, target: string): Promise<AppendFile> {
	const isPrivate = privacyOf(path.resolve(target)) === "private";
	if (isPrivate) await closing.closeDirectories(path.dirname(path.resolve(target)));
	const handle = await openFile(target, appendFlags, isPrivate ? privateFileMode : newFileMode);
	if (isPrivate) {
		const restrict = async () => closing.closeFile(handle, target, await handle.exactStatus());
		await closingOnFailure(handle, restrict());
	}
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
				written += await handle.write(bytes, written, bytes.length - written);
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
					const count = await handle.write(bytes, done, bytes.length - done);
					done += count;
					written += count;
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
		sync: () => inOrder(() => handle.syncContent()),
		close: () => inOrder(() => handle.close()),
	};
}

/** Node's own recursive `mkdir` never ends where creation fails as if the parent were missing, as below `/proc`. */
async function makeDirectories(access: Access, directory: string, mode?: number): Promise<boolean> {
	const isMissing = await access.closing.closeDirectories(directory);
	if (!isMissing && (await kindOf(directory)) === "directory") return false;
	const parent = path.dirname(directory);
	// Mostly the parent is there, and is looked at only where it is not.
	for (let isParentMade = parent === directory; ; isParentMade = true) {
		try {
			const privacy = access.privacyOf(directory);
			await mkdir(directory, privacy === "open" ? mode : privateDirectoryMode);
			if (privacy === "private") access.closing.noteMade(directory);
			return true;
		} catch (thrown) {
			const code = systemErrorCode(thrown);
			if (code === "ENOENT" && !isParentMade) await makeDirectories(access, parent);
			// Another process may have created it meanwhile.
			else if (code === "EEXIST" && (await kindOf(directory)) === "directory") return false;
			else throw thrown;
		}
	}
}

async function kindOf(target: string): Promise<"directory" | "other" | null> {
	try {
		return (await statusOf(target)).isDirectory() ? "directory" : "other";
	} catch (thrown) {
		if (systemErrorCode(thrown) === "ENOENT") return null;
		throw thrown;
	}
}

/** Most removals are of single files, which take one call instead of the several of `rm`. */
async function remove(target: string): Promise<void> {
	try {
		await removeFile(target);
	} catch {
		await rm(target, { recursive: true, force: true });
	}
}

/** Paths should be absolute. `privacyOf` decides which files only their owner may access. */
export function createDiskFiles(privacyOf: PrivacyOf = openToAll): Files {
	return createPort({ privacyOf, closing: createClosing(privacyOf), admits: [] });
}

function createPort(access: Access): Files {
	return {
		admitting: (admit) => createPort({ ...access, admits: [...access.admits, admit] }),
		read: (target, limit) => withReadable(access, target, (file) => readWhole(file, target, limit)),
		readRange: (target, offset, length) => readRange(access, target, offset, length),
		readPieces: (target) => readPieces(access, target),
		async status(target) {
			const status = await orNullWhenMissing(statusOf(target));
			return status === null ? null : toFileStatus(status);
		},
		list: listDirectory,
		resolve: resolvePath,
		makeDirectory: (directory, mode) => makeDirectories(access, path.resolve(directory), mode),
		replace: (target, content, options = {}) => replaceFile(access, target, content, options),
		replaceByPieces: (target, pieces, options = {}) => replaceFile(access, target, pieces, options),
		create: (target, content) => createFile(access, target, content),
		rename: renameFile,
		truncate: (target, length) => truncate(target, length),
		openAppend: (target) => openAppend(access, target),
		syncDirectory,
		remove,
	};
}
