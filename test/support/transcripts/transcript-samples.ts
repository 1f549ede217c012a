// Which golden transcripts are played where, besides memory.
import type { Transcript } from "../../../src/testing/transcripts/format.ts";
import { isPlayedInMemory, readTranscripts } from "./transcript-files.ts";

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
const playedInMemory = transcripts.filter(isPlayedInMemory);
const sample = toSample(
	playedInMemory.filter(({ isMemoryOnly, deviation }) => !isMemoryOnly && deviation === null),
	8,
);

/** Over the built executable, which alone plays some. Those that deviate fail in memory already; those with gates cannot be played there. */
export const processSample: Sample = {
	sampled: [...sample.sampled, ...transcripts.filter((transcript) => !isPlayedInMemory(transcript))],
	others: sample.others,
};

/** With the kernel at the other end of a socket, where sessions do not use the files of an editor. */
export const remoteSample = toSample(
	playedInMemory.filter(({ covers }) => !covers.some(({ cell }) => cell.startsWith("fs/"))),
	4,
);
