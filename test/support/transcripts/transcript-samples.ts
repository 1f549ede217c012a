// Which golden transcripts are played where, besides memory, which plays all of them.
import type { Transcript } from "../../../src/testing/transcripts/format.ts";
import { readTranscripts } from "./transcript-files.ts";

export interface Sample {
	/** Played with every run of the tests. */
	readonly sampled: readonly Transcript[];
	/** Played with the long ones. */
	readonly others: readonly Transcript[];
}

/** Every `share`th transcript is sampled: of every dialect some, because they are in the order of their names. */
function toSample(transcripts: readonly Transcript[], share: number): Sample {
	return {
		sampled: transcripts.filter((_, index) => index % share === 0),
		others: transcripts.filter((_, index) => index % share !== 0),
	};
}

const transcripts = readTranscripts();

/** Over the built executable. Those that deviate fail in memory already; those with gates cannot be played there. */
export const processSample = toSample(
	transcripts.filter(({ isMemoryOnly, deviation }) => !isMemoryOnly && deviation === null),
	8,
);

/** With the kernel at the other end of a socket, where sessions do not use the files of an editor. */
export const remoteSample = toSample(
	transcripts.filter(({ covers }) => !covers.some(({ cell }) => cell.startsWith("fs/"))),
	4,
);
