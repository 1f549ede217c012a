// Used when no rename is possible: allocates space first, and restores the old content on failure.
import { constants } from "node:fs";
import { systemErrorCode } from "../../base/errors.ts";
import { type OpenFile, openFile } from "./file-calls.ts";

/** A mount point, a read-only directory, another user's sticky directory, or another file system. */
const renameFailures: ReadonlySet<string> = new Set(["EBUSY", "EACCES", "EPERM", "EROFS", "EXDEV"]);

export function preventsRename(thrown: unknown): boolean {
	return renameFailures.has(systemErrorCode(thrown) ?? "");
}

/** Neither creates the file nor follows a link, and does not wait for the other end of a pipe. */
const flags = constants.O_RDWR | constants.O_NOFOLLOW | constants.O_NONBLOCK | constants.O_NOCTTY;

/** For files of a few dozen megabytes. Rejects with Node's errors, and restores the old content if possible. */
export async function writeInPlace(target: string, content: Uint8Array, sync: boolean): Promise<void> {
	const handle = await openFile(target, flags);
	try {
		const status = await handle.status();
		if (!status.isFile()) throw Object.assign(new Error(`EINVAL: not a regular file, '${target}'`), { code: "EINVAL" });
		const old = Buffer.alloc(status.size);
		const length = await readAt(handle, old);
		const tail = content.subarray(Math.min(length, content.length));
		try {
			// A full disk fails here, before anything is overwritten.
			if (tail.length > 0) await writeAt(handle, tail, length);
			await writeAt(handle, content.subarray(0, content.length - tail.length), 0);
			await handle.truncate(content.length);
			if (sync) await handle.sync();
		} catch (thrown) {
			await writeAt(handle, old.subarray(0, length), 0).catch(() => undefined);
			await handle.truncate(length).catch(() => undefined);
			throw thrown;
		}
	} finally {
		await handle.close();
	}
}

async function readAt(handle: OpenFile, bytes: Buffer): Promise<number> {
	let length = 0;
	while (length < bytes.length) {
		const count = await handle.read(bytes, length, bytes.length - length, length);
		if (count === 0) break;
		length += count;
	}
	return length;
}

async function writeAt(handle: OpenFile, bytes: Uint8Array, position: number): Promise<void> {
	let written = 0;
	while (written < bytes.length) {
		written += await handle.write(bytes, written, bytes.length - written, position + written);
	}
}
