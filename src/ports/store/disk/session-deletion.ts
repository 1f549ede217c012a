// Deletes a session permanently: one rename moves its directory to where no session is found, then its files are removed.
import { randomBytes } from "node:crypto";
import path from "node:path";
import type { Clock } from "../../../base/clock.ts";
import { errorText, KernelError } from "../../../base/errors.ts";
import type { Log } from "../../../base/log.ts";
import type { Files } from "../../files/port.ts";
import { type Lease, type LeaseHolder, takeFreeLease } from "./lease.ts";
import { findSession, isThere, type SessionPaths, toDeletedDirectory } from "./session-directory.ts";
import type { SessionIndex } from "./session-index.ts";

export interface DeletionOptions {
	readonly files: Files;
	readonly clock: Clock;
	readonly log: Log;
	readonly index: SessionIndex;
	readonly workDir: string;
	readonly id: string;
	readonly paths: SessionPaths;
}

/** Fails `busy` while another process uses it, `storage-failed` if it cannot be removed. */
export async function deleteDiskSession(options: DeletionOptions): Promise<void> {
	const { files, index, log, workDir, id, paths } = options;
	try {
		if (isThere(await findSession(files, paths))) {
			const lease = await takeFreeLease({ ...options, path: paths.lease, directory: paths.directory }, (holder) =>
				inUse(options, holder),
			);
			try {
				await putAside(files, paths, lease);
			} finally {
				await lease.release().catch((thrown: unknown) => {
					log.warn("the lease of a deleted session remains", { path: paths.lease, cause: errorText(thrown) });
				});
			}
		}
		// Also correct after a crash in between: until then it names no session.
		await index.clearLastSession(workDir, id);
		await removeDeleted(files, paths.shareDir, log);
	} catch (thrown) {
		if (thrown instanceof KernelError) throw thrown;
		const text = `Cannot delete the session in ${paths.directory}: ${errorText(thrown)}`;
		throw new KernelError("storage-failed", text, { cause: thrown });
	}
}

async function putAside(files: Files, paths: SessionPaths, lease: Lease): Promise<void> {
	const { directory, context, oldContext } = paths;
	const parent = path.dirname(directory);
	if ((await files.status(oldContext)) !== null) {
		await files.makeDirectory(directory);
		if ((await files.status(context)) === null) await files.rename(oldContext, context);
		else await files.remove(oldContext);
		// A power loss must not restore it as a session.
		await files.syncDirectory(parent);
	}
	const deleted = toDeletedDirectory(paths.shareDir);
	await files.makeDirectory(deleted);
	await lease.check();
	await files.rename(directory, path.join(deleted, randomBytes(9).toString("hex")));
	await files.syncDirectory(parent);
}

/** Removes remains of deleted sessions, from this process or other ones, running or killed. */
export async function removeDeleted(files: Files, shareDir: string, log: Log): Promise<void> {
	const deleted = toDeletedDirectory(shareDir);
	if ((await files.status(deleted)) === null) return;
	for (const { name } of await files.list(deleted)) {
		const directory = path.join(deleted, name);
		try {
			await files.remove(directory);
		} catch (thrown) {
			log.warn("files of a deleted session could not be removed", { directory, cause: errorText(thrown) });
		}
	}
}

function inUse({ id, paths }: DeletionOptions, { isThisProcess, name }: LeaseHolder): KernelError {
	const where = isThisProcess ? "in this process" : `in another process (${name})`;
	return new KernelError(
		"busy",
		`The session ${id} cannot be deleted, because it is open ${where}: close it there first. Its lease is ${paths.lease}.`,
	);
}
