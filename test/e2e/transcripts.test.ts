// Plays a sample of the golden transcripts over the built executable.
import { describe, it } from "vitest";
import { playOverProcess } from "../support/transcripts/transcript-process.ts";
import { processSample } from "../support/transcripts/transcript-samples.ts";

describe("golden transcripts over the process", () => {
	for (const transcript of processSample.sampled) {
		it.concurrent(`${transcript.name}: ${transcript.title}`, () => playOverProcess(transcript), 60_000);
	}
});
