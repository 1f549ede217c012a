// Plays the golden transcripts that the sample leaves out with the kernel at the other end of a socket: the front end sends the
// same bytes.
import { describe, expect, it } from "vitest";
import { playRemotely } from "../support/transcripts/transcript-remote.ts";
import { remoteSample } from "../support/transcripts/transcript-samples.ts";

describe("other golden transcripts with a kernel elsewhere", () => {
	for (const transcript of remoteSample.others) {
		const play = transcript.deviation === null ? it : it.fails;
		play(`${transcript.name}: ${transcript.title}`, async () => {
			await expect(playRemotely(transcript)).resolves.toBeUndefined();
		});
	}
});
