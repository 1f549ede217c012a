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

export interface StoredSummary {
	/** No title, no event, no message. Unreadable files count as content. */
	readonly empty: boolean;
	readonly title: string;
	/** When one of its logs was last written, in milliseconds since the epoch. */
	readonly updatedAt: number;
}

async function readPromptTitle(files: Files, file: string): Promise<{ hasRecords: boolean; title: string | null }> {
	let hasRecords = false;
	for await (const line of readEventLines(files, file)) {
		if (line.kind === "header") continue;
		hasRecords = true;
		if (line.kind === "unreadable" || line.record.agentPath.length > 0) continue;
		const { body } = line.record;
		const title = body.type === "turn.started" ? toTitle(body.input) : null;
		if (title !== null) return { hasRecords, title };
	}
	return { hasRecords, title: null };
}

async function hasMessages(files: Files, file: string): Promise<boolean> {
	for await (const line of readLines(files, file)) {
		const row = fromLine(line);
		if (row === null || row.type === "message") return true;
	}
	return false;
}

/** The data for a list of sessions; read from the disk each time, because other programs write there too. */
export async function readSummary(files: Files, paths: SessionPaths): Promise<StoredSummary> {
	const state = await readTitle(files, paths.directory);
	const prompt = await readPromptTitle(files, paths.events);
	const contextPath = (await files.status(paths.context)) === null ? paths.oldContext : paths.context;
	const times = await Promise.all([contextPath, paths.events].map((file) => files.status(file)));
	return {
		empty: state.title === null && !state.damaged && !prompt.hasRecords && !(await hasMessages(files, contextPath)),
		title: state.title ?? prompt.title ?? untitled,
		updatedAt: Math.max(0, ...times.map((status) => status?.modifiedAt ?? 0)),
	};
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
