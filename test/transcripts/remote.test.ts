// Plays every golden transcript with the kernel at the other end of a socket: the front end sends the same bytes.
import { describe, expect, it } from "vitest";
import { overSocket, sessionsOverSocket } from "../support/remote-sessions.ts";
import { readTranscripts } from "../support/transcript-format.ts";
import { type Connect, playInMemory } from "../support/transcript-memory.ts";

const connect: Connect = async ({ session, host }) => ({
	session: session === null ? null : await overSocket(session),
	...(host === undefined ? {} : { host: { ...host, sessions: await sessionsOverSocket(host.sessions) } }),
});

describe("golden transcripts with a kernel elsewhere", () => {
	for (const transcript of readTranscripts()) {
		const play = transcript.deviation === null ? it : it.fails;
		play(`${transcript.name}: ${transcript.title}`, async () => {
			await expect(playInMemory(transcript, connect)).resolves.toBeUndefined();
		});
	}
});
