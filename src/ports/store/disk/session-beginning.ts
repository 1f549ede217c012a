// How the writing of a session on disk begins: with its lease, its directory, and the clearing up of what killed processes
// left there. Until the first write nothing of it happens.
import type { Clock } from "../../../base/clock.ts";
import { KernelError } from "../../../base/errors.ts";
import type { Log } from "../../../base/log.ts";
import type { Files } from "../../files/port.ts";
import { sweepTemporaries } from "../../files/temporaries.ts";
import { failStaleAgents } from "./agent-files.ts";
import { type Lease, takeLease } from "./lease.ts";
import type { LeaseWatch } from "./lease-watch.ts";
import { type FoundSession, logBytes } from "./logs/found-session.ts";
import { withStorageError } from "./logs/storage-error.ts";
import type { NameSync } from "./name-sync.ts";
import type { LeftDirectories } from "./released-directories.ts";
import { findSession, isThere, type SessionPaths } from "./session-directory.ts";
import type { SessionIndex } from "./session-index.ts";

export interface SessionBeginningOptions {
	readonly files: Files;
	readonly log: Log;
	readonly clock: Clock;
	readonly index: SessionIndex;
	readonly workDir: string;
	readonly paths: SessionPaths;
	readonly found: FoundSession;
	readonly left: LeftDirectories;
	readonly names: NameSync;
	readonly watch: LeaseWatch;
	/** Milliseconds; temporary files that were written earlier are of other processes. */
	readonly openedAt: number;
	/** Removes what killed processes left in directories that all sessions share. */
	sweepShared(): Promise<void>;
}

export interface SessionBeginning {
	/** Runs before a write: begins, where nothing was written before, or checks the lease. Fails when the session is another process's. */
	prepare(): Promise<void>;
	/** For the journal, whose appends look at the lease themselves: where the session is new, they are all that is written. */
	prepareJournal(): Promise<void>;
	hasBegun(): boolean;
	/** Whether this session made its directory, and moved nothing there: then it has no file that this session did not write. */
	isNew(): boolean;
	/** Null for one that nobody has created yet. */
	lease(): Lease | null;
}

/** `leaseHeld` is null for a session that was looked for without its lease: it is taken before the first write. */
export function createSessionBeginning(options: SessionBeginningOptions, leaseHeld: Lease | null): SessionBeginning {
	const { files, log, clock, index, workDir, paths, found, left, names, watch, openedAt } = options;
	const hadContent = logBytes(found) > 0 || found.hasState;
	/** Whether nobody had created it when it was looked for, without its lease. */
	const wasMissing = leaseHeld === null && !isThere(found);
	let lease = leaseHeld;

	/** Why nothing of it can be stored any more: another process created it since it was looked for. */
	let refusal: KernelError | null = null;
	const refuseCreated = async (): Promise<void> => {
		if (!wasMissing) return;
		if (!isThere(await withStorageError(paths.directory, () => findSession(files, paths)))) return;
		refusal = new KernelError(
			"storage-failed",
			`Cannot write ${paths.directory}: another process has created the session since it was opened. Open it again.`,
		);
		log.error("another process has created the session", { directory: paths.directory });
		watch.lose(refusal);
		throw refusal;
	};
	let isMoved = false;
	/** Whether it was not there before, and has nothing from before. */
	const makeDirectory = async (): Promise<boolean> => {
		const isNew = await files.makeDirectory(paths.directory);
		if (found.contextPath !== paths.oldContext) return isNew;
		// Where the rest of the start failed, it is there already.
		if (isMoved) return false;
		await files.rename(paths.oldContext, paths.context);
		isMoved = true;
		names.nameMade(paths.context);
		names.nameMade(paths.oldContext);
		return false;
	};
	let isNew = false;
	const makeOwn = async (): Promise<void> => {
		isNew = await withStorageError(
			paths.directory,
			// If a directory with content is missing now, somebody deleted it: it must not come back half empty.
			async () => (!hadContent || found.contextPath === paths.oldContext) && (await makeDirectory()),
		);
		names.directoryMade(paths.directory);
		if (isNew) return;
		await refuseCreated();
		await sweepAll([paths.directory], options, openedAt);
	};
	const start = async (): Promise<void> => {
		if (refusal !== null) throw refusal;
		if (lease === null) {
			// Whoever has created it meanwhile keeps it.
			lease = await takeLease({ ...options, path: paths.lease, directory: paths.directory }, refuseCreated);
			watch.start(lease);
		} else await lease.check();
		const isAsLeft = found.contextPath === paths.context && (await left.isAsLeft(paths.directory));
		const failStale = () => failStaleAgents({ files, clock, directory: paths.directory });
		// What one of them does, no other looks at; a failure waits for the others, so that none goes on by itself.
		const parts = await Promise.allSettled([
			...(wasMissing ? [] : [failStale()]),
			...(isAsLeft ? [] : [index.register(workDir), makeOwn(), options.sweepShared()]),
		]);
		if (refusal !== null) {
			await lease.release();
			lease = null;
		}
		for (const part of parts) if (part.status === "rejected") throw part.reason;
		if (wasMissing && !isNew) await failStale();
	};
	let started: Promise<void> | null = null;
	const begin = (): Promise<void> => {
		started ??= start().catch((thrown: unknown) => {
			started = null;
			throw thrown;
		});
		return started;
	};
	const prepare = async (): Promise<void> => {
		await begin();
		await lease?.check();
	};
	const prepareJournal = async (): Promise<void> => {
		const isFirst = started === null;
		await begin();
		if (!isFirst || !isNew) await lease?.check();
	};

	return {
		prepare,
		prepareJournal,
		hasBegun: () => started !== null,
		isNew: () => isNew,
		lease: () => lease,
	};
}

/** Removes the temporary files in these directories that were last written before `before`. */
export async function sweepAll(
	directories: readonly string[],
	{ files, log }: { readonly files: Files; readonly log: Log },
	before: number,
): Promise<void> {
	for (const directory of directories) {
		const swept = await sweepTemporaries(files, directory, before).catch(() => []);
		if (swept.length > 0) log.info("files of a killed process were removed", { directory, swept });
	}
}
