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
		// It follows the rejection, and would end the process.
		if (stdout.listenerCount("error") === 0) stdout.on("error", () => {});
		return new Promise((resolve, reject) => stdout.write(bytes, (error) => (error ? reject(error) : resolve())));
	},
};

function toRelaySocket(socket: Socket): RelaySocket {
	return {
		received: untilFailure(socket),
		async write(bytes) {
			if (!socket.writable || socket.write(bytes)) return;
			await new Promise<void>((resolve) => {
				const settle = (): void => {
					for (const event of ["drain", "close"]) socket.off(event, settle);
					resolve();
				};
				for (const event of ["drain", "close"]) socket.on(event, settle);
			});
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
