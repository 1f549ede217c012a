import path from "node:path";
import type { StoredId } from "../../../api/session-state.ts";
import type { Log } from "../../../base/log.ts";
import type { FileReader, Files } from "../../files/port.ts";
import { isTemporaryName } from "../../files/temporaries.ts";
import { fromLine } from "../context-row.ts";
import { toTitle, untitled } from "../title.ts";
import { readHeader, readRecords } from "./journal/journal-file.ts";
import type { ReadRecord } from "./journal/journal-record.ts";
import { readEventLines } from "./logs/event-log.ts";
import { createFoundFiles, type FoundFiles } from "./logs/found-files.ts";
import { type FoundSession, logBytes } from "./logs/found-session.ts";
import { readLines } from "./logs/json-lines.ts";
import { toMilliseconds } from "./logs/seconds.ts";
import { readListedState, stateName } from "./state-file.ts";
import { toDirectoryName } from "./work-dir.ts";

export interface SessionPaths {
	readonly shareDir: string;
	readonly directory: string;
	readonly journal: string;
	readonly context: string;
	readonly events: string;
	/** Written by versions before the journal. */
	readonly calls: string;
	readonly state: string;
	readonly oldContext: string;
	/** The lease of the writing process, outside the directory. */
	readonly lease: string;
}

/** `workDirName` is the directory name of the session's work directory. */
export function toSessionPaths(shareDir: string, workDirName: string, id: string): SessionPaths {
	const parent = path.join(shareDir, "sessions", workDirName);
	const directory = path.join(parent, id);
	return {
		shareDir,
		directory,
		journal: path.join(directory, "journal.jsonl"),
		context: path.join(directory, "context.jsonl"),
		events: path.join(directory, "wire.jsonl"),
		calls: path.join(directory, "calls.jsonl"),
		state: path.join(directory, stateName),
		oldContext: path.join(parent, `${id}.jsonl`),
		lease: path.join(toLeasesDirectory(shareDir), `${workDirName}-${id}.json`),
	};
}

export function toSessionDirectory(shareDir: string, { id, workDir }: StoredId): string {
	return toSessionPaths(shareDir, toDirectoryName(workDir), id).directory;
}

export function toLeasesDirectory(shareDir: string): string {
	return path.join(shareDir, "leases");
}

/** Deleted sessions go here before their files are removed, so that a crash leaves no half session. */
export function toDeletedDirectory(shareDir: string): string {
	return path.join(shareDir, "sessions", "deleted");
}

/** The directory name for sessions under construction; no work directory hashes to it. */
export const stagedName = "staged";

/** Where sessions that appear atomically are written first. On the same file system as the sessions. */
export function toStagedDirectory(shareDir: string): string {
	return path.join(shareDir, "sessions", stagedName);
}

async function fileSize(files: FileReader, file: string): Promise<number | null> {
	const status = await files.status(file);
	return status?.kind === "file" ? status.size : null;
}

export function isThere(found: FoundSession): boolean {
	return found.contextPath !== null || logBytes(found) > 0 || found.hasState;
}

/** Whether it can be found by id: its first turn counts as delivered as soon as a log has it, before there is a context. */
export async function isFound(paths: SessionPaths, found: FoundSession): Promise<boolean> {
	if (found.contextPath !== null || found.eventsSize > 0) return true;
	if (found.journalSize === 0) return false;
	const isEnough = ({ hasContext, hasEvents }: JournalStart) => hasContext || hasEvents;
	return isEnough(await readJournalStart(found.files, paths.journal, isEnough));
}

/** Whether it has a context, even if the context file is missing. */
export async function hasContext(files: Files, paths: SessionPaths): Promise<boolean> {
	const found = await findSession(files, paths);
	if (found.contextPath !== null || found.journalSize === 0) return found.contextPath !== null;
	return (await readJournalStart(found.files, paths.journal, (start) => start.hasContext)).hasContext;
}

/** Whether its journal says it was established without any activity. */
export async function isEstablishedByJournal(
	{ journal }: SessionPaths,
	{ files, journalSize }: FoundSession,
): Promise<boolean> {
	if (journalSize === 0) return false;
	return (await readJournalStart(files, journal, (start) => start.isEstablished)).isEstablished;
}

export function isUnused({ contextPath, contextSize, eventsSize, callsSize }: FoundSession): boolean {
	return contextPath !== null && contextSize + eventsSize + callsSize === 0;
}

/** Whether it was prepared for later use: by another program, or by this one with `establish`. */
export async function isPrepared(files: FileReader, paths: SessionPaths): Promise<boolean> {
	const found = await findSession(files, paths);
	return isUnused(found) || (await isEstablishedByJournal(paths, found));
}

export function findSession(files: FileReader, paths: SessionPaths): Promise<FoundSession> {
	return findIn(createFoundFiles(files), paths);
}

/** Like `findSession`, usually with one check; null if a file exists, and it must be looked up under its lease. */
export async function findUnlessThere(files: FileReader, paths: SessionPaths): Promise<FoundSession | null> {
	const found = createFoundFiles(files);
	const journalSize = await fileSize(found, paths.journal);
	if (journalSize !== null && journalSize > 0) return null;
	if ((await files.status(paths.directory)) === null) found.noteMissing(paths.directory);
	const session = await findIn(found, paths);
	return isThere(session) ? null : session;
}

async function findIn(files: FoundFiles, paths: SessionPaths): Promise<FoundSession> {
	const { context, oldContext, events, calls, state, journal } = paths;
	const [contextSize, eventsSize, callsSize, stateSize, journalSize] = await Promise.all(
		[context, events, calls, state, journal].map((file) => fileSize(files, file)),
	);
	const oldSize = isPresent(contextSize) ? null : await fileSize(files, oldContext);
	return {
		files,
		contextPath: isPresent(contextSize) ? context : isPresent(oldSize) ? oldContext : null,
		journalSize: journalSize ?? 0,
		contextSize: contextSize ?? oldSize ?? 0,
		eventsSize: eventsSize ?? 0,
		callsSize: callsSize ?? 0,
		hasState: isPresent(stateSize),
	};
}

/** Maximum bytes of an event log line other than the header, and of a context row other than the system prompt. */
const probedHeader = 64 * 1024;
const probedPrompt = 8 * 1024 * 1024;

async function hasRecords(files: Files, file: string): Promise<boolean> {
	for await (const { kind } of readEventLines(files, file, { limit: probedHeader })) {
		if (kind !== "header") return true;
	}
	return false;
}

async function hasMessages(files: Files, file: string): Promise<boolean> {
	for await (const line of readLines(files, file, { limit: probedPrompt })) {
		const row = fromLine(line);
		if (row === null || row.type === "message") return true;
	}
	return false;
}

/** Unreadable files and long lines count as content: process shutdown waits for this. */
export async function isEmptySession(files: Files, paths: SessionPaths): Promise<boolean> {
	const { title, damaged } = await readListedState(files, paths.directory);
	if (title !== null || damaged || (await hasRecords(files, paths.events))) return false;
	// The journal contains what the event log lacks: other event kinds, and all events if it is missing.
	if ((await files.status(paths.journal)) !== null) {
		const start = await readJournalStart(files, paths.journal, (known) => known.hasEvents || known.hasMessages);
		if (start.hasEvents || start.hasMessages) return false;
	}
	return !(await hasMessages(files, await contextPathOf(files, paths)));
}

function isPresent(size: number | null | undefined): boolean {
	return size !== null && size !== undefined;
}

export interface StoredSummary {
	readonly empty: boolean;
	readonly title: string;
	readonly archivedAt: number | null;
}

async function readPromptTitle(files: Files, file: string): Promise<string | null> {
	for await (const line of readEventLines(files, file)) {
		if (line.kind !== "record" || line.record.agentPath.length > 0) continue;
		const { body } = line.record;
		const title = body.type === "turn.started" ? toTitle(body.input) : null;
		if (title !== null) return title;
	}
	return null;
}

interface JournalStart {
	/** Whether it has a context without rows: it was established, or its context was cleared. */
	readonly isEstablished: boolean;
	readonly hasContext: boolean;
	readonly hasEvents: boolean;
	readonly hasMessages: boolean;
	readonly title: string | null;
}

const nothingInJournal: JournalStart = {
	isEstablished: false,
	hasContext: false,
	hasEvents: false,
	hasMessages: false,
	title: null,
};

/** Reads until `isEnough` returns true. Unreadable content counts as content. */
async function readJournalStart(
	files: FileReader,
	file: string,
	isEnough: (start: JournalStart) => boolean,
): Promise<JournalStart> {
	let start = nothingInJournal;
	const found = await readHeader(files, file);
	if (found === null) return { ...start, hasContext: true, hasEvents: true };
	const range = { start: found.end, end: Number.POSITIVE_INFINITY };
	for await (const { record } of readRecords(files, file, range, { sessionId: "", epoch: found.header.epoch })) {
		start = withRecord(start, record);
		if (isEnough(start)) break;
	}
	return start;
}

function withRecord(start: JournalStart, record: ReadRecord): JournalStart {
	switch (record.kind) {
		case "unreadable":
			return { ...start, hasEvents: true };
		case "context": {
			const { rows } = record.change;
			const isEstablished = start.isEstablished || rows.length === 0;
			const hasMessages = start.hasMessages || rows.some((row) => row.type === "message");
			return { ...start, isEstablished, hasContext: true, hasMessages };
		}
		case "event": {
			const { body, agentPath } = record.event;
			const title = body.type === "turn.started" && agentPath.length === 0 ? toTitle(body.input) : null;
			return { ...start, hasEvents: true, title: start.title ?? title };
		}
		case "state":
		case "summary":
			return start;
	}
}

async function readJournalTitle(files: Files, { journal }: SessionPaths): Promise<string | null> {
	if ((await files.status(journal)) === null) return null;
	return (await readJournalStart(files, journal, ({ title }) => title !== null)).title;
}

/** The data for a session list; read from disk each time, because other programs write there too. */
export async function readSummary(files: Files, paths: SessionPaths): Promise<StoredSummary> {
	const state = await readListedState(files, paths.directory);
	const title = state.title ?? (await readPromptTitle(files, paths.events)) ?? (await readJournalTitle(files, paths));
	return {
		empty: title === null && (await isEmptySession(files, paths)),
		title: title ?? untitled,
		archivedAt: toMilliseconds(state.archivedAt),
	};
}

/** When the session was last used, in milliseconds since the epoch; 0 if that is unknown. */
export async function readUpdatedAt(files: FileReader, paths: SessionPaths): Promise<number> {
	const [context, events] = await Promise.all([paths.context, paths.events].map((file) => files.status(file)));
	const logs = [context ?? (await files.status(paths.oldContext)), events];
	// Closing a session writes its journal, which is no use of the session.
	const times = logs.some((status) => status) ? logs : [await files.status(paths.journal)];
	return Math.max(0, ...times.map((status) => status?.modifiedAt ?? 0));
}

async function contextPathOf(files: Files, { context, oldContext }: SessionPaths): Promise<string> {
	return (await files.status(context)) === null ? oldContext : context;
}

/** Removes an empty session's files, and its directory unless it contains foreign files. */
export async function removeSession(files: Files, paths: SessionPaths, log: Log): Promise<void> {
	const { journal, context, events, calls, state, oldContext, directory } = paths;
	for (const file of [journal, context, events, calls, state, oldContext]) {
		if ((await files.status(file)) !== null) await files.remove(file);
	}
	if ((await files.status(directory)) === null) return;
	const foreign = (await files.list(directory)).filter(({ name }) => !isTemporaryName(name));
	if (foreign.length === 0) await files.remove(directory);
	else log.info("an empty session keeps its directory", { directory, entries: foreign.map((entry) => entry.name) });
}
