// Plays the golden transcripts over the built executable that the sample leaves out.
import { describe, it } from "vitest";
import { playOverProcess } from "../support/transcripts/transcript-process.ts";
import { processSample } from "../support/transcripts/transcript-samples.ts";

describe("other golden transcripts over the process", () => {
	for (const transcript of processSample.others) {
		it.concurrent(`${transcript.name}: ${transcript.title}`, () => playOverProcess(transcript), 60_000);
	}
});
