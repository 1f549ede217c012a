// Tracks directories with names that are not on stable storage yet: a file that was created, renamed or replaced
// survives a power loss only once its directory is synced too.
import path from "node:path";
import { systemErrorCode } from "../../../base/errors.ts";
import { createSharedRuns } from "../../../base/shared-run.ts";
import type { Files } from "../../files/port.ts";
import { withStorageError } from "./logs/storage-error.ts";

export interface NameSync {
	/** Whether every name noted so far is on stable storage. */
	isSynced(): boolean;
	/** A file was created or removed at this path. */
	nameMade(file: string): void;
	/**
	 * A directory may have been created, or found as a killed process left it: notes it and all above it, up to the
	 * share directory.
	 */
	directoryMade(directory: string): void;
	/** Puts every name noted so far on stable storage. Fails `storage-failed`. */
	sync(): Promise<void>;
}

/** Puts the names in a directory on stable storage. */
export type SyncDirectory = (directory: string) => Promise<void>;

/**
 * For all sessions of a store: those that are created together have most directories in common. A sync that was requested
 * while another one ran is one that began later.
 */
export function createDirectorySync(files: Pick<Files, "syncDirectory">): SyncDirectory {
	const syncs = createSharedRuns<void>();
	return (directory) => syncs(directory, () => files.syncDirectory(directory));
}

/** The directory of a session, and the share directory above it. */
export interface SyncedDirectories {
	readonly shareDir: string;
	readonly directory: string;
}

export function createNameSync(
	syncDirectory: SyncDirectory,
	{ shareDir, directory: ownDirectory }: SyncedDirectories,
): NameSync {
	const unsynced = new Set<string>();
	let syncing = 0;
	let last: Promise<void> = Promise.resolve();

	/**
	 * A directory below the session's may have been removed since, such as that of a task that did not start: its names are gone with it, and
	 * what has to last is that the one above has it no more. The session's own must be there.
	 */
	const syncNames = async (directory: string): Promise<void> => {
		try {
			await syncDirectory(directory);
		} catch (thrown) {
			const isBelow = directory.startsWith(ownDirectory + path.sep);
			if (!isBelow || systemErrorCode(thrown) !== "ENOENT") throw thrown;
			await syncNames(path.dirname(directory));
		}
	};
	const syncAll = async (): Promise<void> => {
		const directories = [...unsynced];
		unsynced.clear();
		syncing += 1;
		try {
			await Promise.all(directories.map((directory) => withStorageError(directory, () => syncNames(directory))));
		} catch (thrown) {
			for (const directory of directories) unsynced.add(directory);
			throw thrown;
		} finally {
			syncing -= 1;
		}
	};

	return {
		isSynced: () => unsynced.size + syncing === 0,
		nameMade(file) {
			unsynced.add(path.dirname(file));
		},
		directoryMade(directory) {
			const top = path.dirname(shareDir);
			for (let current = directory; current !== top; current = path.dirname(current)) unsynced.add(current);
			unsynced.add(top);
		},
		sync() {
			// Serialized: a call with nothing left to sync must still wait for the sync that is under way.
			last = last.catch(() => undefined).then(syncAll);
			return last;
		},
	};
}
