// The paths of one session's files, a summary of their content, and the removal of empty sessions.
import path from "node:path";
import type { Log } from "../../base/log.ts";
import type { Files } from "../../files/port.ts";
import { isTemporaryName } from "../../files/temporaries.ts";
import { fromLine } from "../context-row.ts";
import { toTitle, untitled } from "../title.ts";
import { readEventLines } from "./event-log.ts";
import { readLines } from "./line-file.ts";
import { readTitle, stateName } from "./state-file.ts";

export interface SessionPaths {
	readonly shareDir: string;
	readonly directory: string;
	readonly context: string;
	readonly events: string;
	readonly calls: string;
	readonly state: string;
	/** The context of a session in the layout before session directories; moved at the first write. */
	readonly oldContext: string;
	/** Outside the directory: the lease of the process that writes the session. */
	readonly lease: string;
}

/** The paths of a session; `workDirName` is the directory name of its work dir. */
export function toSessionPaths(shareDir: string, workDirName: string, id: string): SessionPaths {
	const parent = path.join(shareDir, "sessions", workDirName);
	const directory = path.join(parent, id);
	return {
		shareDir,
		directory,
		context: path.join(directory, "context.jsonl"),
		events: path.join(directory, "wire.jsonl"),
		calls: path.join(directory, "calls.jsonl"),
		state: path.join(directory, stateName),
		oldContext: path.join(parent, `${id}.jsonl`),
		lease: path.join(toLeasesDirectory(shareDir), `${workDirName}-${id}.json`),
	};
}

/** The directory of the leases of all sessions. */
export function toLeasesDirectory(shareDir: string): string {
	return path.join(shareDir, "leases");
}

/** Sizes of the logs in bytes, 0 for missing ones. */
export interface FoundSession {
	/** The file the context is read from; null when the session has none. */
	readonly contextPath: string | null;
	readonly contextSize: number;
	readonly eventsSize: number;
	readonly callsSize: number;
	readonly hasState: boolean;
}

async function fileSize(files: Files, file: string): Promise<number | null> {
	const status = await files.status(file);
	return status?.kind === "file" ? status.size : null;
}

/** Whether any file of the session exists. */
export function isThere({ contextPath, contextSize, eventsSize, callsSize, hasState }: FoundSession): boolean {
	return contextPath !== null || contextSize + eventsSize + callsSize > 0 || hasState;
}

/** Whether it is found by its id: its first turn is delivered as soon as the log has it, before there is a context. */
export function isFound({ contextPath, eventsSize }: FoundSession): boolean {
	return contextPath !== null || eventsSize > 0;
}

/** Whether the session was created for later and is still unused. */
export function isUnused({ contextPath, contextSize, eventsSize, callsSize }: FoundSession): boolean {
	return contextPath !== null && contextSize + eventsSize + callsSize === 0;
}

/** Whether another program created the session for later and it is unused (clients of a web backend). */
export function isPrepared(found: FoundSession): boolean {
	return isUnused(found) && !found.hasState;
}

export async function findSession(files: Files, paths: SessionPaths): Promise<FoundSession> {
	const { context, oldContext, events, calls, state } = paths;
	const [contextSize, oldSize, eventsSize, callsSize, stateSize] = await Promise.all([
		fileSize(files, context),
		fileSize(files, oldContext),
		fileSize(files, events),
		fileSize(files, calls),
		fileSize(files, state),
	]);
	return {
		contextPath: contextSize !== null ? context : oldSize !== null ? oldContext : null,
		contextSize: contextSize ?? oldSize ?? 0,
		eventsSize: eventsSize ?? 0,
		callsSize: callsSize ?? 0,
		hasState: stateSize !== null,
	};
}

/** Bytes of a line of the log that is no header, and of a row of the context that is no system prompt. */
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

/**
 * Whether a session has no title, no event and no message. Unreadable files and long lines count as content, so that
 * little is read: the end of the process waits for this.
 */
export async function isEmptySession(files: Files, paths: SessionPaths): Promise<boolean> {
	const { title, damaged } = await readTitle(files, paths.directory);
	if (title !== null || damaged || (await hasRecords(files, paths.events))) return false;
	return !(await hasMessages(files, await contextPathOf(files, paths)));
}

export interface StoredSummary {
	/** No title, no event, no message. Unreadable files count as content. */
	readonly empty: boolean;
	readonly title: string;
	/** When one of its logs was last written, in milliseconds since the epoch. */
	readonly updatedAt: number;
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

/** The data for a list of sessions; read from the disk each time, because other programs write there too. */
export async function readSummary(files: Files, paths: SessionPaths): Promise<StoredSummary> {
	const { title } = await readTitle(files, paths.directory);
	const contextPath = await contextPathOf(files, paths);
	const times = await Promise.all([contextPath, paths.events].map((file) => files.status(file)));
	return {
		empty: await isEmptySession(files, paths),
		title: title ?? (await readPromptTitle(files, paths.events)) ?? untitled,
		updatedAt: Math.max(0, ...times.map((status) => status?.modifiedAt ?? 0)),
	};
}

async function contextPathOf(files: Files, { context, oldContext }: SessionPaths): Promise<string> {
	return (await files.status(context)) === null ? oldContext : context;
}

/** Removes the files of an empty session, and its directory unless others have files there. */
export async function removeSession(files: Files, paths: SessionPaths, log: Log): Promise<void> {
	const { context, events, calls, state, oldContext, directory } = paths;
	for (const file of [context, events, calls, state, oldContext]) {
		if ((await files.status(file)) !== null) await files.remove(file);
	}
	if ((await files.status(directory)) === null) return;
	const foreign = (await files.list(directory)).filter(({ name }) => !isTemporaryName(name));
	if (foreign.length === 0) await files.remove(directory);
	else log.info("an empty session keeps its directory", { directory, entries: foreign.map((entry) => entry.name) });
}
