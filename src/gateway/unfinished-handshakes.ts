// Connections whose handshake of HTTPS is not finished: nobody knows yet who they are, so they may not take the places of others.
import type { Server } from "node:https";
import type { Socket } from "node:net";

/** Handshakes under way at once; with more, the oldest is given up. */
export const handshakeLimit = 128;

export function boundHandshakes(server: Server): void {
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
