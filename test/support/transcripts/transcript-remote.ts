// Plays a transcript in the test process with the kernel at the other end of a socket.

import type { Transcript } from "../../../src/testing/transcripts/format.ts";
import { overSocket, sessionsOverSocket } from "../host/remote-sessions.ts";
import { type Connect, playInMemory } from "./transcript-memory.ts";

const connect: Connect = async ({ session, host }) => ({
	session: session === null ? null : await overSocket(session),
	...(host === undefined ? {} : { host: { ...host, sessions: await sessionsOverSocket(host.sessions) } }),
});

export const playRemotely = (transcript: Transcript): Promise<void> => playInMemory(transcript, connect);
