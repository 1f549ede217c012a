import type { Socket } from "node:net";
import type { Clock } from "../../../base/clock.ts";

export interface IdleSockets {
	add(origin: string, socket: Socket, lifetime: number): void;
	take(origin: string): Socket | null;
}

/** Maximum idle connections over all origins; the oldest is closed. */
const idleLimit = 32;

interface Idle {
	readonly origin: string;
	readonly socket: Socket;
	/** Ends the wait and leaves the connection open. */
	release(): void;
}

export function createIdleSockets(clock: Clock): IdleSockets {
	const idle = new Set<Idle>();
	return {
		add(origin, socket, lifetime) {
			// Bytes after a response belong to no request.
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
			// No data may arrive now: the next request would mistake it for its response.
			for (const event of ["data", "end", "close"]) socket.on(event, close);
			// It must not keep the process alive.
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
