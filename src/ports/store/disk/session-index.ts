// `kimi.json`, shared with other programs: work directories and last sessions. Changes re-read it under a lock and keep the rest.
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
	register(workDir: string): Promise<void>;
	/** Null for none; undefined if the directory is not listed or the file is unreadable. Uses what is intact. */
	lastSessionId(workDir: string): Promise<string | null | undefined>;
	/** The listed work directories, in order; empty if the file is unreadable. */
	workDirs(): Promise<readonly string[]>;
	setLastSession(workDir: string, id: string): Promise<void>;
	/** Like `setLastSession`, delayed by up to a second if the session changes often. */
	setLastSessionSoon(workDir: string, id: string): Promise<void>;
	clearLastSession(workDir: string, id: string): Promise<void>;
	/** Reads ahead for a change, except a file changed just now. Fails `storage-failed`. */
	warmUp(): Promise<void>;
	/** Writes delayed changes. Never rejects: logs failures. */
	settle(): Promise<void>;
}

/** Milliseconds between two changes that may be delayed. */
const soon = 1000;

const localEntrySchema = v.looseObject({
	path: v.string(),
	kaos: v.optional(v.literal("local"), "local"),
	last_session_id: v.fallback(v.nullable(v.string()), null),
});
type LocalEntry = v.InferOutput<typeof localEntrySchema>;

interface IndexContent {
	readonly others: Record<string, unknown>;
	readonly entries: readonly unknown[];
}

type Change = (content: IndexContent) => IndexContent | null;

const counted = ({ entries }: IndexContent) => ({ workDirs: entries.length });

/** Applies the changes in order; returns the same content if none has an effect. */
function applied(changes: readonly Change[], content: IndexContent): IndexContent {
	return changes.reduce((changed, change) => change(changed) ?? changed, content);
}

const emptyContent: IndexContent = { others: {}, entries: [] };

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

/** Recovers intact entries: sessions of an unlisted directory cannot be found otherwise. */
function salvage(bytes: Buffer): IndexContent {
	const text = bytes.toString("utf8");
	const whole = [...text.matchAll(/\{[^{}]*\}/g)].map(([entry]) => entry);
	// For a truncated entry, the path is enough.
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

/** The index of a share directory, which may not exist yet. */
export function createSessionIndex(options: {
	readonly files: Files;
	readonly shareDir: string;
	readonly log: Log;
	readonly clock: Clock;
}): SessionIndex {
	const { files, shareDir, log } = options;
	const indexPath = path.join(shareDir, "kimi.json");

	/** The file's content, and its bytes if damaged. */
	const read = async (): Promise<{ readonly content: IndexContent; readonly damaged: Buffer | null }> => {
		const bytes = await files.read(indexPath);
		if (bytes === null) return { content: emptyContent, damaged: null };
		const content = parseIndex(bytes);
		return content === null ? { content: salvage(bytes), damaged: bytes } : { content, damaged: null };
	};
	/** Like `read` without a change: an unreadable file counts as empty. */
	const look = async (): Promise<IndexContent> => {
		const { content, damaged } = await read().catch(() => ({ content: emptyContent, damaged: true }));
		if (damaged !== null) log.warn("the session index could not be read", { path: indexPath, ...counted(content) });
		return content;
	};

	const copyAside = async (bytes: Buffer, content: IndexContent): Promise<void> => {
		const aside = await damagedPath(files, indexPath);
		await files.replace(aside, bytes, { sync: true });
		const found = { path: indexPath, copiedTo: aside, ...counted(content) };
		log.warn("the session index could not be read and is rewritten", found);
	};

	let known: { readonly status: FileStatus; readonly content: IndexContent } | null = null;
	/** Does not reread a file with an unchanged status. A file changed just now is not remembered. */
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
	/** Sessions load concurrently: one of them reads for all. */
	let warming: Promise<void> | null = null;

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

	/** Changes requested during a write are combined: there are many sessions and one file. */
	const update = createBatchedWork<Change>((changes) => withStorageError(indexPath, () => write(changes)));

	/** Delayed last sessions, by work directory. */
	const later = new Map<string, string>();
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
		// Changes are written in order: the last one completes all earlier ones.
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
			// Alone, the file is usually current; and if another process has written it, this write must not be late.
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
