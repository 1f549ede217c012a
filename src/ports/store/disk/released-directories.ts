// The session directories that this process has released, so that loading one again need not sweep it, nor read the end of
// its event log: as long as no name in it has changed, no killed process has left anything there.
import type { Clock } from "../../../base/clock.ts";
import { forgetOldest } from "../../../base/collections.ts";
import type { FileStatus, Files } from "../../files/port.ts";
import { showsLaterChanges } from "./file-times.ts";

export interface LeftDirectories {
	/** Notes the current state of a directory, every name in it being on stable storage. */
	note(directory: string): Promise<void>;
	/** Notes how the event log in it was when that ended with a whole line; null when that is not known. */
	noteEvents(directory: string, whole: FileStatus | null): void;
	/** How that was, if every later change of it shows in its status; null otherwise. */
	wholeEvents(directory: string): FileStatus | null;
	/** Whether no name in it has changed since it was noted. */
	isAsLeft(directory: string): Promise<boolean>;
}

/** Of those released last. */
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
	/** The time of the last change of each. */
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
