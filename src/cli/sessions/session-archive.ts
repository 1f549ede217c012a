import path from "node:path";
import { systemClock } from "../../base/clock.ts";
import { errorText } from "../../base/errors.ts";
import { silentLog } from "../../base/log.ts";
import { protocolVersion } from "../../formats/protocol-version.ts";
import type { Place } from "../../host/place.ts";
import { productVersion } from "../../host/product.ts";
import type { Files } from "../../ports/files/port.ts";
import { createDiskStore } from "../../ports/store/disk/disk-store.ts";
import { type FileListing, listFiles, listSessionFiles, type StoredFile } from "../../ports/store/disk/stored-files.ts";
import { withoutPrefix } from "./session-prefix.ts";
import { type ArchiveEntry, archiveLimit, entryLimit } from "./zip-archive.ts";

export class ExportFailure extends Error {}

export interface ArchivePlace extends Place {
	readonly files: Files;
	readonly shareDir: string;
	/** The share directory with the sessions, if different. */
	readonly storeDir?: string;
	readonly executableName: string;
	readonly signal: AbortSignal;
}

export interface ArchivedSession extends FileListing {
	readonly id: string;
	readonly workDir: string;
	readonly title: string;
	readonly createdAt: number | null;
}

/** Finds the session by id, or the last one in the current directory, with all its files. Throws ExportFailure. */
export async function findArchivedSession(wanted: string | null, place: ArchivePlace): Promise<ArchivedSession> {
	const { files, currentDir, executableName } = place;
	const shareDir = place.storeDir ?? place.shareDir;
	const store = createDiskStore({ files, shareDir, log: silentLog, clock: systemClock, protocolVersion });
	const named = wanted ?? (await store.lastSessionId(currentDir));
	if (named === null) {
		throw new ExportFailure(
			`There is no session in ${currentDir} yet. Go to the directory that you worked in, or name a session: ${executableName} export SESSION_ID`,
		);
	}
	// A session's own id may begin with kimi-code's prefix.
	const bare = withoutPrefix(named);
	const places = [named, ...(bare === null ? [] : [bare])].flatMap((id) => [
		{ id, where: async () => currentDir },
		{ id, where: () => store.workDirOf(id) },
	]);
	for (const { id, where } of places) {
		const workDir = await where();
		const found = workDir === null ? null : await listSessionFiles(files, shareDir, workDir, id);
		if (workDir === null || found === null) continue;
		const listings = [
			found,
			...(found.planSlug === null ? [] : [await listPlan(found.planSlug, place)]),
			await listLogs(place),
		];
		const session = {
			id,
			workDir,
			title: found.title,
			createdAt: found.createdAt,
			files: withNamesOfTheirOwn(listings.flatMap((listing) => listing.files)),
			leftOut: listings.flatMap((listing) => listing.leftOut),
		};
		checkSize(session);
		return session;
	}
	throw new ExportFailure(
		`There is no session ${named} in ${currentDir}, nor in another directory that kimi.json of ${shareDir} lists. Sessions are stored below ${path.join(shareDir, "sessions")}; in directories named after their ids.`,
	);
}

/** The plan of a session in plan mode; also searches the directory of older versions. */
async function listPlan(slug: string, { files, shareDir, home }: ArchivePlace): Promise<FileListing> {
	for (const directory of [path.join(shareDir, "plans"), path.join(home, ".kimi", "plans")]) {
		const found = await listChosen(files, directory, (name) => name === `${slug}.md`);
		if (found.files.length + found.leftOut.length > 0) return found;
	}
	return { files: [], leftOut: [] };
}

const listLogs = ({ files, shareDir }: ArchivePlace): Promise<FileListing> =>
	listChosen(files, path.join(shareDir, "logs"), (name) => /^[^/]+\.log$/.test(name));

async function listChosen(files: Files, directory: string, accepts: (name: string) => boolean): Promise<FileListing> {
	const folder = path.basename(directory);
	const choose = <T extends { readonly name: string }>(items: readonly T[]) =>
		items.filter(({ name }) => accepts(name)).map((item) => ({ ...item, name: `${folder}/${item.name}` }));
	try {
		const listing = await listFiles(files, directory);
		return { files: choose(listing.files), leftOut: choose(listing.leftOut) };
	} catch (thrown) {
		return { files: [], leftOut: [{ name: folder, reason: errorText(thrown) }] };
	}
}

const manifestName = "manifest.json";

function withNamesOfTheirOwn(files: readonly StoredFile[]): StoredFile[] {
	const taken = new Set([manifestName]);
	return files.map((file) => {
		let { name } = file;
		for (let number = 2; taken.has(name); number += 1) name = `${file.name}~${number}`;
		taken.add(name);
		return { ...file, name };
	});
}

function checkSize({ id, files }: ArchivedSession): void {
	const size = files.reduce((sum, file) => sum + file.size, 0);
	if (size <= archiveLimit && files.length < entryLimit) return;
	throw new ExportFailure(
		`The session ${id} has ${files.length} files of ${Math.round(size / 1_000_000)} MB in all: more than a ZIP file can hold.`,
	);
}

export async function* toEntries(
	session: ArchivedSession,
	leftOut: { readonly name: string; readonly reason: string }[],
	exportedAt: number,
	{ files, signal }: ArchivePlace,
): AsyncGenerator<ArchiveEntry> {
	const written: { readonly path: string; size: number }[] = [];
	for (const file of session.files) {
		// Open the file before its entry begins: a started entry cannot be removed.
		const reason = await files.readRange(file.path, 0, 1).then((start) => start ?? "removed meanwhile", errorText);
		if (typeof reason === "string") {
			leftOut.push({ name: file.name, reason });
			continue;
		}
		const record = { path: file.name, size: 0 };
		written.push(record);
		yield { name: file.name, modifiedAt: file.modifiedAt, pieces: readFile(file, record, files, signal) };
	}
	const manifest = {
		format_version: 1,
		session_id: session.id,
		title: session.title,
		work_dir: session.workDir,
		created_at: toIsoTime(session.createdAt),
		exported_at: toIsoTime(exportedAt),
		agentwire_version: productVersion,
		files: written,
		left_out: leftOut.map(({ name, reason }) => ({ path: name, reason })),
	};
	const text = Buffer.from(`${JSON.stringify(manifest, null, 2)}\n`);
	yield { name: manifestName, modifiedAt: exportedAt, pieces: only(text) };
}

/** Counts the bytes in `record`. */
async function* readFile(
	{ path: file, size }: StoredFile,
	record: { size: number },
	files: Files,
	signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
	try {
		for await (const piece of files.readPieces(file)) {
			signal.throwIfAborted();
			// At most the initial size: the file may grow faster than it is read.
			const bytes = piece.subarray(0, size - record.size);
			record.size += bytes.length;
			yield bytes;
			if (record.size === size) return;
		}
	} catch (thrown) {
		if (signal.aborted) throw thrown;
		throw new ExportFailure(`${file} cannot be read: ${errorText(thrown)}`, { cause: thrown });
	}
}

async function* only(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
	yield bytes;
}

function toIsoTime(milliseconds: number | null): string | null {
	const time = milliseconds === null ? null : new Date(milliseconds);
	return time === null || Number.isNaN(time.getTime()) ? null : time.toISOString();
}
