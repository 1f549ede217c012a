import { once } from "node:events";
import { createServer, type Socket } from "node:net";
import type { Clock } from "../../../base/clock.ts";
import { errorText } from "../../../base/errors.ts";
import { beginning } from "../../../base/text/well-formed.ts";
import type { Sockets } from "../../network/connections/sockets.ts";
import { isAddress } from "../../network/host.ts";
import { normalizeHost } from "../../network/host-name.ts";
import { joinSockets } from "../../processes/confinement/joined-sockets.ts";
import type { AllowedHosts } from "./allowed-hosts.ts";
import { type ByteReader, createByteReader } from "./byte-reader.ts";
import { parseHttpRequest } from "./http-request.ts";
import { readSocksRequest, socksVersion, toSocksReply } from "./socks-request.ts";

export interface ProxyOptions {
	readonly hosts: AllowedHosts;
	readonly sockets: Sockets;
	readonly clock: Clock;
	/** Called with each refused host and the reason: a clause after "which". */
	onDenied(host: string, why: string): void;
	/** Milliseconds for the start of a connection and for connecting. Default 30 seconds. */
	readonly startTimeout?: number;
	/** Milliseconds without traffic until a connection ends. Default 10 minutes. */
	readonly idleTimeout?: number;
	/** Maximum concurrent connections. Default 512. */
	readonly connectionLimit?: number;
}

export interface HostProxy {
	close(): Promise<void>;
}

const headLimit = 32 * 1024;

interface Refusal {
	readonly kind: "denied" | "failed";
	readonly why: string;
}

const isRefusal = (result: Socket | Refusal): result is Refusal => "why" in result;

const printable = (host: string) => JSON.stringify(beginning(host, 100)).slice(1, -1);

function httpAnswer(status: string, text: string): string {
	const body = `${text}\n`;
	const headers = `Content-Type: text/plain\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n`;
	return `HTTP/1.1 ${status}\r\n${headers}\r\n${body}`;
}

export async function startProxy(socketPath: string, options: ProxyOptions): Promise<HostProxy> {
	const connections = new ProxyConnections(options);
	const server = createServer(
		{ allowHalfOpen: true, pauseOnConnect: true },
		(client) => void connections.serve(client),
	);
	server.maxConnections = options.connectionLimit ?? 512;
	server.listen(socketPath);
	await once(server, "listening");
	server.on("error", () => undefined);
	// It must not keep an otherwise idle process alive.
	server.unref();
	return {
		async close() {
			const closed = new Promise<void>((resolve) => server.close(() => resolve()));
			connections.close();
			await closed;
		},
	};
}

class ProxyConnections {
	readonly #options: ProxyOptions;
	readonly #startTimeout: number;
	readonly #idleTimeout: number;
	readonly #open = new Set<Socket>();

	constructor(options: ProxyOptions) {
		this.#options = options;
		this.#startTimeout = options.startTimeout ?? 30_000;
		this.#idleTimeout = options.idleTimeout ?? 600_000;
	}

	async serve(client: Socket): Promise<void> {
		this.#open.add(client);
		client.once("close", () => this.#open.delete(client));
		client.on("error", () => client.destroy());
		// Limits the whole start, not only pauses.
		const withdraw = this.#options.clock.after(this.#startTimeout, () => client.destroy());
		client.setTimeout(this.#startTimeout, () => client.destroy());
		try {
			const reader = createByteReader(client);
			const begin = await reader.peek();
			if (begin === null) client.destroy();
			else if (begin === socksVersion) await this.#serveSocks(client, reader);
			else await this.#serveHttp(client, reader);
		} catch {
			client.destroy();
		} finally {
			withdraw();
		}
	}

	close(): void {
		for (const socket of this.#open) socket.destroy();
	}

	#deny(host: string, why: string): Refusal {
		this.#options.onDenied(host, why);
		return { kind: "denied", why: `The sandbox does not allow ${host}, which ${why}.` };
	}

	async #reach(client: Socket, written: string, port: number): Promise<Socket | Refusal> {
		const host = normalizeHost(written);
		if (host === null) return this.#deny(printable(written), "is not a valid host");
		const reason = this.#options.hosts.checkHost(host);
		if (reason !== null) return this.#deny(host, reason);
		try {
			const addresses = isAddress(host)
				? [{ address: host, family: host.includes(":") ? 6 : 4 }]
				: await this.#options.sockets.resolve(host);
			// The client is gone, or the proxy has ended.
			if (client.destroyed) throw new Error("the request was given up");
			for (const { address } of addresses) {
				const forbidden = this.#options.hosts.checkAddress(address, host);
				if (forbidden !== null) return this.#deny(host, forbidden);
			}
			const socket = this.#options.sockets.dial(host, addresses, port);
			this.#open.add(socket);
			socket.once("close", () => this.#open.delete(socket));
			socket.on("error", () => undefined);
			socket.setTimeout(this.#startTimeout, () => socket.destroy(new Error("it took too long")));
			await once(socket, "connect");
			socket.allowHalfOpen = true;
			return socket;
		} catch (thrown) {
			return { kind: "failed", why: `There is no connection to ${host}: ${errorText(thrown)}.` };
		}
	}

	/** `rest`: bytes that the client already sent for the host. */
	#join(inside: Socket, outside: Socket, rest: Buffer): void {
		if (rest.length > 0) outside.write(rest);
		const withdraw = joinSockets(inside, outside);
		for (const socket of [inside, outside]) socket.setTimeout(this.#idleTimeout, withdraw);
	}

	async #serveSocks(client: Socket, reader: ByteReader): Promise<void> {
		const target = await readSocksRequest(reader, (bytes) => void client.write(bytes));
		if (typeof target === "string") return void client.end(toSocksReply(target));
		const outside = await this.#reach(client, target.host, target.port);
		if (isRefusal(outside)) return void client.end(toSocksReply(outside.kind));
		client.write(toSocksReply("granted"));
		this.#join(client, outside, reader.release());
	}

	async #serveHttp(client: Socket, reader: ByteReader): Promise<void> {
		const head = await reader.takeUntil("\r\n\r\n", headLimit);
		const request = head === null ? null : parseHttpRequest(head.toString("latin1"));
		if (request === null) return void client.end(httpAnswer("400 Bad Request", "This is not a proxy request."));
		const outside = await this.#reach(client, request.host, request.port);
		if (isRefusal(outside)) {
			const status = outside.kind === "denied" ? "403 Forbidden" : "502 Bad Gateway";
			return void client.end(httpAnswer(status, outside.why));
		}
		if (request.head === null) client.write("HTTP/1.1 200 Connection established\r\n\r\n");
		else outside.write(request.head, "latin1");
		this.#join(client, outside, reader.release());
	}
}
