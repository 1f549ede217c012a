// A server on loopback that answers with bytes, whether or not they are HTTP.
import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import { onTestFinished } from "vitest";

export interface RawRequest {
	/** Head and body as far as they had come. */
	readonly text: string;
	/** Resolves when the other side, or we, have closed the connection. */
	readonly closed: Promise<void>;
}

export interface RawServer {
	readonly url: string;
	/** What each connection was asked, in the order of asking. */
	readonly requests: readonly RawRequest[];
	connections(): number;
	/** Connections that are still open. */
	open(): number;
}

/** Called with each piece that a client sends; `count` is that of the connection. */
export type AnswerRaw = (socket: Socket, text: string, count: number) => unknown;

/** Gone when the running test ends. */
export async function startRawServer(answer: AnswerRaw): Promise<RawServer> {
	const requests: RawRequest[] = [];
	const sockets = new Set<Socket>();
	let count = 0;
	const server = createServer({ noDelay: true }, (socket) => {
		count += 1;
		const number = count;
		sockets.add(socket);
		socket.on("error", () => {});
		const closed = new Promise<void>((resolve) => socket.on("close", () => resolve()));
		socket.on("close", () => sockets.delete(socket));
		socket.on("data", (bytes) => {
			requests.push({ text: bytes.toString("latin1"), closed });
			answer(socket, bytes.toString("latin1"), number);
		});
	});
	server.listen(0, "127.0.0.1");
	await once(server, "listening");
	onTestFinished(() => {
		for (const socket of sockets) socket.destroy();
		server.close();
	});
	const { port } = server.address() as AddressInfo;
	return { url: `http://127.0.0.1:${port}`, requests, connections: () => count, open: () => sockets.size };
}

/** Polls until it holds: for conditions that no event reports. */
export async function until(holds: () => boolean): Promise<void> {
	while (!holds()) await pause(2);
}
