import type { Socket } from "node:net";
import type { Clock } from "../../../base/clock.ts";

export interface SpareSockets {
	add(origin: string, open: () => Promise<Socket>): Promise<void>;
	/** The connection for a request, even if it is still being opened; null if none is usable. */
	take(origin: string): Promise<Socket | null> | null;
}

/** Milliseconds after which servers tend to close a connection without traffic. */
export const idleLifetime = 55_000;

interface Spare {
	readonly opening: Promise<Socket>;
	readonly since: number;
}

export function createSpareSockets(clock: Clock): SpareSockets {
	const spares = new Map<string, Spare>();
	return {
		async add(origin, open) {
			if (spares.has(origin)) return;
			const spare = { opening: open(), since: clock.monotonic() };
			spares.set(origin, spare);
			const forget = () => {
				if (spares.get(origin) === spare) spares.delete(origin);
			};
			try {
				const socket = await spare.opening;
				// It must not keep the process alive before it is used.
				if (spares.get(origin) === spare) socket.unref();
				socket.once("close", forget);
			} catch (thrown) {
				forget();
				throw thrown;
			}
		},
		take(origin) {
			const spare = spares.get(origin);
			if (spare === undefined) return null;
			spares.delete(origin);
			return spare.opening.then((socket) => {
				const isFresh = clock.monotonic() - spare.since < idleLifetime;
				// Unrequested bytes would be mistaken for the response.
				if (isFresh && socket.readyState === "open" && socket.readableLength === 0) return socket.ref();
				socket.destroy();
				return null;
			});
		},
	};
}
