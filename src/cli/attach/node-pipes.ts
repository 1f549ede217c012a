import { once } from "node:events";
import { createConnection, type Socket } from "node:net";
import type { Readable } from "node:stream";
import type { RelayPipes, RelaySocket } from "./relay-pipes.ts";

export const nodePipes: RelayPipes = {
	connect: (file) =>
		new Promise((resolve) => {
			const socket = createConnection({ path: file, allowHalfOpen: true });
			socket.once("connect", () => resolve(toRelaySocket(socket)));
			// Later errors show as the end of the connection.
			socket.on("error", () => resolve(null));
		}),
	input: () => untilFailure(process.stdin),
	output(bytes) {
		const { stdout } = process;
		return new Promise((resolve, reject) => {
			stdout.once("error", reject);
			stdout.write(bytes, (error) => {
				stdout.off("error", reject);
				if (error) reject(error);
				else resolve();
			});
		});
	},
};

function toRelaySocket(socket: Socket): RelaySocket {
	return {
		received: untilFailure(socket),
		async write(bytes) {
			if (socket.writable && !socket.write(bytes)) await Promise.race([once(socket, "drain"), once(socket, "close")]);
		},
		end: () => void socket.end(),
		destroy: () => void socket.destroy(),
	};
}

async function* untilFailure(stream: Readable): AsyncGenerator<Uint8Array, void> {
	try {
		yield* stream;
	} catch {
		// A broken stream has ended.
	}
}
