// Plays every golden transcript in the test process.
import { describe, expect, it } from "vitest";
import { readTranscripts } from "../support/transcripts/transcript-files.ts";
import { playInMemory } from "../support/transcripts/transcript-memory.ts";

describe("golden transcripts in memory", () => {
	for (const transcript of readTranscripts()) {
		// Where the product is known to deviate, the transcript fails; once mended, its `deviation:` line must go.
		const play = transcript.deviation === null ? it : it.fails;
		play(`${transcript.name}: ${transcript.title}`, async () => {
			await expect(playInMemory(transcript)).resolves.toBeUndefined();
		});
	}
});
