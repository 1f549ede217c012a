import { closeSync, constants, fstatSync, openSync, readFileSync, type Stats } from "node:fs";
import { open, readlink } from "node:fs/promises";
import { errorText, isSystemError } from "../../base/errors.ts";
import type { Entry, FileEntry } from "./entry.ts";
import { contentId } from "./object-store.ts";
import { isSameStamp, look, type Seen } from "./walk.ts";

export interface ReadPath {
	readonly entry: Entry;
	readonly bytes: Buffer | null;
	readonly seen: Seen;
}

/** Never follows links or waits for a writer. */
const openFlags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

const attempts = 3;

export async function readPath(target: string, sizeLimit: number): Promise<ReadPath | null> {
	const seen = look(target);
	if (seen === null) return null;
	switch (seen.kind) {
		case "directory":
			return { entry: { kind: "directory", mode: seen.mode }, bytes: null, seen };
		case "opaque":
		case "special":
			return { entry: { kind: "special" }, bytes: null, seen };
		case "link":
			try {
				return { entry: { kind: "link", target: await readlink(target) }, bytes: null, seen };
			} catch (thrown) {
				if (isSystemError(thrown)) return null;
				throw thrown;
			}
		case "file":
			return await readFile(target, seen, sizeLimit);
	}
}

async function readFile(target: string, first: Seen, sizeLimit: number): Promise<ReadPath | null> {
	let seen = first;
	for (let attempt = 0; attempt < attempts; attempt += 1) {
		if (seen.kind !== "file") return await readPath(target, sizeLimit);
		if (seen.size > sizeLimit) return unread(seen, `it is larger than ${sizeLimit} bytes`);
		let bytes: Buffer | null;
		try {
			bytes = seen.size <= smallSize ? readSmall(target) : await readOpened(target, sizeLimit);
		} catch (thrown) {
			if (!isSystemError(thrown)) throw thrown;
			const now = look(target);
			return now === null ? null : unread(now, `it cannot be read: ${errorText(thrown)}`);
		}
		const now = look(target);
		if (now === null) return null;
		if (bytes !== null && isSameStamp(now, seen) && bytes.length === seen.size) {
			const entry: FileEntry = { kind: "file", mode: seen.mode, size: seen.size, content: contentId(bytes) };
			return { entry, bytes, seen };
		}
		seen = now;
	}
	return unread(seen, "it was being written");
}

export function unread(seen: Seen, why: string): ReadPath {
	const mark = `${seen.size}:${seen.modifiedAt}:${seen.inode}`;
	return {
		entry: { kind: "file", mode: seen.mode, size: seen.size, content: null, unread: why, mark },
		bytes: null,
		seen,
	};
}

/** Maximum bytes to read synchronously: a promise per step takes longer than reading. */
const smallSize = 128 * 1024;

function readSmall(target: string): Buffer | null {
	const descriptor = openSync(target, openFlags);
	try {
		const status = fstatSync(descriptor);
		return status.isFile() && status.size <= smallSize ? readFileSync(descriptor) : null;
	} finally {
		closeSync(descriptor);
	}
}

/** Null for a file that was replaced or exceeds the limit. */
async function readOpened(target: string, sizeLimit: number): Promise<Buffer | null> {
	const handle = await open(target, openFlags);
	try {
		const status: Stats = await handle.stat();
		if (!status.isFile() || status.size > sizeLimit) return null;
		return await handle.readFile();
	} finally {
		await handle.close();
	}
}
