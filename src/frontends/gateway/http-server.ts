import { createServer, IncomingMessage, type RequestListener, type Server, ServerResponse } from "node:http";
import { createServer as createSecureServer } from "node:https";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import type { Clock } from "../../base/clock.ts";
import { runsOnBun } from "../../base/program-form.ts";

export interface TlsFiles {
	readonly certificate: string;
	readonly key: string;
}

/** Milliseconds for the request headers and the TLS handshake, and for the whole request. */
export interface RequestTimes {
	readonly headers: number;
	readonly request: number;
}

export interface HttpServerOptions {
	readonly tls: TlsFiles | null;
	readonly times: RequestTimes;
	readonly connectionLimit: number;
	readonly clock: Clock;
	readonly onRequest: RequestListener;
	readonly onUpgrade?: (request: IncomingMessage, stream: Duplex, head: Buffer) => void;
	readonly onError: (error: Error) => void;
}

/** Milliseconds between timeout checks. */
const timeCheckSpan = 2_000;
/** Maximum concurrent TLS handshakes; beyond, the oldest is dropped. */
const handshakeLimit = 128;

export class HttpServer {
	readonly #server: Server;
	readonly #options: HttpServerOptions;
	/** By remote address and port, oldest first; for HTTPS, the encrypted sockets once their handshake is done. */
	readonly #connections = new Map<string, Socket>();
	/** TLS handshakes in progress. They must not exhaust the connection slots. */
	readonly #handshakes = new Set<string>();
	/** Unanswered requests by connection: only one of several pipelined answers is closed with its connection. */
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

	/** Listens (port 0: any free port) and resolves with the port. Fails with the system error. */
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

	/** Closes idle connections at once; pending answers and upgraded connections get `patience` milliseconds. */
	async close(patience: number): Promise<void> {
		this.#isEnding = true;
		const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
		const awaited = this.#awaited();
		for (const socket of this.#connections.values()) if (!awaited.has(socket)) socket.destroy();
		const cut = () => {
			for (const socket of this.#connections.values()) socket.destroy();
			// For a runtime that does not report every connection.
			this.#server.closeAllConnections();
		};
		const withdraw = patience === 0 ? cut() : this.#options.clock.after(patience, cut);
		await closed;
		withdraw?.();
	}

	#receive(request: IncomingMessage, response: ServerResponse): void {
		const { socket } = request;
		// The parser loses pipelined requests after such a request, so do not let them wait.
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

	/** Connections that await an answer to a complete request, and upgraded connections. */
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
			// Another connection may use the name by then.
			if (this.#connections.get(name) !== socket) return;
			this.#connections.delete(name);
			this.#handshakes.delete(name);
		});
	}
}

const nameOf = ({ remoteAddress = "", remotePort = 0 }: Socket): string => `${remoteAddress} ${remotePort}`;

const offersWebSocket = ({ headers }: IncomingMessage): boolean => headers.upgrade?.toLowerCase() === "websocket";

/** Ignores offers such as HTTP/2 (RFC 9110 §7.8), which would otherwise reach the WebSocket handler without a body. */
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

/** The answer to a request that the server took for an upgrade, with a readable body, because Bun does not ask before. */
function respondOn(socket: Socket, request: IncomingMessage): ServerResponse {
	const response = new ServerResponse(request);
	response.assignSocket(socket);
	response.once("finish", () => socket.end());
	return response;
}
