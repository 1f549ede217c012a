// Released session directories: while no name in one has changed, its reload needs no sweep and no read of the event log's end.
import type { Clock } from "../../../base/clock.ts";
import { forgetOldest } from "../../../base/collections.ts";
import type { FileStatus, Files } from "../../files/port.ts";
import { showsLaterChanges } from "./file-times.ts";

export interface LeftDirectories {
	/** Notes a directory's current state; all its names are on stable storage. */
	note(directory: string): Promise<void>;
	/** Notes the event log's status when it ended with a complete line; null if unknown. */
	noteEvents(directory: string, whole: FileStatus | null): void;
	/** Returns that status, if every later change will show in it; otherwise null. */
	wholeEvents(directory: string): FileStatus | null;
	/** Whether no name in it has changed since it was noted. */
	isAsLeft(directory: string): Promise<boolean>;
}

/** Maximum remembered directories, most recently released. */
const mostDirectories = 10_000;

function remember<Value>(known: Map<string, Value>, directory: string, value: Value): void {
	known.delete(directory);
	known.set(directory, value);
	forgetOldest(known, mostDirectories);
}

export function createLeftDirectories({
	files,
	clock,
}: {
	readonly files: Files;
	readonly clock: Clock;
}): LeftDirectories {
	const times = new Map<string, number>();
	const events = new Map<string, FileStatus>();
	return {
		async note(directory) {
			const now = clock.now();
			const modifiedAt = (await files.status(directory))?.modifiedAt;
			if (modifiedAt === undefined || !showsLaterChanges(modifiedAt, now)) times.delete(directory);
			else remember(times, directory, modifiedAt);
		},
		noteEvents(directory, whole) {
			if (whole === null || !showsLaterChanges(whole.modifiedAt, clock.now())) events.delete(directory);
			else remember(events, directory, whole);
		},
		wholeEvents: (directory) => events.get(directory) ?? null,
		async isAsLeft(directory) {
			const known = times.get(directory);
			return known !== undefined && (await files.status(directory))?.modifiedAt === known;
		},
	};
}
