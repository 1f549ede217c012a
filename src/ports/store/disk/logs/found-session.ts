import type { FoundFiles } from "./found-files.ts";

export interface FoundSession {
	readonly contextPath: string | null;
	readonly journalSize: number;
	readonly contextSize: number;
	readonly eventsSize: number;
	readonly callsSize: number;
	readonly hasState: boolean;
	readonly files: FoundFiles;
}

export function logBytes({ journalSize, contextSize, eventsSize, callsSize }: FoundSession): number {
	return journalSize + contextSize + eventsSize + callsSize;
}
