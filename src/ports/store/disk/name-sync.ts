// Directories with names not on stable storage yet: after a power loss, a new or renamed file is only there if they were synced.
import path from "node:path";
import { systemErrorCode } from "../../../base/errors.ts";
import { createSharedRuns } from "../../../base/shared-run.ts";
import type { Files } from "../../files/port.ts";
import { withStorageError } from "./logs/storage-error.ts";

export interface NameSync {
	/** Whether all names noted so far are on stable storage. */
	isSynced(): boolean;
	nameMade(file: string): void;
	/** Notes a directory that may have been created here or by a killed process, and its parents up to the share directory. */
	directoryMade(directory: string): void;
	/** Syncs all noted names to stable storage. Fails `storage-failed`. */
	sync(): Promise<void>;
}

export type SyncDirectory = (directory: string) => Promise<void>;

/** Shared by all sessions of a store. A sync requested during another one waits for a new sync. */
export function createDirectorySync(files: Pick<Files, "syncDirectory">): SyncDirectory {
	const syncs = createSharedRuns<void>();
	return (directory) => syncs(directory, () => files.syncDirectory(directory));
}

/** The session directory, and the share directory above it. */
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

	/** A subdirectory may have been removed since; then only its removal must persist. The session directory must exist. */
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
			// Serialized: a call with nothing left to sync must still wait for the sync in progress.
			last = last.catch(() => undefined).then(syncAll);
			return last;
		},
	};
}
