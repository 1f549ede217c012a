// The session directories of earlier releases, opened by the built executable.
import { describe, expect, it } from "vitest";
import { runsOnBun } from "../support/executable/executable.ts";
import { asPromised, listReleases, readRelease } from "../support/transcripts/baselines.ts";
import { playOverProcess } from "../support/transcripts/transcript-process.ts";

describe.each(listReleases())("release %s, over the executable", (release) => {
	const { transcripts } = readRelease(release);
	// One has what Node's engine says of a text that is not JSON.
	const played = transcripts.filter(({ name }) => !runsOnBun || name !== "acp/many-parts");
	it.each(played.map((transcript) => [transcript.name, transcript] as const))("%s", async (_, transcript) => {
		await expect(playOverProcess(transcript, asPromised(transcript))).resolves.toBeUndefined();
	});
});
