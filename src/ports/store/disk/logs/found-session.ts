// The files of a session on disk, located but not yet read.
import type { FoundFiles } from "./found-files.ts";

/** Sizes of the logs in bytes, 0 if missing. */
export interface FoundSession {
	readonly contextPath: string | null;
	readonly journalSize: number;
	readonly contextSize: number;
	readonly eventsSize: number;
	readonly callsSize: number;
	readonly hasState: boolean;
	readonly files: FoundFiles;
}

/** The total log size in bytes. */
export function logBytes({ journalSize, contextSize, eventsSize, callsSize }: FoundSession): number {
	return journalSize + contextSize + eventsSize + callsSize;
}
