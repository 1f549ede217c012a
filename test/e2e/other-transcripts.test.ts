// Plays the golden transcripts over the built executable that the sample leaves out.
import { describe, it } from "vitest";
import { otherTranscripts } from "../support/process-transcripts.ts";
import { playOverProcess } from "../support/transcript-process.ts";

describe("other golden transcripts over the process", () => {
	for (const transcript of otherTranscripts) {
		it.concurrent(`${transcript.name}: ${transcript.title}`, () => playOverProcess(transcript), 60_000);
	}
});
