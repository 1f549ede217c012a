// Plays every golden transcript over the built executable.
import { describe, it } from "vitest";
import { readTranscripts } from "../support/transcript-format.ts";
import { playOverProcess } from "../support/transcript-process.ts";

describe("golden transcripts over the process", () => {
	// Those that deviate fail in memory already; those with gates cannot be played here.
	const played = readTranscripts().filter(({ isMemoryOnly, deviation }) => !isMemoryOnly && deviation === null);
	for (const transcript of played) {
		it.concurrent(`${transcript.name}: ${transcript.title}`, () => playOverProcess(transcript), 60_000);
	}
});
