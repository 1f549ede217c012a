// Writes a temporary file in the same directory and renames it, or writes in place if the caller permits it.
import { constants, type Stats } from "node:fs";
import { chmod, readlink, rm } from "node:fs/promises";
import path from "node:path";
import { isSystemError, systemErrorCode } from "../../base/errors.ts";
import { type Access, newFileMode, orNullWhenMissing, privateFileMode } from "./disk-access.ts";
import { linkStatusOf, type OpenFile, openFile, renameFile, resolvedPathOf, statusOf } from "./file-calls.ts";
import { preventsRename, writeInPlace } from "./in-place.ts";
import type { ReplaceOptions } from "./port.ts";
import { othersMode } from "./private-paths.ts";
import { temporaryName } from "./temporaries.ts";

const linkLimit = 40;

/** Writes all bytes: one write may accept fewer than it was given. */
export async function writeWhole(handle: OpenFile, bytes: Uint8Array): Promise<void> {
	let offset = 0;
	while (offset < bytes.length) offset += await handle.write(bytes, offset, bytes.length - offset);
}

export async function closingOnFailure<T>(handle: OpenFile, work: Promise<T>): Promise<T> {
	try {
		return await work;
	} catch (thrown) {
		await handle.close().catch(() => undefined);
		throw thrown;
	}
}

async function naming(file: string, work: Promise<void>): Promise<void> {
	try {
		await work;
	} catch (thrown) {
		if (isSystemError(thrown) && !("path" in thrown)) {
			thrown.message = `${thrown.message} '${file}'`;
			Object.assign(thrown, { path: file });
		}
		throw thrown;
	}
}

/** Errors for directories that may be written but not read, and for file systems without directory sync: ignored. */
const unsyncable: ReadonlySet<string | null> = new Set(["EACCES", "EINVAL", "EISDIR", "ENOTSUP"]);

export async function syncDirectory(directory: string): Promise<void> {
	try {
		const handle = await openFile(directory, "r");
		try {
			await handle.sync();
		} finally {
			await handle.close();
		}
	} catch (thrown) {
		if (!unsyncable.has(systemErrorCode(thrown))) throw thrown;
	}
}

/** Returns the final target of a write to `start`: follows links manually, because the last one may be dangling. */
async function followLinks(start: string): Promise<string> {
	let current = path.resolve(start);
	for (let count = 0; count < linkLimit; count += 1) {
		const status = await orNullWhenMissing(linkStatusOf(current));
		if (status === null || !status.isSymbolicLink()) return current;
		current = path.resolve(await resolvedPathOf(path.dirname(current)), await readlink(current));
	}
	throw Object.assign(new Error(`ELOOP: too many symbolic links, '${start}'`), { code: "ELOOP", path: start });
}

interface Place {
	readonly directory: string;
	close(): Promise<void>;
}

const placeOnly = 0o10000000;

/** Holds the directory itself, so that all parts of a replacement happen in it even if its path is replaced. */
async function holdDirectory(directory: string): Promise<Place> {
	const byPath = { directory, close: async () => undefined };
	if (process.platform !== "linux") return byPath;
	const handle = await openFile(directory, placeOnly | constants.O_DIRECTORY);
	const held = `/proc/self/fd/${handle.descriptor}`;
	const named = await closingOnFailure(handle, orNullWhenMissing(readlink(held)));
	if (named !== null) return { directory: held, close: () => handle.close() };
	await handle.close();
	return byPath;
}

/** Throws if a link leads to the destination, or if its directory, which is held, is no longer at that path. */
async function checkWithoutLinks(destination: string, held: string): Promise<void> {
	const isLink =
		(await orNullWhenMissing(linkStatusOf(path.join(held, path.basename(destination)))))?.isSymbolicLink() === true;
	if (!isLink && (await resolvedPathOf(held)) === path.dirname(destination)) return;
	const message = `ELOOP: a link was put in the way, '${destination}'`;
	throw Object.assign(new Error(message), { code: "ELOOP", path: destination });
}

/** Null means the default mode of a new file. A file outside that is reached through a link keeps its mode. */
function modeOfReplacement(
	{ privacyOf }: Access,
	target: string,
	destination: string,
	old: number | null,
	given: number | undefined,
): number | null {
	const usual = given ?? (old === null ? null : old & 0o7777);
	if (privacyOf(path.resolve(target)) !== "private") return usual;
	if (usual === null) return privateFileMode;
	return destination === path.resolve(target) ? usual & ~othersMode : usual;
}

/** Preserves user and group as far as possible; returns the mode. One group's permissions must not pass to another. */
async function takeOver(handle: OpenFile, old: Stats, mode: number): Promise<number> {
	const { uid, gid } = await handle.status();
	if (uid === old.uid && gid === old.gid) return mode;
	const give = (user: number, group: number) =>
		handle.changeOwner(user, group).then(
			() => true,
			() => false,
		);
	if (await give(old.uid, old.gid)) return mode;
	if (gid === old.gid || (await give(-1, old.gid))) return mode;
	return (mode & ~0o070) | (((mode & 0o007) << 3) & mode);
}

export async function replaceFile(
	access: Access,
	target: string,
	content: Content,
	options: ReplaceOptions,
): Promise<void> {
	if (options.withoutLinks !== true) {
		const destination = await followLinks(target);
		await access.closing.closeDirectories(path.dirname(destination));
		return await replaceAt(destination, access, target, content, options);
	}
	const destination = path.resolve(target);
	await access.closing.closeDirectories(path.dirname(destination));
	const { directory, close } = await holdDirectory(path.dirname(destination));
	try {
		const check = () => checkWithoutLinks(destination, directory);
		await check();
		await replaceAt(path.join(directory, path.basename(destination)), access, target, content, options, check);
	} catch (thrown) {
		// The name of the held directory means nothing to the user.
		if (thrown instanceof Error) thrown.message = thrown.message.replaceAll(directory, path.dirname(destination));
		throw thrown;
	} finally {
		await close();
	}
}

type Content = string | Uint8Array | AsyncIterable<Uint8Array>;

function isWhole(content: Content): content is string | Uint8Array {
	return typeof content === "string" || content instanceof Uint8Array;
}

function toBytes(content: string | Uint8Array): Uint8Array {
	return typeof content === "string" ? Buffer.from(content) : content;
}

/** `check` throws if the file must not be put at the destination after all. */
async function replaceAt(
	destination: string,
	access: Access,
	target: string,
	content: Content,
	options: ReplaceOptions,
	check: () => Promise<void> = async () => undefined,
): Promise<void> {
	const directory = path.dirname(destination);
	const shown = options.withoutLinks === true ? path.resolve(target) : destination;
	const old = await orNullWhenMissing(statusOf(destination));
	const inPlace = async (thrown: unknown): Promise<void> => {
		if (options.inPlaceIfNeeded !== true || old?.isFile() !== true || !isWhole(content)) throw thrown;
		if (thrown !== null && !preventsRename(thrown)) throw thrown;
		await check();
		await naming(shown, writeInPlace(destination, toBytes(content), options.sync === true));
	};
	const mode = modeOfReplacement(access, target, shown, old?.mode ?? null, options.mode);
	// Short, because appending to a long target name could exceed the limit.
	const temporary = path.join(directory, temporaryName());
	let isCreated = false;
	try {
		// A private file is private from its first byte on, and only its own group ever reads it.
		const handle = await openFile(temporary, "wx", mode === null ? newFileMode : mode & 0o700);
		isCreated = true;
		try {
			const write = (bytes: Uint8Array) => naming(shown, writeWhole(handle, bytes));
			if (isWhole(content)) await write(toBytes(content));
			else for await (const piece of content) await write(piece);
			const isOurs = options.mode !== undefined || access.privacyOf(path.resolve(target)) === "private";
			const allowed = old === null || mode === null || isOurs ? mode : await takeOver(handle, old, mode);
			// No common umask removes the owner's permissions from the mode used to open it.
			if (allowed !== null && allowed !== privateFileMode) await chmod(temporary, allowed);
			if (options.sync === true) await naming(shown, handle.sync());
		} finally {
			await handle.close();
		}
		await check();
		if (options.inPlaceIfNeeded === true && old !== null && old.nlink > 1) await inPlace(null);
		else await renameFile(temporary, destination).catch(inPlace);
		// If the file was written in place, the temporary file contained its new content until here.
		if (options.inPlaceIfNeeded === true) await rm(temporary, { force: true });
	} catch (thrown) {
		if (!isCreated) return await inPlace(thrown);
		// Report the first failure; a disk that cannot write may be unable to remove as well.
		await rm(temporary, { force: true }).catch(() => undefined);
		throw thrown;
	}
	if (options.sync === true) await syncDirectory(directory);
}
