// The servers of this process over HTTP, or over HTTPS with files: how long requests may take, where they listen, and how they end.
import { createServer, IncomingMessage, type RequestListener, type Server, ServerResponse } from "node:http";
import { createServer as createSecureServer } from "node:https";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import type { Clock } from "../../base/clock.ts";
import { runsOnBun } from "../../base/program-form.ts";

/** A certificate and its key as PEM texts. */
export interface TlsFiles {
	readonly certificate: string;
	readonly key: string;
}

/** Milliseconds for the headers of a request, and the handshake of HTTPS, and for all of a request. */
export interface RequestTimes {
	readonly headers: number;
	readonly request: number;
}

export interface HttpServerOptions {
	/** Null for plain HTTP. */
	readonly tls: TlsFiles | null;
	readonly times: RequestTimes;
	/** Connections at once; further ones are closed. */
	readonly connectionLimit: number;
	readonly clock: Clock;
	readonly onRequest: RequestListener;
	/** Takes over a connection that becomes a WebSocket; absent where none may. */
	readonly onUpgrade?: (request: IncomingMessage, stream: Duplex, head: Buffer) => void;
	/** The server failed after it had begun to listen. */
	readonly onError: (error: Error) => void;
}

/** Milliseconds between two looks for requests that took longer. */
const timeCheckSpan = 2_000;
/** Handshakes under way at once; with more, the oldest is given up. */
const handshakeLimit = 128;

export class HttpServer {
	readonly #server: Server;
	readonly #options: HttpServerOptions;
	/** By where they come from, the oldest first; over HTTPS the encrypted ones once their handshake is over. */
	readonly #connections = new Map<string, Socket>();
	/** Of HTTPS; whoever has not finished its handshake is not known yet, and may not take the places of others. */
	readonly #handshakes = new Set<string>();
	/** The requests that are not answered, by their connection: of several that came together only one answer is closed with it. */
	readonly #requests = new Map<Socket, Set<IncomingMessage>>();
	readonly #upgraded = new Set<Socket>();
	#isEnding = false;

	constructor(options: HttpServerOptions) {
		this.#options = options;
		const { tls, times, connectionLimit, onUpgrade } = options;
		const settings = {
			headersTimeout: times.headers,
			requestTimeout: times.request,
			connectionsCheckingInterval: timeCheckSpan,
			...(runsOnBun ? {} : { IncomingMessage: PlainRequest }),
		};
		const receive: RequestListener = (request, response) => this.#receive(request, response);
		if (tls === null) this.#server = createServer(settings, receive);
		else {
			const secured = {
				cert: tls.certificate,
				key: tls.key,
				minVersion: "TLSv1.2",
				handshakeTimeout: times.headers,
			} as const;
			const server = createSecureServer({ ...settings, ...secured }, receive);
			server.on("secureConnection", (socket) => this.#noteHandshake(socket));
			this.#server = server;
		}
		this.#server.on("connection", (socket: Socket) => this.#noteConnection(socket, tls !== null));
		this.#server.maxConnections = connectionLimit;
		if (onUpgrade === undefined) return;
		this.#server.on("upgrade", (request: IncomingMessage, stream: Duplex, head: Buffer) => {
			const { socket } = request;
			if (!offersWebSocket(request)) return this.#receive(request, respondOn(socket, request));
			this.#upgraded.add(socket);
			socket.once("close", () => this.#upgraded.delete(socket));
			onUpgrade(request, stream, head);
		});
	}

	/** Listens, with port 0 on any that is free, and resolves with the port. Fails with the error of the system. */
	async listen(port: number, host: string): Promise<number> {
		const server = this.#server;
		await new Promise<void>((resolve, reject) => {
			server.once("error", reject);
			server.listen(port, host, () => {
				server.off("error", reject);
				resolve();
			});
		});
		server.on("error", this.#options.onError);
		const bound = server.address();
		return bound === null || typeof bound === "string" ? port : bound.port;
	}

	/**
	 * Takes no more connections and cuts those that have no whole request: no handshake, half a head, half a body, nothing
	 * more to say. The answers to the others, and what was upgraded, have so many milliseconds. Resolves once all are gone.
	 */
	async close(patience: number): Promise<void> {
		this.#isEnding = true;
		const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
		const awaited = this.#awaited();
		for (const socket of this.#connections.values()) if (!awaited.has(socket)) socket.destroy();
		const cut = () => {
			for (const socket of this.#connections.values()) socket.destroy();
			// Of a runtime that does not show every connection.
			this.#server.closeAllConnections();
		};
		const withdraw = patience === 0 ? cut() : this.#options.clock.after(patience, cut);
		await closed;
		withdraw?.();
	}

	#receive(request: IncomingMessage, response: ServerResponse): void {
		const { socket } = request;
		// The parser loses what came together with such a request: nobody is to wait for an answer to that.
		if (request.headers.upgrade !== undefined) response.shouldKeepAlive = false;
		const requests = this.#requests.get(socket) ?? new Set();
		this.#requests.set(socket, requests.add(request));
		response.once("close", () => {
			requests.delete(request);
			if (requests.size === 0 && this.#requests.get(socket) === requests) this.#requests.delete(socket);
			if (this.#isEnding && !this.#awaited().has(socket)) socket.destroySoon();
		});
		this.#options.onRequest(request, response);
	}

	/** Where somebody waits for the answer to a whole request, and what is no connection of HTTP any more. */
	#awaited(): ReadonlySet<Socket> {
		const waiting = [...this.#requests].filter(([, requests]) => [...requests].some(({ complete }) => complete));
		return new Set([...this.#upgraded, ...waiting.map(([socket]) => socket)]);
	}

	#noteConnection(socket: Socket, isSecure: boolean): void {
		const name = nameOf(socket);
		this.#note(name, socket);
		if (!isSecure) return;
		this.#handshakes.add(name);
		const [oldest] = this.#handshakes;
		if (this.#handshakes.size <= handshakeLimit || oldest === undefined) return;
		this.#handshakes.delete(oldest);
		this.#connections.get(oldest)?.destroy();
	}

	#noteHandshake(socket: Socket): void {
		const name = nameOf(socket);
		this.#handshakes.delete(name);
		this.#note(name, socket);
	}

	#note(name: string, socket: Socket): void {
		this.#connections.set(name, socket);
		socket.once("close", () => {
			this.#requests.delete(socket);
			// Another connection may have the name by then.
			if (this.#connections.get(name) !== socket) return;
			this.#connections.delete(name);
			this.#handshakes.delete(name);
		});
	}
}

/** The connection over which a socket came, encrypted or not. */
const nameOf = ({ remoteAddress = "", remotePort = 0 }: Socket): string => `${remoteAddress} ${remotePort}`;

const offersWebSocket = ({ headers }: IncomingMessage): boolean => headers.upgrade?.toLowerCase() === "websocket";

/**
 * A request in which the offer of any other protocol counts as none, as a server may ignore it (RFC 9110 §7.8): many
 * clients offer HTTP/2. Without this the server would leave the connection to whoever takes WebSockets, and read no body.
 */
class PlainRequest extends IncomingMessage {
	constructor(socket: Socket) {
		super(socket);
		let isOffered: unknown = null;
		// The parser sets it before it knows the headers.
		Object.defineProperty(this, "upgrade", {
			get: () => isOffered === true && offersWebSocket(this),
			set(value: unknown) {
				isOffered = value;
			},
		});
	}
}

/** The answer to a request that the server took for an upgrade, whose body can be read: Bun asks nobody before. */
function respondOn(socket: Socket, request: IncomingMessage): ServerResponse {
	const response = new ServerResponse(request);
	response.assignSocket(socket);
	response.once("finish", () => socket.end());
	return response;
}
