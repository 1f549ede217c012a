// Lists a stored session's files for copying. Read-only: takes over and changes nothing.
import path from "node:path";
import { errorText } from "../../../base/errors.ts";
import type { DirectoryEntry, FileStatus, Files } from "../../files/port.ts";
import { isTemporaryName } from "../../files/temporaries.ts";
import { untitled } from "../title.ts";
import { readEventLines } from "./logs/event-log.ts";
import { findSession, isThere, readSummary, type SessionPaths, toSessionPaths } from "./session-directory.ts";
import { readPlanSlug } from "./state-file.ts";
import { checkSessionId, toDirectoryName, toWorkDir } from "./work-dir.ts";

export interface StoredFile {
	readonly name: string;
	readonly path: string;
	readonly size: number;
	readonly modifiedAt: number;
}

export interface FileListing {
	readonly files: readonly StoredFile[];
	/** Files that cannot be copied, with the reason. */
	readonly leftOut: readonly { readonly name: string; readonly reason: string }[];
}

export interface StoredSessionFiles extends FileListing {
	readonly title: string;
	readonly createdAt: number | null;
	readonly planSlug: string | null;
}

export async function listSessionFiles(
	files: Files,
	shareDir: string,
	spelledWorkDir: string,
	id: string,
): Promise<StoredSessionFiles | null> {
	checkSessionId(id);
	const paths = toSessionPaths(shareDir, toDirectoryName(toWorkDir(spelledWorkDir)), id);
	const found = await findSession(files, paths);
	if (!isThere(found)) return null;
	const listing = await listFiles(files, paths.directory);
	return {
		...(await describe(files, paths)),
		// A context in the layout before session directories gets the name that opening the session would give it.
		files: [...(found.contextPath === paths.oldContext ? await oldContext(files, paths) : []), ...listing.files],
		leftOut: listing.leftOut,
	};
}

/** Unreadable files are reported in the listing; the others are still copied. */
async function describe(files: Files, paths: SessionPaths): Promise<Omit<StoredSessionFiles, keyof FileListing>> {
	try {
		return {
			title: (await readSummary(files, paths)).title,
			createdAt: await readStart(files, paths.events),
			planSlug: await readPlanSlug(files, paths.directory),
		};
	} catch {
		return { title: untitled, createdAt: null, planSlug: null };
	}
}

async function oldContext(files: Files, paths: SessionPaths): Promise<StoredFile[]> {
	const status = await files.status(paths.oldContext);
	return status === null ? [] : [toStoredFile(path.basename(paths.context), paths.oldContext, status)];
}

function toStoredFile(name: string, file: string, { size, modifiedAt }: FileStatus): StoredFile {
	return { name, path: file, size, modifiedAt };
}

async function readStart(files: Files, events: string): Promise<number | null> {
	for await (const line of readEventLines(files, events)) {
		if (line.kind === "record") return line.record.at;
	}
	return null;
}

/** All files below a directory; empty if missing. Links are not followed: they may lead anywhere or form cycles. */
export async function listFiles(files: Files, root: string): Promise<FileListing> {
	const found: StoredFile[] = [];
	const leftOut: { readonly name: string; readonly reason: string }[] = [];

	const visit = async (directory: string, prefix: string): Promise<void> => {
		const entries = await files.list(directory);
		entries.sort((one, other) => (one.name < other.name ? -1 : 1));
		const resolved = await files.resolve(directory);
		for (const { name, kind } of entries) {
			// File history contains copies of arbitrary work directory files.
			if (isTemporaryName(name) || (prefix === "" && name === "file-history")) continue;
			const entry = { name: prefix + name, path: path.join(directory, name), kind };
			const reason = await take(entry, path.join(resolved, name)).catch(errorText);
			if (reason !== null) leftOut.push({ name: entry.name, reason });
		}
	};
	/** Returns why the file cannot be copied, or null. Without links its path resolves to `expected`. */
	const take = async (
		{ name, path: entry, kind }: DirectoryEntry & { readonly path: string },
		expected: string,
	): Promise<string | null> => {
		if ((await files.resolve(entry)) !== expected) return "a symbolic link";
		if (kind === "other") return "neither a file nor a directory";
		if (kind === "directory") {
			await visit(entry, `${name}/`);
			return null;
		}
		const status = await files.status(entry);
		// Otherwise it was removed since the directory was read.
		if (status !== null) found.push(toStoredFile(name, entry, status));
		return null;
	};

	if ((await files.status(root))?.kind === "directory") await visit(root, "");
	return { files: found, leftOut };
}
