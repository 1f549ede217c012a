// One session on disk, with one writer. Changes nothing before the first write, which is immediate if events get new numbers.
import path from "node:path";
import type { Clock } from "../../../base/clock.ts";
import { errorText, KernelError } from "../../../base/errors.ts";
import type { Log } from "../../../base/log.ts";
import { ownOrigin } from "../../files/living-process.ts";
import type { FileStatus, Files } from "../../files/port.ts";
import type { StoredSession } from "../session-store.ts";
import { createAgentFiles, openAgentFiles } from "./agent-files.ts";
import { createNotificationFiles } from "./background/notification-files.ts";
import { createTaskFiles } from "./background/task-files.ts";
import { openHistory, type SessionHistory } from "./journal/session-history.ts";
import { createSessionLog } from "./journal/session-log.ts";
import type { Lease } from "./lease.ts";
import type { LeaseWatch } from "./lease-watch.ts";
import { readContext } from "./logs/context-log.ts";
import type { FoundSession } from "./logs/found-session.ts";
import type { LineFile, LineFileOptions } from "./logs/line-file.ts";
import { createLineFile } from "./logs/line-writer.ts";
import { withStorageError } from "./logs/storage-error.ts";
import { createNameSync, type SyncDirectory } from "./name-sync.ts";
import { appendParagraph } from "./readable-text.ts";
import type { LeftDirectories } from "./released-directories.ts";
import { createSessionBeginning } from "./session-beginning.ts";
import {
	hasContext,
	isEmptySession,
	isEstablishedByJournal,
	isUnused,
	removeSession,
	type SessionPaths,
} from "./session-directory.ts";
import type { SessionIndex } from "./session-index.ts";
import { openStateFile, type StateFile } from "./state-file.ts";

export interface DiskSessionOptions {
	readonly files: Files;
	readonly log: Log;
	readonly clock: Clock;
	readonly index: SessionIndex;
	readonly protocolVersion: string;
	readonly workDir: string;
	readonly id: string;
	readonly paths: SessionPaths;
	readonly left: LeftDirectories;
	readonly syncDirectory: SyncDirectory;
	readonly bootedAt?: number;
	readonly isView?: boolean;
	createWatch(): LeaseWatch;
	sweepShared(): Promise<void>;
}

export interface ReadSession {
	readonly found: FoundSession;
	readonly openedAt: number;
	readonly history: SessionHistory;
	readonly stateFile: StateFile;
	readonly existed: boolean;
	readonly wasUnused: boolean;
	wholeAt(file: string): FileStatus | null;
}

/** Reads the files found. Rejects with Node's errors. */
export async function readDiskSession(options: DiskSessionOptions, found: FoundSession): Promise<ReadSession> {
	const { files, log, clock, paths, left } = options;
	const openedAt = clock.now();
	const source = { files: found.files, log, path: paths.journal, sessionId: options.id };
	const history = await openHistory(source, paths, found, options.bootedAt ?? 0);
	const recoveredRows = history.context.rows?.length ?? 0;
	const hasHistory = history.lastSeq > 0 || recoveredRows > 0;
	const wasEstablished = found.contextPath === null && !hasHistory && (await isEstablishedByJournal(paths, found));
	/** The session was prepared for later use and has no content yet. */
	const wasUnused = !hasHistory && (wasEstablished || isUnused(found));
	const hasState = found.hasState || (history.opening.kind === "opened" && history.opening.hasState);
	const existed = recoveredRows > 0 || (wasUnused ? hasState : found.contextPath !== null);
	const stateFile = await openStateFile({
		files,
		found: found.files,
		log,
		directory: paths.directory,
		fresh: !existed,
		recovered: history.missingState,
	});
	const read = [paths.journal, paths.context, paths.events];
	const wholes = await Promise.all(read.map((file) => found.files.wholeStatus(file, openedAt)));
	const wholeAt = (file: string) =>
		wholes[read.indexOf(file)] ?? (file === paths.events ? left.wholeEvents(paths.directory) : null);
	found.files.release();
	return { found, openedAt, history, stateFile, existed, wasUnused, wholeAt };
}

/** Opens a session that was read. Without a lease (the session does not exist yet), takes one before the first write. */
export async function openDiskSession(
	options: DiskSessionOptions,
	reading: ReadSession,
	leaseHeld: Lease | null,
): Promise<StoredSession> {
	const { found, openedAt, history, stateFile, existed, wasUnused, wholeAt } = reading;
	const { files, log, clock, paths, workDir, index, left } = options;
	const names = createNameSync(options.syncDirectory, paths);
	const watch = options.createWatch();
	const beginning = createSessionBeginning({ ...options, found, names, watch, openedAt }, leaseHeld);
	const lineFile = (file: string, knownSize: number, how: Partial<LineFileOptions>): LineFile =>
		createLineFile({
			files,
			log,
			path: file,
			knownSize,
			prepare: beginning.prepare,
			nameMade: () => names.nameMade(file),
			...how,
		});
	/** Files written after the journal commit may be so late that another process already writes the session. */
	const checkNotLost = async (): Promise<void> => beginning.lease()?.checkLate();
	const agentLines: LineFile[] = [];
	const sessionLog = createSessionLog({
		files,
		log,
		clock,
		sessionId: options.id,
		protocolVersion: options.protocolVersion,
		paths,
		found,
		history,
		stateFile,
		isFresh: !existed,
		isNew: beginning.isNew,
		prepare: beginning.prepareJournal,
		// The names of the other logs need no sync: they can be rebuilt from the journal.
		lineFile: (file, knownSize, header) =>
			lineFile(file, knownSize, {
				wholeAt: wholeAt(file),
				...(file === paths.journal ? {} : { prepare: checkNotLost, nameMade() {}, isReplaceable: true }),
				...(header === undefined ? {} : { header }),
			}),
		async syncOthers() {
			await Promise.all([...agentLines.map((lines) => lines.sync()), names.sync()]);
		},
		async closeOthers() {
			await Promise.all(agentLines.map((lines) => lines.close()));
		},
	});
	if (leaseHeld !== null) watch.start(leaseHeld);
	// Clients follow the session by event number: after a crash no other event may reuse one.
	if (options.isView !== true)
		await sessionLog.storeNumbers().catch((thrown: unknown) => {
			log.warn("the new numbers of events could not be stored yet", {
				directory: paths.directory,
				cause: errorText(thrown),
			});
		});
	let isEstablished = false;
	let isMarked = existed;
	const markStarted = async (): Promise<void> => {
		if (isMarked) return await index.setLastSessionSoon(workDir, options.id);
		await index.setLastSession(workDir, options.id);
		isMarked = true;
	};
	let closed: Promise<void> | null = null;
	const whileOpen = <T>(work: () => Promise<T>): Promise<T> => {
		if (options.isView === true) return Promise.reject(new KernelError("storage-failed", "The session is only read."));
		return closed === null ? work() : Promise.reject(new KernelError("closed", "The session is closed."));
	};

	const change = (directory: string, work: () => Promise<void>): Promise<void> =>
		whileOpen(() =>
			withStorageError(directory, async () => {
				await beginning.prepare();
				await work();
			}),
		);
	const changeFile = (file: string, work: () => Promise<void>): Promise<void> =>
		change(file, async () => {
			await files.makeDirectory(path.dirname(file));
			names.directoryMade(path.dirname(file));
			await work();
		});
	const replace = (file: string, text: string, how: { readonly sync: boolean } = { sync: false }): Promise<void> =>
		changeFile(file, () => files.replace(file, text, how));
	const taskOptions = { files, log, replace, change, now: () => clock.now() };
	const agentOptions = {
		files,
		clock,
		directory: paths.directory,
		protocolVersion: options.protocolVersion,
		whileOpen,
		replace,
		appendText: (file: string, text: string) => changeFile(file, () => appendParagraph(files, file, text)),
		readContext: (file: string) => readContext(files, file, log),
		lineFile(file: string, knownSize: number, header?: string): LineFile {
			const lines = lineFile(file, knownSize, header === undefined ? {} : { header });
			agentLines.push(lines);
			return lines;
		},
	};

	const leave = async (becomesLast: boolean): Promise<void> => {
		const lease = beginning.lease();
		if (lease === null) return;
		// A session that another process has taken over must not be indexed or removed here.
		await lease.check();
		if (sessionLog.cursor().seq > 0 || !(await isEmptySession(files, paths))) {
			await sessionLog.finish();
			left.noteEvents(paths.directory, sessionLog.wholeEvents());
			if (becomesLast) await index.setLastSession(workDir, options.id);
			if (beginning.hasBegun() && names.isSynced()) await left.note(paths.directory);
			return;
		}
		// The program that prepared it will use it later.
		if (isEstablished || wasUnused) return sessionLog.finish();
		await removeSession(files, paths, log);
		await index.clearLastSession(workDir, options.id);
	};
	const finish = async (becomesLast: boolean): Promise<void> => {
		watch.stop();
		try {
			await sessionLog.settled();
			await leave(becomesLast);
		} finally {
			try {
				await sessionLog.close();
			} finally {
				// This process keeps running, so a lease left behind would delay or refuse the next process.
				await beginning.lease()?.release();
			}
		}
	};

	return {
		id: options.id,
		workDir,
		directory: paths.directory,
		existed,
		reading,
		get contextRows() {
			return history.contextRows();
		},
		summary: history.summary,
		cursor: sessionLog.cursor,
		state: () => stateFile.state(),
		commit: (batch, { sync = false, withNext = false } = {}) =>
			whileOpen(async () => {
				if (!withNext || (batch.events ?? []).length > 0) return await sessionLog.commit(batch, sync);
				sessionLog.commitWithNext(batch);
				return [];
			}),
		events: (after = 0) => sessionLog.events(after),
		lost: watch.lost,
		async isHeld() {
			const lease = beginning.lease();
			if (lease === null) return true;
			await lease.check().catch(() => undefined);
			return lease.loss === null;
		},
		createAgent: (description) => createAgentFiles(description, agentOptions),
		openAgent: (id) => openAgentFiles(id, agentOptions),
		tasks: createTaskFiles(paths.directory, taskOptions),
		notifications: createNotificationFiles(paths.directory, taskOptions),
		async warmUp() {
			if (beginning.hasBegun()) return;
			// Of the lease that the first write takes.
			ownOrigin();
			await Promise.all([index.warmUp(), options.sweepShared()]);
		},
		markStarted: () => whileOpen(markStarted),
		establish: () =>
			change(paths.context, async () => {
				const isNew = !(await hasContext(files, paths));
				await sessionLog.commit(isNew ? { context: { kind: "replace", rows: [] } } : {}, true);
				isEstablished = true;
			}),
		close({ becomesLast = true } = {}) {
			closed ??= finish(becomesLast).catch((thrown: unknown) => {
				// There is nobody left to report it to, and everything appended is in its file already.
				log.warn("closing the session failed", { directory: paths.directory, cause: errorText(thrown) });
			});
			return closed;
		},
	};
}
