// What is found of a session on disk before anything of it is read.
import type { FoundFiles } from "./found-files.ts";

/** Sizes of the logs in bytes, 0 for missing ones. */
export interface FoundSession {
	/** The file the context is read from; null when the session has none. */
	readonly contextPath: string | null;
	readonly journalSize: number;
	readonly contextSize: number;
	readonly eventsSize: number;
	readonly callsSize: number;
	readonly hasState: boolean;
	/** Its files as they were then. */
	readonly files: FoundFiles;
}

/** The bytes in all logs of the session. */
export function logBytes({ journalSize, contextSize, eventsSize, callsSize }: FoundSession): number {
	return journalSize + contextSize + eventsSize + callsSize;
}
