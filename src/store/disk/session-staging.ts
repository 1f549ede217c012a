// Creates a session with content in one step: its files are written in a directory that is no session's, which then gets
// the name of the session.
import path from "node:path";
import type { Clock } from "../../base/clock.ts";
import { errorText, KernelError } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import type { Files } from "../../files/port.ts";
import type { StoredSession } from "../session-store.ts";
import { type LeaseHolder, takeFreeLease } from "./lease.ts";
import { withStorageError } from "./logs/storage-error.ts";
import {
	findSession,
	isThere,
	type SessionPaths,
	stagedName,
	toSessionPaths,
	toStagedDirectory,
} from "./session-directory.ts";

/** The paths at which a session is written before it is one. */
export function toStagedPaths(shareDir: string, id: string): SessionPaths {
	return toSessionPaths(shareDir, stagedName, id);
}

export interface StagingOptions {
	readonly files: Files;
	readonly log: Log;
	readonly id: string;
	/** Where the session will be. */
	readonly paths: SessionPaths;
	readonly staged: SessionPaths;
	/** Opens the session at its staged paths. */
	open(): Promise<StoredSession>;
	/** Makes the work directory known, so that the session is found in it. */
	register(): Promise<void>;
}

/** Fails `busy` when there is a session at these paths, and with whatever `fill` throws. */
export async function stageSession(
	{ files, log, id, paths, staged, open, register }: StagingOptions,
	fill: (session: StoredSession) => Promise<void>,
): Promise<void> {
	if (isThere(await findSession(files, paths))) {
		throw new KernelError("busy", `There is a session ${id} already, in ${paths.directory}: choose another id.`);
	}
	const parent = path.dirname(paths.directory);
	try {
		const session = await open();
		try {
			await fill(session);
			await session.establish();
		} finally {
			await session.close({ becomesLast: false });
		}
		await register();
		await withStorageError(paths.directory, async () => {
			await files.makeDirectory(parent);
			await files.rename(staged.directory, paths.directory);
			for (const directory of [parent, path.dirname(parent)]) await files.syncDirectory(directory);
		});
	} catch (thrown) {
		await files.remove(staged.directory).catch((left: unknown) => {
			log.warn("files of a session that was not created remain", {
				directory: staged.directory,
				cause: errorText(left),
			});
		});
		throw thrown;
	}
}

/** Milliseconds after which nobody creates a session any more, wherever that was begun. */
const longestCreation = 86_400_000;

/**
 * Removes what processes left that were killed while they created a session: directories that were last changed before
 * `before`, and that no living process writes. One elsewhere is not asked whether it lives, which a first turn would wait for.
 */
export async function sweepStaged(
	{ files, clock, log, shareDir }: { files: Files; clock: Clock; log: Log; shareDir: string },
	before: number,
): Promise<void> {
	const parent = toStagedDirectory(shareDir);
	if ((await files.status(parent)) === null) return;
	for (const { name, kind } of await files.list(parent)) {
		const { directory, lease: leasePath } = toStagedPaths(shareDir, name);
		const modifiedAt = (await files.status(directory))?.modifiedAt ?? before;
		if (kind !== "directory" || modifiedAt >= before) continue;
		const elsewhere = modifiedAt >= before - longestCreation ? "living" : "ended";
		try {
			const lease = await takeFreeLease({ files, clock, log, path: leasePath, directory }, isWritten, elsewhere);
			await files.remove(directory);
			await lease.release();
		} catch (thrown) {
			log.debug("files of a session that is being created stay", { directory, cause: errorText(thrown) });
		}
	}
}

function isWritten({ name }: LeaseHolder): KernelError {
	return new KernelError("busy", `It is being written by process ${name}.`);
}
