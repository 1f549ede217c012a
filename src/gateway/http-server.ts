// The servers of this process over HTTP, or over HTTPS with files: how long requests may take, and where they listen.
import { createServer, type RequestListener, type Server } from "node:http";
import { createServer as createSecureServer, type Server as SecureServer } from "node:https";
import type { Socket } from "node:net";

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

/** Milliseconds between two looks for requests that took longer. */
const timeCheckSpan = 2_000;
/** Handshakes under way at once; with more, the oldest is given up. */
const handshakeLimit = 128;

/** `tls` is null for plain HTTP. */
export function createHttpServer(tls: TlsFiles | null, times: RequestTimes, listener: RequestListener): Server {
	const settings = {
		headersTimeout: times.headers,
		requestTimeout: times.request,
		connectionsCheckingInterval: timeCheckSpan,
	};
	if (tls === null) return createServer(settings, listener);
	const server = createSecureServer(
		{ ...settings, cert: tls.certificate, key: tls.key, minVersion: "TLSv1.2", handshakeTimeout: times.headers },
		listener,
	);
	boundHandshakes(server);
	return server;
}

/** Listens, with port 0 on any that is free, and resolves with the port. Fails with the error of the system. */
export async function listenOn(server: Server, port: number, host: string): Promise<number> {
	await new Promise<void>((resolve, reject) => {
		server.once("error", reject);
		server.listen(port, host, () => {
			server.off("error", reject);
			resolve();
		});
	});
	const bound = server.address();
	return bound === null || typeof bound === "string" ? port : bound.port;
}

/** Whoever has not finished its handshake is not known yet, and may not take the places of others. */
function boundHandshakes(server: SecureServer): void {
	/** The oldest first. */
	const unfinished = new Map<string, Socket>();
	server.on("connection", (socket: Socket) => {
		const name = nameOf(socket);
		unfinished.set(name, socket);
		socket.once("close", () => {
			// Another connection may have the name by then.
			if (unfinished.get(name) === socket) unfinished.delete(name);
		});
		const [oldest] = unfinished;
		if (unfinished.size <= handshakeLimit || oldest === undefined) return;
		unfinished.delete(oldest[0]);
		oldest[1].destroy();
	});
	server.on("secureConnection", (socket) => void unfinished.delete(nameOf(socket)));
}

/** The connection over which a socket came, encrypted or not. */
const nameOf = ({ remoteAddress = "", remotePort = 0 }: Socket): string => `${remoteAddress} ${remotePort}`;
