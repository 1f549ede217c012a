// Joins two connections, so that each gets what the other one sends.
import type { Duplex } from "node:stream";

/**
 * Passes everything on in both directions, ends of halves included (sockets must allow half-open connections), until
 * both are over. Returns what ends both at once, as a failure of one of them does.
 */
export function joinSockets(one: Duplex, other: Duplex): () => void {
	const withdraw = (): void => {
		one.destroy();
		other.destroy();
	};
	for (const socket of [one, other]) {
		socket.on("error", withdraw);
		socket.once("close", () => {
			// After its end in both directions the other one may still have to send what came from it, and closes by itself.
			if (!socket.readableEnded || !socket.writableFinished) withdraw();
		});
	}
	if (one.destroyed || other.destroyed) withdraw();
	one.pipe(other);
	other.pipe(one);
	return withdraw;
}
