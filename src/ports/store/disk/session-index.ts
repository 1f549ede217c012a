// `kimi.json`: which work directories have sessions, and the last session of each. Other programs read and write it
// too, so every change re-reads it under a lock and preserves foreign content.
import path from "node:path";
import * as v from "valibot";
import { createBatchedWork } from "../../../base/batched-work.ts";
import type { Clock } from "../../../base/clock.ts";
import { errorText } from "../../../base/errors.ts";
import { isRecord, parseJsonFile } from "../../../base/json.ts";
import type { Log } from "../../../base/log.ts";
import { withLock } from "../../files/path-lock.ts";
import type { FileStatus, Files } from "../../files/port.ts";
import { showsLaterChanges } from "./file-times.ts";
import { damagedPath } from "./logs/damaged-file.ts";
import { withStorageError } from "./logs/storage-error.ts";
import { isWorkDir } from "./work-dir.ts";

export interface SessionIndex {
	/** Adds the work dir unless it is listed. Fails `storage-failed`. */
	register(workDir: string): Promise<void>;
	/**
	 * Null when there is none; undefined when the work dir is not listed, or the file cannot be read. Of a damaged file, what is whole
	 * counts, here and for the other calls.
	 */
	lastSessionId(workDir: string): Promise<string | null | undefined>;
	/** The listed work dirs, in their order; none when the file cannot be read. */
	workDirs(): Promise<readonly string[]>;
	/** Sets the last session of the work dir, adding it if necessary. Fails `storage-failed`. */
	setLastSession(workDir: string, id: string): Promise<void>;
	/**
	 * The same for a session that need not be found by this alone: many sessions in turns change the file at most once a
	 * second. Resolves at once when the change waits for its second. Fails `storage-failed` when it did not have to wait.
	 */
	setLastSessionSoon(workDir: string, id: string): Promise<void>;
	/** Clears the last session if it is this one. Fails `storage-failed`. */
	clearLastSession(workDir: string, id: string): Promise<void>;
	/**
	 * Reads what a change would read, so that it need not if nothing has changed by then. Nothing is read that was changed just
	 * now: it would be read again. Fails `storage-failed`.
	 */
	warmUp(): Promise<void>;
	/** Writes what waits. Never rejects: a failure is logged. */
	settle(): Promise<void>;
}

/** Milliseconds between two changes that need not be written at once. */
const soon = 1000;

const localEntrySchema = v.looseObject({
	path: v.string(),
	kaos: v.optional(v.literal("local"), "local"),
	last_session_id: v.fallback(v.nullable(v.string()), null),
});
type LocalEntry = v.InferOutput<typeof localEntrySchema>;

/** `entries` may contain foreign values; they are written back unchanged. */
interface IndexContent {
	readonly others: Record<string, unknown>;
	readonly entries: readonly unknown[];
}

/** Null when nothing changes: then nothing is written. */
type Change = (content: IndexContent) => IndexContent | null;

const counted = ({ entries }: IndexContent) => ({ workDirs: entries.length });

/** The changes in order; the same content when none of them changes anything. */
function applied(changes: readonly Change[], content: IndexContent): IndexContent {
	return changes.reduce((changed, change) => change(changed) ?? changed, content);
}

const emptyContent: IndexContent = { others: {}, entries: [] };

/** Null when the bytes are not a valid index. */
function parseIndex(bytes: Buffer): IndexContent | null {
	let value: unknown;
	try {
		value = parseJsonFile(bytes);
	} catch {
		return null;
	}
	if (!isRecord(value)) return null;
	const { work_dirs: entries = [], ...others } = value;
	return Array.isArray(entries) ? { others, entries } : null;
}

/**
 * What is whole in a damaged index: another program may have been stopped while it wrote the file, and the sessions of a directory that is
 * not listed are found from nowhere but there.
 */
function salvage(bytes: Buffer): IndexContent {
	const text = bytes.toString("utf8");
	const whole = [...text.matchAll(/\{[^{}]*\}/g)].map(([entry]) => entry);
	// Of an entry that is cut off, the path is enough.
	const [, cutPath] = /"path"\s*:\s*("(?:[^"\\]|\\.)*")/.exec(text.slice(text.lastIndexOf("}") + 1)) ?? [];
	const texts = cutPath === undefined ? whole : [...whole, `{"path":${cutPath}}`];
	const entries = texts.flatMap((each) => {
		try {
			const { success, output } = v.safeParse(localEntrySchema, parseJsonFile(Buffer.from(each)));
			return success && isWorkDir(output.path) ? [output] : [];
		} catch {
			return [];
		}
	});
	return { others: {}, entries };
}

function toLocalEntry(entry: unknown, workDir: string): LocalEntry | null {
	const parsed = v.safeParse(localEntrySchema, entry);
	return parsed.success && parsed.output.path === workDir ? parsed.output : null;
}

function findEntry(content: IndexContent, workDir: string): LocalEntry | null {
	for (const entry of content.entries) {
		const found = toLocalEntry(entry, workDir);
		if (found !== null) return found;
	}
	return null;
}

function withLastSession(content: IndexContent, workDir: string, id: string | null): IndexContent {
	if (findEntry(content, workDir) === null) {
		return { ...content, entries: [...content.entries, { path: workDir, kaos: "local", last_session_id: id }] };
	}
	const entries = content.entries.map((entry) => {
		const found = toLocalEntry(entry, workDir);
		return found === null ? entry : { ...found, last_session_id: id };
	});
	return { ...content, entries };
}

function toText({ others, entries }: IndexContent): string {
	return JSON.stringify({ work_dirs: entries, ...others }, null, 2);
}

function isSame(one: FileStatus, other: FileStatus): boolean {
	return one.modifiedAt === other.modifiedAt && one.size === other.size;
}

/** The index of a share directory, which need not exist yet. */
export function createSessionIndex(options: {
	readonly files: Files;
	readonly shareDir: string;
	readonly log: Log;
	readonly clock: Clock;
}): SessionIndex {
	const { files, shareDir, log } = options;
	const indexPath = path.join(shareDir, "kimi.json");

	/** The content of the file, and its bytes when it is damaged. */
	const read = async (): Promise<{ readonly content: IndexContent; readonly damaged: Buffer | null }> => {
		const bytes = await files.read(indexPath);
		if (bytes === null) return { content: emptyContent, damaged: null };
		const content = parseIndex(bytes);
		return content === null ? { content: salvage(bytes), damaged: bytes } : { content, damaged: null };
	};
	/** The same where nothing is changed: a file that cannot be read is as an empty one. */
	const look = async (): Promise<IndexContent> => {
		const { content, damaged } = await read().catch(() => ({ content: emptyContent, damaged: true }));
		if (damaged !== null) log.warn("the session index could not be read", { path: indexPath, ...counted(content) });
		return content;
	};

	/** What cannot be read stays for whoever wants to look at it. */
	const copyAside = async (bytes: Buffer, content: IndexContent): Promise<void> => {
		const aside = await damagedPath(files, indexPath);
		await files.replace(aside, bytes, { sync: true });
		const found = { path: indexPath, copiedTo: aside, ...counted(content) };
		log.warn("the session index could not be read and is written anew", found);
	};

	/** The index as it was read last, and the file then. */
	let known: { readonly status: FileStatus; readonly content: IndexContent } | null = null;
	/**
	 * The same as `read`, for the decision that nothing changes: a file that looks as it did is not read again. What was changed
	 * just now is not remembered, since a later change could look the same, and `ahead` of a change not even read.
	 */
	const readUnlocked = async (ahead = false): Promise<IndexContent | null> => {
		const lookedAt = options.clock.now();
		const status = await files.status(indexPath);
		if (status === null) return emptyContent;
		if (known !== null && isSame(status, known.status)) return known.content;
		const isSettled = showsLaterChanges(status.modifiedAt, lookedAt);
		if (ahead && !isSettled) return null;
		const { content, damaged } = await read();
		known = damaged !== null || !isSettled ? null : { status, content };
		return damaged === null ? content : null;
	};
	/** Sessions are loaded together: one of them reads for all. */
	let warming: Promise<void> | null = null;

	/** Applies the changes in order, with at most one replacement of the file. */
	const write = async (changes: readonly Change[]): Promise<void> => {
		const before = await readUnlocked();
		if (before !== null && applied(changes, before) === before) return;
		await files.makeDirectory(shareDir);
		await withLock(options, indexPath, async () => {
			const { content, damaged } = await read();
			if (damaged !== null) await copyAside(damaged, content);
			const changed = applied(changes, content);
			if (damaged !== null || changed !== content) await files.replace(indexPath, toText(changed), { sync: true });
		});
	};

	/** Changes requested during a write are written together: sessions are many, the file is one. */
	const update = createBatchedWork<Change>((changes) => withStorageError(indexPath, () => write(changes)));

	/** By work dir: the last sessions that wait to be written. */
	const later = new Map<string, string>();
	/** By work dir: the last session that was written here. */
	const written = new Map<string, string>();
	let withdrawLater: (() => void) | null = null;
	let markedAt = Number.NEGATIVE_INFINITY;

	const toLast =
		(workDir: string, id: string): Change =>
		(content) =>
			findEntry(content, workDir)?.last_session_id === id ? null : withLastSession(content, workDir, id);
	const setLast = async (workDir: string, id: string): Promise<void> => {
		later.delete(workDir);
		written.set(workDir, id);
		markedAt = options.clock.monotonic();
		await update(toLast(workDir, id));
	};

	const writeLater = async (): Promise<void> => {
		const changes = [...later].map(([workDir, id]) => toLast(workDir, id));
		for (const [workDir, id] of later) written.set(workDir, id);
		later.clear();
		markedAt = options.clock.monotonic();
		try {
			await update((content) => applied(changes, content));
		} catch (thrown) {
			log.warn("the last session could not be written", { path: indexPath, cause: errorText(thrown) });
		}
	};
	let writing: Promise<void> = Promise.resolve();
	const settle = (): Promise<void> => {
		withdrawLater?.();
		withdrawLater = null;
		// Changes are written in order: with the last of them those before are written too.
		if (later.size > 0) writing = writeLater();
		return writing;
	};

	return {
		register: (workDir) =>
			update((content) => (findEntry(content, workDir) === null ? withLastSession(content, workDir, null) : null)),
		async lastSessionId(workDir) {
			await settle();
			return findEntry(await look(), workDir)?.last_session_id;
		},
		async workDirs() {
			return (await look()).entries.flatMap((entry) => {
				const parsed = v.safeParse(localEntrySchema, entry);
				return parsed.success && isWorkDir(parsed.output.path) ? [parsed.output.path] : [];
			});
		},
		setLastSession: setLast,
		async setLastSessionSoon(workDir, id) {
			const wait = markedAt + soon - options.clock.monotonic();
			// Where no other session of this process takes turns, the file mostly says so already; and where another process has
			// written it, this must not come late.
			const isAlone = written.get(workDir) === id && !later.has(workDir);
			if (isAlone || (wait <= 0 && withdrawLater === null)) return await setLast(workDir, id);
			later.set(workDir, id);
			withdrawLater ??= options.clock.after(wait, () => void settle(), true);
		},
		async clearLastSession(workDir, id) {
			if (later.get(workDir) === id) later.delete(workDir);
			await update((content) =>
				findEntry(content, workDir)?.last_session_id === id ? withLastSession(content, workDir, null) : null,
			);
		},
		warmUp() {
			warming ??= withStorageError(indexPath, async () => void (await readUnlocked(true))).finally(() => {
				warming = null;
			});
			return warming;
		},
		settle,
	};
}
