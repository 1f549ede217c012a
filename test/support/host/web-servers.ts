// Servers on loopback for tests of the network: origins with and without TLS, and the kinds of proxies.
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import { createServer as createSecureServer } from "node:https";
import { type AddressInfo, connect, createServer as createSocketServer, type Server, type Socket } from "node:net";

const certificates = new URL("../../fixtures/tls/", import.meta.url);
const readCertificate = (name: string) => readFileSync(new URL(name, certificates));

/** The file of the authority that signed the certificates of these servers; nobody else knows it. */
export const authorityFile = new URL("authority.pem", certificates).pathname;

const identity = () => ({ key: readCertificate("server-key.pem"), cert: readCertificate("server.pem") });

export interface WebServer {
	readonly port: number;
	/** How many connections there have been. */
	connections(): number;
	/** Resolves when there have been that many. */
	connected(count: number): Promise<void>;
	close(): Promise<void>;
}

export interface Origin extends WebServer {
	readonly requests: readonly { readonly method: string; readonly path: string; readonly host: string }[];
}

export type Answer = (request: IncomingMessage, response: ServerResponse) => void;

/** Answers by `answer`; `secure` with a certificate for `localhost`, `model.test`, `proxy.test` and 127.0.0.1. */
export async function startOrigin(answer: Answer = (_request, response) => response.end("hello"), secure = false) {
	const requests: { method: string; path: string; host: string }[] = [];
	const handle: Answer = (incoming, response) => {
		const { method = "", url = "", headers } = incoming;
		requests.push({ method, path: url, host: headers.host ?? "" });
		incoming.resume();
		answer(incoming, response);
	};
	const server = secure ? createSecureServer(identity(), handle) : createServer(handle);
	const listening: Origin = { ...(await listen(server)), requests };
	return listening;
}

export interface ProxyRequest {
	/** `CONNECT`, or the method of a request that was sent on. */
	readonly method: string;
	/** As the proxy received it: `host:port`, or a whole URL. */
	readonly target: string;
	readonly authorization: string | null;
}

export interface ProxyDouble extends WebServer {
	readonly requests: readonly ProxyRequest[];
}

export interface ProxyOptions {
	/** `user:password`; asks for nothing when absent. */
	readonly credentials?: string;
	/** Whether the proxy itself is spoken to with TLS. */
	readonly secure?: boolean;
	/** Refuses every request with this status. */
	readonly status?: number;
}

/** An HTTP proxy that takes every host for this machine. */
export async function startHttpProxy({ credentials, secure = false, status }: ProxyOptions = {}): Promise<ProxyDouble> {
	const requests: ProxyRequest[] = [];
	const expected = credentials === undefined ? null : `Basic ${Buffer.from(credentials).toString("base64")}`;
	/** The status of a refusal; null to let the request pass. */
	const note = ({ method = "", url = "", headers }: IncomingMessage): number | null => {
		const authorization = headers["proxy-authorization"] ?? null;
		requests.push({ method, target: url, authorization });
		return status ?? (expected === null || expected === authorization ? null : 407);
	};
	const forward: Answer = (incoming, response) => {
		const refused = note(incoming);
		if (refused !== null) {
			response.writeHead(refused).end("refused by the proxy");
			return;
		}
		const { port, pathname, search } = new URL(incoming.url ?? "");
		const { method = "GET", headers } = incoming;
		const onward = request({ host: "127.0.0.1", port, method, path: pathname + search, headers }, (answer) => {
			response.writeHead(answer.statusCode ?? 502, answer.headers);
			answer.pipe(response);
		});
		incoming.pipe(onward);
	};
	const server = secure ? createSecureServer(identity(), forward) : createServer(forward);
	server.on("connect", (incoming: IncomingMessage, socket: Socket) => {
		socket.on("error", () => {});
		const refused = note(incoming);
		if (refused !== null) {
			socket.end(`HTTP/1.1 ${refused} Refused\r\n\r\n`);
			return;
		}
		join(socket, Number((incoming.url ?? "").split(":").at(-1)), () => socket.write("HTTP/1.1 200 OK\r\n\r\n"));
	});
	return { ...(await listen(server)), requests };
}

/** A SOCKS 5 proxy that takes every host for this machine. It sends its answers a byte at a time. */
export async function startSocksProxy({ credentials, status = 0 }: ProxyOptions = {}): Promise<ProxyDouble> {
	const requests: ProxyRequest[] = [];
	const server = createSocketServer(async (socket) => {
		socket.on("error", () => {});
		const say = async (...bytes: readonly number[]) => {
			for (const byte of bytes)
				await new Promise<void>((resolve) => socket.write(Buffer.from([byte]), () => resolve()));
		};
		let wake = () => {};
		const onReadable = () => wake();
		socket.on("readable", onReadable);
		const read = async (count: number): Promise<Buffer> => {
			for (;;) {
				const bytes: Buffer | null = socket.read(count);
				if (bytes !== null) return bytes;
				await new Promise<void>((resolve) => {
					wake = resolve;
				});
			}
		};
		const readWord = async () => (await read((await read(1))[0] ?? 0)).toString();
		const [, count = 0] = await read(2);
		const method = credentials === undefined ? 0 : 2;
		if (!(await read(count)).includes(method)) return void say(5, 0xff);
		await say(5, method);
		let authorization: string | null = null;
		if (credentials !== undefined) {
			await read(1);
			authorization = `${await readWord()}:${await readWord()}`;
			await say(1, authorization === credentials ? 0 : 1);
			if (authorization !== credentials) return;
		}
		const [, , , kind] = await read(4);
		const host = kind === 3 ? await readWord() : (await read(kind === 4 ? 16 : 4)).join(".");
		const port = (await read(2)).readUInt16BE();
		requests.push({ method: "CONNECT", target: `${host}:${port}`, authorization });
		if (status !== 0) return void say(5, status, 0, 1, 0, 0, 0, 0, 0, 0);
		socket.off("readable", onReadable);
		join(socket, port, () => void say(5, 0, 0, 3, 4, 104, 111, 115, 116, 0, 80));
	});
	return { ...(await listen(server)), requests };
}

function join(socket: Socket, port: number, connected: () => void): void {
	const onward = connect(port, "127.0.0.1", () => {
		connected();
		socket.pipe(onward).pipe(socket);
	});
	onward.on("error", () => socket.destroy());
	socket.on("close", () => onward.destroy());
}

async function listen(server: Server): Promise<WebServer> {
	const sockets = new Set<Socket>();
	let count = 0;
	const waiters: (() => void)[] = [];
	server.on("connection", (socket: Socket) => {
		count += 1;
		for (const waiter of waiters.splice(0)) waiter();
		sockets.add(socket);
		socket.on("close", () => sockets.delete(socket));
	});
	server.listen(0, "127.0.0.1");
	await once(server, "listening");
	const { port } = server.address() as AddressInfo;
	return {
		port,
		connections: () => count,
		async connected(expected) {
			while (count < expected) await new Promise<void>((resolve) => waiters.push(resolve));
		},
		async close() {
			const closed = once(server, "close");
			server.close();
			for (const socket of sockets) socket.destroy();
			await closed;
		},
	};
}
