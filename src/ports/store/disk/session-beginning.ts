// Before a session's first write: takes the lease, creates the directory, cleans up after killed processes. Does nothing earlier.

import type { Clock } from "../../../base/clock.ts";
import { KernelError } from "../../../base/errors.ts";
import type { Log } from "../../../base/log.ts";
import { OnFirstUse } from "../../../base/on-first-use.ts";
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
	readonly openedAt: number;
	/** Removes leftovers of killed processes from directories shared by all sessions. */
	sweepShared(): Promise<void>;
}

export interface SessionBeginning {
	/** Runs before a write: starts the session at the first one, otherwise checks the lease. */
	prepare(): Promise<void>;
	/** For the journal, whose appends check the lease themselves: in a new session they are the only writes. */
	prepareJournal(): Promise<void>;
	hasBegun(): boolean;
	/** Whether this session created its directory and moved nothing into it: then it wrote every file there. */
	isNew(): boolean;
	lease(): Lease | null;
}

/** `leaseHeld` is null if the session was looked up without its lease: the first write then takes it. */
export function createSessionBeginning(options: SessionBeginningOptions, leaseHeld: Lease | null): SessionBeginning {
	const { files, log, clock, index, workDir, paths, found, left, names, watch, openedAt } = options;
	const hadContent = logBytes(found) > 0 || found.hasState;
	/** Whether the session did not exist when looked up without its lease. */
	const wasMissing = leaseHeld === null && !isThere(found);
	let lease = leaseHeld;

	/** Why the session can no longer be stored: another process created it since. */
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
	/** Returns whether the directory is new and has no earlier content. */
	const makeDirectory = async (): Promise<boolean> => {
		const isNew = await files.makeDirectory(paths.directory);
		if (found.contextPath !== paths.oldContext) return isNew;
		// If the rest of the start failed, it exists already.
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
			// If a directory with content is now missing, it was deleted: it must not come back half empty.
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
			// A process that created it meanwhile keeps it.
			lease = await takeLease({ ...options, path: paths.lease, directory: paths.directory }, refuseCreated);
			watch.start(lease);
		} else await lease.check();
		const isAsLeft = found.contextPath === paths.context && (await left.isAsLeft(paths.directory));
		const failStale = () => failStaleAgents({ files, clock, directory: paths.directory });
		// The steps are independent; a failure waits for all of them, so that none continues in the background.
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
	const beginning = new OnFirstUse(start);
	const prepare = async (): Promise<void> => {
		await beginning.get();
		await lease?.check();
	};
	const prepareJournal = async (): Promise<void> => {
		const isFirst = !beginning.isUsed;
		await beginning.get();
		if (!isFirst || !isNew) await lease?.check();
	};

	return {
		prepare,
		prepareJournal,
		hasBegun: () => beginning.isUsed,
		isNew: () => isNew,
		lease: () => lease,
	};
}

/** Removes temporary files in these directories that were last written before `before`. */
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
