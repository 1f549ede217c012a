// Creates a session with content atomically: renames a staging directory, unless another process has created the same id meanwhile.
import { randomBytes } from "node:crypto";
import path from "node:path";
import type { Clock } from "../../../base/clock.ts";
import { errorText, KernelError } from "../../../base/errors.ts";
import type { Log } from "../../../base/log.ts";
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

/** Unique staging paths, because several sessions may be created under one id. */
export function toStagedPaths(shareDir: string): SessionPaths {
	return stagedPathsOf(shareDir, randomBytes(9).toString("hex"));
}

function stagedPathsOf(shareDir: string, name: string): SessionPaths {
	return toSessionPaths(shareDir, stagedName, name);
}

export interface StagingOptions {
	readonly files: Files;
	readonly clock: Clock;
	readonly log: Log;
	readonly id: string;
	readonly paths: SessionPaths;
	readonly staged: SessionPaths;
	open(): Promise<StoredSession>;
	/** Registers the work directory, so that the session can be found. */
	register(): Promise<void>;
}

/** Fails `busy` if a session exists at these paths, and with any error from `fill`. */
export async function stageSession(
	options: StagingOptions,
	fill: (session: StoredSession) => Promise<void>,
): Promise<void> {
	const { files, log, staged, open, register } = options;
	await refuseKnown(options);
	try {
		const session = await open();
		try {
			await fill(session);
			await session.establish();
		} finally {
			await session.close({ becomesLast: false });
		}
		await register();
		await withStorageError(options.paths.directory, () => publish(options));
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

function toKnown({ id, paths }: StagingOptions): KernelError {
	return new KernelError("busy", `There is a session ${id} already, in ${paths.directory}: choose another id.`);
}

async function refuseKnown(options: StagingOptions): Promise<void> {
	if (isThere(await findSession(options.files, options.paths))) throw toKnown(options);
}

async function publish(options: StagingOptions): Promise<void> {
	const { files, log, paths, staged } = options;
	const { directory } = paths;
	const parent = path.dirname(directory);
	const lease = await takeFreeLease({ ...options, path: paths.lease, directory }, () => toKnown(options));
	try {
		await refuseKnown(options);
		await files.makeDirectory(parent);
		await files.rename(staged.directory, directory);
		for (const changed of [parent, path.dirname(parent)]) await files.syncDirectory(changed);
	} finally {
		await lease.release().catch((thrown: unknown) => {
			log.warn("the lease of a session that was created remains", { path: paths.lease, cause: errorText(thrown) });
		});
	}
}

/** Milliseconds after which a creation counts as abandoned on any machine. */
const longestCreation = 86_400_000;

/** Removes staging directories last changed before `before`, unless a living process of this machine writes them. */
export async function sweepStaged(
	{ files, clock, log, shareDir }: { files: Files; clock: Clock; log: Log; shareDir: string },
	before: number,
): Promise<void> {
	const parent = toStagedDirectory(shareDir);
	if ((await files.status(parent)) === null) return;
	for (const { name, kind } of await files.list(parent)) {
		const { directory, lease: leasePath } = stagedPathsOf(shareDir, name);
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
