// Front ends that reach their sessions over a connection: over a pair of streams in memory, and over a real socket.
import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";
import { type Duplex, duplexPair } from "node:stream";
import type { SessionApi, SessionHandle, SessionsApi } from "../../../src/api/kernel.ts";
import { silentLog } from "../../../src/base/log.ts";
import { createStreamTransport } from "../../../src/ports/transports/stream.ts";
import { serveKernel } from "../../../src/remote/kernel-server.ts";
import { connectKernel, type RemoteKernel } from "../../../src/remote/remote-kernel.ts";

const limits = { lineLimit: 10_000_000, outboxLimit: 262_144 };

/** Two ends of one connection. */
type CreatePair = () => Promise<readonly [Duplex, Duplex]>;

const createMemoryPair: CreatePair = async () => duplexPair();

export const createSocketPair = async (): Promise<readonly [Socket, Socket]> => {
	// With the system's delay a small write waits up to forty milliseconds for the one before it.
	const server = createServer({ allowHalfOpen: true, noDelay: true });
	server.listen(0, "127.0.0.1");
	await once(server, "listening");
	const address = server.address();
	if (address === null || typeof address === "string") throw new Error("the server has no port");
	const client = connect({ port: address.port, host: "127.0.0.1", allowHalfOpen: true, noDelay: true });
	const [[accepted]] = await Promise.all([once(server, "connection"), once(client, "connect")]);
	server.close();
	return [accepted, client];
};

export const connectionKinds: readonly (readonly [name: string, createPair: CreatePair])[] = [
	["over streams in memory", createMemoryPair],
	["over a socket", createSocketPair],
];

/** The way to a session over a real socket. */
export const overSocket = (session: SessionApi) => connectSession(session, createSocketPair);

/** The way to the sessions of a kernel over a real socket. */
export const sessionsOverSocket = async (sessions: SessionsApi): Promise<SessionsApi> =>
	(await connectRemote(sessions, createSocketPair)).sessions;

export interface Remote extends RemoteKernel {
	/** Cuts the connection. */
	cut(): void;
	/** Resolves when the server has given everything back. */
	readonly served: Promise<void>;
}

/** A kernel elsewhere, as a front end sees it. */
export async function connectRemote(sessions: SessionsApi, createPair: CreatePair): Promise<Remote> {
	const [near, far] = await createPair();
	const served = serveKernel({ sessions, transport: createStreamTransport(near, limits), log: silentLog });
	const kernel = await connectKernel(createStreamTransport(far, limits), silentLog);
	const cut = () => {
		far.destroy();
		// Of a pair in memory the other end does not learn of it.
		near.destroy();
	};
	return { ...kernel, cut, served };
}

/** A session elsewhere, as a front end sees it. */
export async function connectSession(session: SessionApi, createPair: CreatePair): Promise<SessionApi> {
	const { sessions } = await connectRemote(offerSession(session), createPair);
	return (await sessions.acquire(session.id)).session;
}

/** The sessions of a kernel that has only this one. */
export function offerSession(session: SessionApi): SessionsApi {
	const info = {
		id: session.id,
		workDir: session.workDir,
		model: "m",
		provider: "p",
		isRunning: false,
		isWaiting: false,
		labels: {},
	};
	const handle: SessionHandle = {
		session,
		info,
		startTurn: (input) => session.send({ type: "turn.start", input }),
		release() {},
		discard: async () => {},
	};
	const none = async (): Promise<never> => {
		throw new Error("there is one session");
	};
	return {
		takesEditorFiles: false,
		create: none,
		acquire: async () => handle,
		fork: none,
		loaded: async () => [info],
		list: none,
		storedEvents: () => session.events(),
		models: none,
		skills: none,
		skillText: none,
		interrupt: none,
		unload: none,
		archive: none,
		unarchive: none,
		delete: none,
		stop: () => session.stop(),
	};
}
