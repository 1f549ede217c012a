// Plays a sample of the golden transcripts over the built executable.
import { describe, it } from "vitest";
import { sampledTranscripts } from "../support/process-transcripts.ts";
import { playOverProcess } from "../support/transcript-process.ts";

describe("golden transcripts over the process", () => {
	for (const transcript of sampledTranscripts) {
		it.concurrent(`${transcript.name}: ${transcript.title}`, () => playOverProcess(transcript), 60_000);
	}
});
