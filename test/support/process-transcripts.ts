// Which golden transcripts are played over the built executable when.
import { readTranscripts, type Transcript } from "./transcript-format.ts";

/** One of so many is played with every run of the tests; the others, which memory has played by then, with the long ones. */
const share = 8;

/** Those that deviate fail in memory already; those with gates cannot be played here. */
const playable = readTranscripts().filter(({ isMemoryOnly, deviation }) => !isMemoryOnly && deviation === null);

/** A sample of every dialect: transcripts are in the order of their names. */
export const sampledTranscripts: readonly Transcript[] = playable.filter((_, index) => index % share === 0);

export const otherTranscripts: readonly Transcript[] = playable.filter((_, index) => index % share !== 0);
