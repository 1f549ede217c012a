// Plays the golden transcripts over the built executable that the sample leaves out.
import { describe, it } from "vitest";
import { runsOnBun } from "../support/executable/executable.ts";
import { playOverProcess } from "../support/transcripts/transcript-process.ts";
import { processSample } from "../support/transcripts/transcript-samples.ts";

describe("other golden transcripts over the process", () => {
	for (const transcript of processSample.others) {
		// It has what Node's engine says of a text that is not JSON.
		const isNodes = transcript.name === "acp/many-parts";
		it.skipIf(runsOnBun && isNodes).concurrent(
			`${transcript.name}: ${transcript.title}`,
			() => playOverProcess(transcript),
			60_000,
		);
	}
});
