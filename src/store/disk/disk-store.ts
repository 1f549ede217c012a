// Finds and opens sessions on disk in the Kimi layout: `<share dir>/sessions/<md5 of the work dir>/<session id>/`.
import path from "node:path";
import type { Clock } from "../../base/clock.ts";
import { errorText, KernelError, toKernelError } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import type { Files } from "../../files/port.ts";
import { nothingUsed, type SessionStore, type SessionSummary, type StoredSession } from "../session-store.ts";
import { readContext } from "./context-log.ts";
import { openDiskSession, sweepAll } from "./disk-session.ts";
import { takeLease } from "./lease.ts";
import { createLeftDirectories } from "./released-directories.ts";
import {
	type FoundSession,
	findSession,
	isFound,
	isThere,
	readSummary,
	type SessionPaths,
	toLeasesDirectory,
	toSessionPaths,
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
	/** Written into the header of new event logs, such as `1.10`. */
	readonly protocolVersion: string;
}

/**
 * A session whose files cannot be read. It can be opened, so that the server starts; the first write reports the error,
 * and nothing ever overwrites what could not be read.
 */
function createBarredSession(id: string, workDir: string, directory: string, error: KernelError): StoredSession {
	const refuse = () => Promise.reject(error);
	async function* events() {}
	return {
		id,
		workDir,
		directory,
		existed: false,
		contextRows: [],
		unfinishedCalls: [],
		used: nothingUsed,
		state: initialState,
		updateState: refuse,
		appendContext: refuse,
		replaceContext: refuse,
		appendEvents: refuse,
		appendCalls: refuse,
		createAgent: refuse,
		openAgent: async () => null,
		tasks: { any: async () => false, create: refuse, list: async () => [], find: async () => null },
		notifications: { any: async () => false, list: async () => [], add: refuse, setDelivery: refuse },
		sync: async () => {},
		events,
		markStarted: refuse,
		establish: refuse,
		close: async () => {},
	};
}

const oldSuffix = ".jsonl";

/** Milliseconds after which a temporary file in a shared directory counts as abandoned. */
const sharedAge = 60_000;

/** The store below a share directory. Nothing is read or created before a session is opened. */
export function createDiskStore(options: DiskStoreOptions): SessionStore {
	const { files, shareDir, log } = options;
	const index = createSessionIndex(options);
	const left = createLeftDirectories(options);
	let swept: Promise<void> | null = null;
	/** Once per process: what is left later, the next process removes. */
	const sweepShared = (): Promise<void> => {
		swept ??= sweepAll([shareDir, toLeasesDirectory(shareDir)], options, options.clock.now() - sharedAge);
		return swept;
	};
	const parentOf = (workDir: string): string => path.join(shareDir, "sessions", toDirectoryName(workDir));
	const pathsOf = (workDir: string, id: string) => toSessionPaths(shareDir, toDirectoryName(workDir), id);

	const openSeen = async (workDir: string, id: string, seen: FoundSession): Promise<StoredSession> => {
		const paths = pathsOf(workDir, id);
		const sessionOptions = { ...options, index, left, sweepShared, workDir, id, paths };
		if (!isThere(seen)) return openDiskSession(sessionOptions, seen, null);
		const lease = await takeLease({ ...options, path: paths.lease, directory: paths.directory });
		try {
			// Read again: the holder before may have written until it released the lease.
			return await openDiskSession(sessionOptions, await findSession(files, paths), lease);
		} catch (thrown) {
			await lease.release().catch(() => undefined);
			throw thrown;
		}
	};

	const reading = async <T>(paths: SessionPaths, work: () => Promise<T>): Promise<T> => {
		try {
			return await work();
		} catch (thrown) {
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

	return {
		async openOrCreate(spelled, id) {
			const workDir = toWorkDir(spelled);
			checkSessionId(id);
			const paths = pathsOf(workDir, id);
			try {
				return await reading(paths, async () => openSeen(workDir, id, await findSession(files, paths)));
			} catch (thrown) {
				const error = toKernelError(thrown);
				log.error("the session could not be read", { directory: paths.directory, cause: error.message });
				return createBarredSession(id, workDir, paths.directory, error);
			}
		},
		async open(spelled, id) {
			const workDir = toWorkDir(spelled);
			checkSessionId(id);
			const paths = pathsOf(workDir, id);
			return reading(paths, async () => {
				const seen = await findSession(files, paths);
				return isFound(seen) ? openSeen(workDir, id, seen) : null;
			});
		},
		async readContext(spelled, id) {
			const workDir = toWorkDir(spelled);
			checkSessionId(id);
			const paths = pathsOf(workDir, id);
			return reading(paths, async () => {
				const { contextPath } = await findSession(files, paths);
				return contextPath === null ? null : (await readContext(files, contextPath, log))();
			});
		},
		async workDirOf(id) {
			checkSessionId(id);
			for (const workDir of await index.workDirs()) {
				if ((await findSession(files, pathsOf(workDir, id))).contextPath !== null) return workDir;
			}
			return null;
		},
		async lastSessionId(spelled) {
			const workDir = toWorkDir(spelled);
			const id = await index.lastSessionId(workDir);
			if (id === null || !isSessionId(id)) return null;
			const found = await findSession(files, pathsOf(workDir, id));
			return found.contextPath === null ? null : id;
		},
		async list(spelled) {
			const workDir = toWorkDir(spelled);
			const parent = parentOf(workDir);
			const found: { readonly summary: SessionSummary; readonly updatedAt: number }[] = [];
			for (const id of await listIds(parent)) {
				try {
					const { empty, title, updatedAt } = await readSummary(files, pathsOf(workDir, id));
					if (!empty) found.push({ summary: { id, workDir, title }, updatedAt });
				} catch (thrown) {
					log.warn("a session could not be listed", { id, cause: errorText(thrown) });
				}
			}
			return found.sort((one, other) => other.updatedAt - one.updatedAt).map(({ summary }) => summary);
		},
	};
}
