// The session directories that this process has released, so that loading one again need not sweep it: as long as no
// name in it has changed, no killed process has left anything there.
import type { Clock } from "../../base/clock.ts";
import type { Files } from "../../files/port.ts";

/** Milliseconds within which two changes of a directory may have the same time. */
const tick = 100;
/** The same where times seem to be in whole seconds: some file systems count them by two. */
const longTick = 2000 + tick;

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
			// A change right after this one might have the same time.
			const hidden = modifiedAt !== undefined && modifiedAt % 1000 === 0 ? longTick : tick;
			if (modifiedAt === undefined || clock.now() - modifiedAt < hidden) times.delete(directory);
			else times.set(directory, modifiedAt);
		},
		async isAsLeft(directory) {
			const known = times.get(directory);
			return known !== undefined && (await files.status(directory))?.modifiedAt === known;
		},
	};
}
