// Finds and opens sessions on disk in the Kimi layout: `<share dir>/sessions/<md5 of the work dir>/<session id>/`.
import path from "node:path";
import type { SessionSummary } from "../../../api/session-list.ts";
import type { ContextRow } from "../../../api/values/conversation.ts";
import type { Clock } from "../../../base/clock.ts";
import { errorText, KernelError, toKernelError } from "../../../base/errors.ts";
import type { Log } from "../../../base/log.ts";
import type { FileReader, Files } from "../../files/port.ts";
import { emptySummary } from "../journal-summary.ts";
import { type Place, readPage } from "../session-page.ts";
import { refusePlacement, type SessionStore, type SessionView, type StoredSession } from "../session-store.ts";
import { openDiskSession, type ReadSession, readDiskSession } from "./disk-session.ts";
import { readJournalEvents } from "./journal/journal-file.ts";
import { type JournalSource, newEpoch, openJournal, readJournalContext } from "./journal/journal-opening.ts";
import { findHolder, type Lease, type LeaseHolder, takeFreeLease, takeLease, takeLeaseAtOnce } from "./lease.ts";
import { createLeaseWatches } from "./lease-watch.ts";
import { readContext } from "./logs/context-log.ts";
import type { FoundSession } from "./logs/found-session.ts";
import { createDirectorySync } from "./name-sync.ts";
import { createLeftDirectories, type LeftDirectories } from "./released-directories.ts";
import { sweepAll } from "./session-beginning.ts";
import {
	findSession,
	findUnlessThere,
	hasContext,
	isFound,
	isPrepared,
	readSummary,
	readUpdatedAt,
	type SessionPaths,
	toDeletedDirectory,
	toLeasesDirectory,
	toSessionPaths,
	toStagedDirectory,
} from "./session-directory.ts";
import { createSessionIndex } from "./session-index.ts";
import { initialState } from "./state-file.ts";
import { checkSessionId, isSessionId, toDirectoryName, toWorkDir } from "./work-dir.ts";

export interface DiskStoreOptions {
	readonly files: Files;
	/** Absolute; need not exist. */
	readonly shareDir: string;
	readonly log: Log;
	readonly clock: Clock;
	/** Protocol version for the header of new event logs, such as `1.10`. */
	readonly protocolVersion: string;
	/** What to do if another process holds the session: "expired" fails `busy` unless that process is dead. */
	readonly takeOver?: "patient" | "expired";
	/** Boot time in milliseconds: a session not closed cleanly since may have lost events and gets a new epoch. */
	readonly bootedAt?: number;
}

/** A session with unreadable files, so that the server starts: the first write reports the error. */
function createBarredSession(id: string, workDir: string, directory: string, error: KernelError): StoredSession {
	const refuse = () => Promise.reject(error);
	const epoch = newEpoch();
	async function* events() {}
	return {
		id,
		workDir,
		directory,
		existed: false,
		contextRows: [],
		summary: emptySummary,
		cursor: () => ({ epoch, seq: 0 }),
		state: initialState,
		commit: refuse,
		lost: new Promise(() => {}),
		createAgent: refuse,
		openAgent: async () => null,
		tasks: { any: async () => false, create: refuse, list: async () => [], find: async () => null },
		notifications: { any: async () => false, list: async () => [], add: refuse, setDelivery: refuse },
		events,
		markStarted: refuse,
		establish: refuse,
		close: async () => {},
	};
}

function refuseHeld(id: string, { pid, name }: LeaseHolder): KernelError {
	return new KernelError("busy", `The session ${id} is open in another process, ${name}.`, { data: { holder: pid } });
}

/** Changes whenever the session is written. */
async function markOf(files: FileReader, { journal, context, events, state }: SessionPaths): Promise<string> {
	const statuses = await Promise.all([journal, context, events, state].map((file) => files.status(file)));
	return JSON.stringify(statuses.map((status) => (status === null ? null : [status.size, status.modifiedAt])));
}

const nothingLeft: LeftDirectories = {
	note: async () => {},
	noteEvents() {},
	wholeEvents: () => null,
	isAsLeft: async () => false,
};

async function readWholeContext(source: JournalSource): Promise<readonly ContextRow[]> {
	const journal = await openJournal(source);
	return journal.kind === "opened" ? readJournalContext(source, journal.range) : [];
}

const oldSuffix = ".jsonl";

/** Milliseconds after which a temporary file in a shared directory counts as abandoned. */
const sharedAge = 60_000;

type SessionPlace = Place & Pick<SessionSummary, "workDir">;

const lookedAtTogether = 64;

/** The store below a share directory. Reads and creates nothing before a session is opened. */
export function createDiskStore(options: DiskStoreOptions): SessionStore {
	const { files, shareDir, log } = options;
	const index = createSessionIndex(options);
	const left = createLeftDirectories(options);
	const syncDirectory = createDirectorySync(files);
	const createWatch = createLeaseWatches({ files, clock: options.clock, directory: toLeasesDirectory(shareDir) });
	/** Data read for a view, so that a later claim reads only what has changed since. */
	const viewed = new WeakMap<SessionView, { readonly mark: string; readonly read: ReadSession }>();
	let swept: Promise<void> | null = null;
	/** Once per process: the next process removes later leftovers. */
	const sweepShared = (): Promise<void> => {
		swept ??= (async () => {
			await sweepAll([shareDir, toLeasesDirectory(shareDir)], options, options.clock.now() - sharedAge);
			if ((await files.status(toStagedDirectory(shareDir)).catch(() => null)) !== null) {
				const { sweepStaged } = await import("./session-staging.ts");
				await sweepStaged(options, options.clock.now() - sharedAge).catch(() => undefined);
			}
			if ((await files.status(toDeletedDirectory(shareDir)).catch(() => null)) === null) return;
			const { removeDeleted } = await import("./session-deletion.ts");
			await removeDeleted(files, shareDir, log).catch(() => undefined);
		})();
		return swept;
	};
	const parentOf = (workDir: string): string => path.join(shareDir, "sessions", toDirectoryName(workDir));
	const pathsOf = (workDir: string, id: string) => toSessionPaths(shareDir, toDirectoryName(workDir), id);

	const optionsOf = (workDir: string, id: string) => {
		const paths = pathsOf(workDir, id);
		return { ...options, index, left, syncDirectory, createWatch, sweepShared, workDir, id, paths };
	};
	type Own = ReturnType<typeof optionsOf>;
	const readAndOpen = async (own: Own, found: FoundSession, lease: Lease | null): Promise<StoredSession> =>
		openDiskSession(own, await readDiskSession(own, found), lease);
	const withLease = async <T>(
		{ id, paths }: Own,
		work: (lease: Lease) => Promise<T>,
		from?: "ended" | "anyone",
	): Promise<T> => {
		const place = { ...options, path: paths.lease, directory: paths.directory };
		const lease =
			options.takeOver === "expired" || from === "ended"
				? await takeFreeLease(place, (holder) => refuseHeld(id, holder))
				: from === "anyone"
					? await takeLeaseAtOnce(place)
					: await takeLease(place);
		try {
			return await work(lease);
		} catch (thrown) {
			await lease.release().catch(() => undefined);
			throw thrown;
		}
	};

	const reading = async <T>(paths: SessionPaths, work: () => Promise<T>): Promise<T> => {
		try {
			return await work();
		} catch (thrown) {
			if (thrown instanceof KernelError && thrown.code === "busy") throw thrown;
			const text = `Cannot read the session in ${paths.directory}: ${errorText(thrown)}`;
			throw new KernelError("storage-failed", text, { cause: thrown });
		}
	};

	const listIds = async (parent: string): Promise<string[]> => {
		const ids = new Set<string>();
		if ((await files.status(parent)) === null) return [];
		for (const { name, kind } of await files.list(parent)) {
			if (kind === "directory") ids.add(name);
			if (kind === "file" && name.endsWith(oldSuffix)) ids.add(name.slice(0, -oldSuffix.length));
		}
		return [...ids].filter(isSessionId).sort();
	};

	const warnUnlisted = (id: string, thrown: unknown): void =>
		log.warn("a session could not be listed", { id, cause: errorText(thrown) });
	const readPlace = async (workDir: string, id: string) => {
		try {
			return { id, workDir, updatedAt: await readUpdatedAt(files, pathsOf(workDir, id)) };
		} catch (thrown) {
			warnUnlisted(id, thrown);
			return null;
		}
	};
	const readPlaces = async (workDirs: readonly string[]): Promise<readonly SessionPlace[]> => {
		const places: SessionPlace[] = [];
		for (const workDir of new Set(workDirs.map(toWorkDir))) {
			const ids = await listIds(parentOf(workDir));
			for (let start = 0; start < ids.length; start += lookedAtTogether) {
				const together = ids.slice(start, start + lookedAtTogether).map((id) => readPlace(workDir, id));
				places.push(...(await Promise.all(together)).filter((place) => place !== null));
			}
		}
		return places;
	};
	/** Null for an empty session, unless it was prepared for later and `withUnused` is set. */
	const summarize = async (place: SessionPlace, withUnused = false): Promise<SessionSummary | null> => {
		const paths = pathsOf(place.workDir, place.id);
		try {
			const { empty, ...summary } = await readSummary(files, paths);
			if (empty && !(withUnused && (await isPrepared(files, paths)))) return null;
			return { ...place, ...summary };
		} catch (thrown) {
			warnUnlisted(place.id, thrown);
			return null;
		}
	};

	return {
		async openOrCreate(spelled, id, placement) {
			refusePlacement(placement);
			const workDir = toWorkDir(spelled);
			checkSessionId(id);
			const own = optionsOf(workDir, id);
			const { paths } = own;
			try {
				return await reading(paths, async () => {
					const unused = await findUnlessThere(files, paths);
					if (unused !== null) return readAndOpen(own, unused, null);
					return withLease(own, async (lease) => readAndOpen(own, await findSession(files, paths), lease));
				});
			} catch (thrown) {
				const error = toKernelError(thrown);
				log.error("the session could not be read", { directory: paths.directory, cause: error.message });
				return createBarredSession(id, workDir, paths.directory, error);
			}
		},
		async create(spelled, id, fill) {
			const workDir = toWorkDir(spelled);
			checkSessionId(id);
			const { stageSession, toStagedPaths } = await import("./session-staging.ts");
			const staged = toStagedPaths(shareDir);
			const sessionOptions = {
				...options,
				index,
				left: nothingLeft,
				syncDirectory,
				createWatch,
				sweepShared,
				workDir,
				id,
				paths: staged,
			};
			await stageSession(
				{
					files,
					clock: options.clock,
					log,
					id,
					paths: pathsOf(workDir, id),
					staged,
					open: async () => readAndOpen(sessionOptions, await findSession(files, staged), null),
					register: () => index.register(workDir),
				},
				fill,
			);
		},
		async open(spelled, id, from, view) {
			const workDir = toWorkDir(spelled);
			checkSessionId(id);
			const own = optionsOf(workDir, id);
			const { paths } = own;
			const known = view === undefined ? undefined : viewed.get(view);
			return reading(paths, async () => {
				if (known === undefined && !(await isFound(paths, await findSession(files, paths)))) return null;
				// Looked at again: the holder before may have written until it released the lease, or deleted the session.
				const open = async (lease: Lease) => {
					if (known !== undefined && (await markOf(files, paths)) === known.mark)
						return openDiskSession(own, known.read, lease);
					const found = await findSession(files, paths);
					if (await isFound(paths, found)) return readAndOpen(own, found, lease);
					await lease.release();
					return null;
				};
				return withLease(own, open, from);
			});
		},
		async view(spelled, id) {
			const workDir = toWorkDir(spelled);
			checkSessionId(id);
			const own = optionsOf(workDir, id);
			const { paths } = own;
			return reading(paths, async () => {
				const found = await findSession(files, paths);
				// By what was found before anything was read.
				const mark = await markOf(found.files, paths);
				if (!(await isFound(paths, found))) return null;
				const read = await readDiskSession(own, found);
				const session = await openDiskSession({ ...own, isView: true }, read, null);
				// Its rows are parsed when they are wanted, which a copy of it would do at once.
				const view = Object.assign(session, { isCurrent: async () => (await markOf(files, paths)) === mark });
				// A context in the old layout has no part in the mark.
				if (found.contextPath !== paths.oldContext) viewed.set(view, { mark, read });
				return view;
			});
		},
		async owner(spelled, id) {
			checkSessionId(id);
			const { paths } = optionsOf(toWorkDir(spelled), id);
			const holder = await findHolder(files, paths.lease);
			return holder === null ? null : { name: `process ${holder.name}`, pid: holder.isReachable ? holder.pid : null };
		},
		async readContext(spelled, id) {
			const workDir = toWorkDir(spelled);
			checkSessionId(id);
			const paths = pathsOf(workDir, id);
			return reading(paths, async () => {
				const { contextPath } = await findSession(files, paths);
				if (contextPath !== null) return (await readContext(files, contextPath, log))();
				return (await hasContext(files, paths))
					? readWholeContext({ files, log, path: paths.journal, sessionId: id })
					: null;
			});
		},
		async *readEvents(spelled, id) {
			checkSessionId(id);
			const { journal } = pathsOf(toWorkDir(spelled), id);
			const source = { files, log, path: journal, sessionId: id };
			const opened = await openJournal(source);
			if (opened.kind !== "opened") return;
			const origin = { sessionId: id, epoch: opened.header.epoch };
			yield* readJournalEvents(files, journal, opened.range, origin, 0, () =>
				log.warn("a line of the journal could not be read", { path: journal }),
			);
		},
		async workDirOf(id) {
			checkSessionId(id);
			for (const workDir of await index.workDirs()) {
				const paths = pathsOf(workDir, id);
				if (await isFound(paths, await findSession(files, paths))) return workDir;
			}
			return null;
		},
		async lastSessionId(spelled) {
			const workDir = toWorkDir(spelled);
			const id = await index.lastSessionId(workDir);
			// Where the index was lost, the sessions of the directory are there all the same.
			if (id === undefined) {
				const page = await readPage(await readPlaces([workDir]), { limit: 1 }, async (place) => {
					const summary = await summarize(place);
					return summary?.archivedAt === null ? summary : null;
				});
				return page.sessions[0]?.id ?? null;
			}
			if (id === null || !isSessionId(id)) return null;
			return (await hasContext(files, pathsOf(workDir, id))) ? id : null;
		},
		async delete(spelled, id) {
			const workDir = toWorkDir(spelled);
			checkSessionId(id);
			const { deleteDiskSession } = await import("./session-deletion.ts");
			await deleteDiskSession({ ...options, index, workDir, id, paths: pathsOf(workDir, id) });
		},
		async list(query) {
			const chosen = query.workDir === undefined ? await index.workDirs() : [toWorkDir(query.workDir)];
			return await readPage(await readPlaces(chosen), query, (place) => summarize(place, query.withUnused));
		},
		close: () => index.settle(),
	};
}
