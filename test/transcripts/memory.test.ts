// Plays the golden transcripts in the test process, and runs its sessions again from what was stored of them.
import { describe, expect, it } from "vitest";
import { isPlayedInMemory, readTranscripts } from "../support/transcripts/transcript-files.ts";
import { playInMemory } from "../support/transcripts/transcript-memory.ts";
import { findReplayDifferences } from "../support/transcripts/transcript-replay.ts";

/** Their sessions have a context from elsewhere, of which no event tells. */
const begunElsewhere: ReadonlySet<string> = new Set(["kimi/compact-unset-model"]);

describe("golden transcripts in memory", () => {
	for (const transcript of readTranscripts().filter(isPlayedInMemory)) {
		// Where the product is known to deviate, the transcript fails; once mended, its `deviation:` line must go.
		const play = transcript.deviation === null ? it : it.fails;
		play(`${transcript.name}: ${transcript.title}`, async () => {
			const look = async (store: Parameters<typeof findReplayDifferences>[0]) => {
				if (!begunElsewhere.has(transcript.name)) expect(await findReplayDifferences(store)).toEqual([]);
			};
			await expect(playInMemory(transcript, undefined, undefined, look)).resolves.toBeUndefined();
		});
	}
});
