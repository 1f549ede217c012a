// The session directories of earlier releases, opened by the built executable.
import { describe, expect, it } from "vitest";
import { asPromised, listReleases, readRelease } from "../support/transcripts/baselines.ts";
import { playOverProcess } from "../support/transcripts/transcript-process.ts";

describe.each(listReleases())("release %s, over the executable", (release) => {
	const { transcripts } = readRelease(release);
	it.each(transcripts.map((transcript) => [transcript.name, transcript] as const))("%s", async (_, transcript) => {
		await expect(playOverProcess(transcript, asPromised(transcript))).resolves.toBeUndefined();
	});
});
