// Clients that speak a full protocol over WebSocket. Access is checked as for requests; sessions continue without them.
import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import { type WebSocket, WebSocketServer } from "ws";
import type { SessionApi, SessionHandle, SessionsApi } from "../../../api/kernel.ts";
import type { Clock } from "../../../base/clock.ts";
import type { Log } from "../../../base/log.ts";
import type { LineTransport } from "../../../ports/rpc/transport.ts";
import { createMessageTransport, type MessageSocket } from "../../../ports/transports/messages.ts";
import { HttpRefusal } from "../replies.ts";
import { answeredProtocol, type SocketTarget } from "./handshake.ts";

export const socketLimit = 64;
export const messageLimit = 32 * 1024 * 1024;
/** Queued characters at which the model waits for the client, and at which reading from the client stops. */
const outboxLimit = 256 * 1024;
const replyLimit = 16 * 1024 * 1024;
/** Milliseconds between pings; a client that misses two is disconnected. */
export const socketBeat = 15_000;
const silentBeats = 2;
/** Milliseconds for a client to complete the close handshake. */
const farewell = 1000;

export const closeCodes = {
	over: 1000,
	stopping: 1001,
	notText: 1003,
	failed: 1011,
	revoked: 4401,
	silent: 4408,
} as const;

export type SocketVisit = { readonly dialect: "acp" } | { readonly dialect: "kimi"; readonly session: SessionApi };

/** Speaks a protocol until the client disconnects or the signal aborts at shutdown, then closes the transport. */
export type Converse = (visit: SocketVisit, transport: LineTransport, signal: AbortSignal) => Promise<void>;

export interface SocketParts {
	readonly sessions: SessionsApi;
	readonly converse: Converse;
	readonly clock: Clock;
	readonly log: Log;
	/** Calls back when the token becomes invalid; returns a function that cancels. */
	watchToken(token: string, onRevoked: () => void): () => void;
}

export class Sockets {
	readonly #parts: SocketParts;
	readonly #server = new WebSocketServer({
		noServer: true,
		clientTracking: false,
		maxPayload: messageLimit,
		perMessageDeflate: false,
		handleProtocols: answeredProtocol,
	});
	readonly #open = new Set<AbortController>();
	#isStopping = false;

	constructor(parts: SocketParts) {
		this.#parts = parts;
	}

	/** Serves an admitted client until it disconnects. Fails with the response to send instead of a socket. */
	async serve(
		target: SocketTarget,
		token: string,
		request: IncomingMessage,
		stream: Duplex,
		head: Buffer,
	): Promise<void> {
		if (this.#isStopping) throw new HttpRefusal(503, "The server is stopping.");
		if (this.#open.size >= socketLimit) {
			throw new HttpRefusal(503, `There are ${socketLimit} sockets; close one.`, { "retry-after": "5" });
		}
		const stopping = new AbortController();
		this.#open.add(stopping);
		let handle: SessionHandle | null = null;
		try {
			handle = target.kind === "wire" ? await this.#parts.sessions.acquire(target.sessionId) : null;
			if (stream.destroyed) return;
			const socket = await this.#shakeHands(request, stream, head);
			if (socket === null) return;
			const client = new Client(socket, request, this.#parts, stopping.signal);
			const withdraw = this.#parts.watchToken(token, () =>
				client.cut(closeCodes.revoked, "The token is no longer valid."),
			);
			try {
				const visit: SocketVisit = handle === null ? { dialect: "acp" } : { dialect: "kimi", session: handle.session };
				const transport = createMessageTransport(client, { outboxLimit, replyLimit });
				await this.#parts.converse(visit, transport, stopping.signal);
			} catch (error) {
				// The handshake is done, so no HTTP response is possible.
				this.#parts.log.error("A socket could not be served.", { error });
				client.cut(closeCodes.failed, "Internal error; the server's log has the details.");
			} finally {
				withdraw();
				client.close();
			}
		} finally {
			handle?.release();
			this.#open.delete(stopping);
		}
	}

	get count(): number {
		return this.#open.size;
	}

	/** Call after the sessions are stopped: sends the remaining messages, then closes. */
	close(): void {
		this.#isStopping = true;
		for (const stopping of this.#open) stopping.abort();
	}

	#shakeHands(request: IncomingMessage, stream: Duplex, head: Buffer): Promise<WebSocket | null> {
		return new Promise((resolve) => {
			stream.once("close", () => resolve(null));
			this.#server.handleUpgrade(request, stream, head, (socket) => {
				// Data received with the handshake waits for a reader.
				socket.pause();
				resolve(socket);
			});
		});
	}
}

/** One socket as a transport, and its shutdown from either side. */
class Client implements MessageSocket {
	readonly #socket: WebSocket;
	readonly #parts: SocketParts;
	readonly #stopping: AbortSignal;
	#isOver = false;
	#onEnd = () => {};
	/** Bytes passed on so far: a client that reads, even slowly, is alive. */
	#sent = 0;
	#withdrawBeat = () => {};

	constructor(socket: WebSocket, request: IncomingMessage, parts: SocketParts, stopping: AbortSignal) {
		this.#socket = socket;
		this.#stopping = stopping;
		this.#parts = parts;
		socket.on("error", (error) => parts.log.debug("A socket broke.", { error }));
		socket.on("close", () => this.#end());
		this.#watch(request);
	}

	send(piece: string, isLast: boolean, done: (error?: Error | null) => void): void {
		if (this.#isOver) return;
		this.#socket.send(piece, { fin: isLast }, (error) => {
			this.#sent += 1;
			done(error);
		});
	}

	receive(onMessage: (text: string) => void, onEnd: () => void): void {
		this.#onEnd = onEnd;
		if (this.#isOver) onEnd();
		this.#socket.on("message", (data, isBinary) => {
			if (this.#isOver) return;
			if (isBinary) this.cut(closeCodes.notText, "Messages must be JSON text.");
			else onMessage(data.toString());
		});
		this.#socket.resume();
	}

	pause(): void {
		this.#socket.pause();
	}

	resume(): void {
		this.#socket.resume();
	}

	close(): void {
		if (this.#stopping.aborted) this.cut(closeCodes.stopping, "The server is stopping.");
		else this.cut(closeCodes.over, "");
	}

	/** Sends the reason and closes within a second. Only the first call has an effect. */
	cut(code: number, why: string): void {
		if (this.#isOver) return;
		this.#end();
		// Unread data would keep the close answer from being read.
		this.#socket.resume();
		this.#socket.close(code, why);
		const withdraw = this.#parts.clock.after(farewell, () => this.#socket.terminate());
		this.#socket.once("close", withdraw);
	}

	#end(): void {
		if (this.#isOver) return;
		this.#isOver = true;
		this.#withdrawBeat();
		this.#onEnd();
	}

	#watch({ socket }: IncomingMessage): void {
		let seen = -1;
		let silent = 0;
		const beat = () => {
			const now = socket.bytesRead + this.#sent;
			silent = now === seen ? silent + 1 : 0;
			seen = now;
			if (silent >= silentBeats) return this.cut(closeCodes.silent, "The connection timed out.");
			this.#socket.ping();
			this.#withdrawBeat = this.#parts.clock.after(socketBeat, beat, true);
		};
		this.#withdrawBeat = this.#parts.clock.after(socketBeat, beat, true);
	}
}
