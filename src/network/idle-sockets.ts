// Connections that have served a request and wait for the next one to the same origin.
import type { Socket } from "node:net";
import type { Clock } from "../base/clock.ts";

export interface IdleSockets {
	/** Keeps a connection over which nothing is under way for so many milliseconds. */
	add(origin: string, socket: Socket, lifetime: number): void;
	/** The connection used last; null when there is none of use. */
	take(origin: string): Socket | null;
}

/** Idle connections, over all origins; beyond it the oldest is closed. */
const idleLimit = 32;

interface Idle {
	readonly origin: string;
	readonly socket: Socket;
	/** Ends the wait, and leaves the connection as it is. */
	release(): void;
}

export function createIdleSockets(clock: Clock): IdleSockets {
	/** The oldest first. */
	const idle = new Set<Idle>();
	return {
		add(origin, socket, lifetime) {
			// Bytes after an answer answer nothing that was asked.
			if (!isUsable(socket) || lifetime <= 0) {
				socket.destroy();
				return;
			}
			const close = () => {
				entry.release();
				socket.destroy();
			};
			const withdraw = clock.after(lifetime, close, true);
			const entry: Idle = {
				origin,
				socket,
				release() {
					withdraw();
					for (const event of ["data", "end", "close"]) socket.off(event, close);
					idle.delete(entry);
				},
			};
			// Nothing may come now: the next request would take it for its answer.
			for (const event of ["data", "end", "close"]) socket.on(event, close);
			// Nobody waits for it: it must not keep the process alive.
			socket.unref();
			idle.add(entry);
			const [oldest] = idle;
			if (idle.size > idleLimit && oldest !== undefined) {
				oldest.release();
				oldest.socket.destroy();
			}
		},
		take(origin) {
			for (const entry of [...idle].reverse()) {
				if (entry.origin !== origin) continue;
				entry.release();
				if (isUsable(entry.socket)) return entry.socket.ref();
				entry.socket.destroy();
			}
			return null;
		},
	};
}

function isUsable(socket: Socket): boolean {
	return socket.readyState === "open" && socket.readableLength === 0;
}
