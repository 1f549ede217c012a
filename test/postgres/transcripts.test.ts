// Clients over stdin and stdout notice nothing of the store: the golden transcripts of every dialect are played over the built executable
// with its sessions in PostgreSQL.
import { describe, expect, inject, it } from "vitest";
import type { Transcript } from "../../src/testing/transcripts/format.ts";
import { createPostgresPlace } from "../support/postgres/postgres-place.ts";
import { playOverProcess } from "../support/transcripts/transcript-process.ts";
import { processSample } from "../support/transcripts/transcript-samples.ts";

const url = inject("postgresUrl");

async function playOverDatabase(transcript: Transcript): Promise<void> {
	const place = await createPostgresPlace(url);
	try {
		const store = { type: "postgres", url, schema: place.schema };
		await playOverProcess({ ...transcript, settings: { ...transcript.settings, store } });
	} finally {
		await place.cleanUp();
	}
}

/** Session files and directories are on a disk, and so are the recorded changes that a rewind of files needs. */
const played = processSample.sampled.filter(
	({ name, sessionFiles, conversations }) =>
		sessionFiles.size === 0 &&
		!name.endsWith("/rewind") &&
		!JSON.stringify(conversations).includes("<share-dir>/sessions"),
);

describe.skipIf(url === "")("golden transcripts with sessions in PostgreSQL", () => {
	it("are of every dialect", () => {
		const servers = new Set(played.map(({ server }) => server));
		expect([...servers]).toEqual(expect.arrayContaining(["acp", "meerkat", "session"]));
	});
	for (const transcript of played) {
		it(`${transcript.name}: ${transcript.title}`, () => playOverDatabase(transcript), 60_000);
	}
});
