// The session directories that this process has released, so that loading one again need not sweep it: as long as no
// name in it has changed, no killed process has left anything there.
import type { Clock } from "../../base/clock.ts";
import type { Files } from "../../files/port.ts";
import { showsLaterChanges } from "./file-times.ts";

export interface LeftDirectories {
	/** Notes the current state of a directory, every name in it being on stable storage. */
	note(directory: string): Promise<void>;
	/** Whether no name in it has changed since it was noted. */
	isAsLeft(directory: string): Promise<boolean>;
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
	return {
		async note(directory) {
			const modifiedAt = (await files.status(directory))?.modifiedAt;
			if (modifiedAt === undefined || !showsLaterChanges(modifiedAt, clock.now())) times.delete(directory);
			else times.set(directory, modifiedAt);
		},
		async isAsLeft(directory) {
			const known = times.get(directory);
			return known !== undefined && (await files.status(directory))?.modifiedAt === known;
		},
	};
}
