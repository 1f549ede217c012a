import type { Duplex } from "node:stream";

/** Sockets must allow half-open connections. Returns a function that ends both at once. */
export function joinSockets(one: Duplex, other: Duplex): () => void {
	const withdraw = (): void => {
		one.destroy();
		other.destroy();
	};
	for (const socket of [one, other]) {
		socket.on("error", withdraw);
		socket.once("close", () => {
			// After both directions ended, the other socket may still have data to send, and closes by itself.
			if (!socket.readableEnded || !socket.writableFinished) withdraw();
		});
	}
	if (one.destroyed || other.destroyed) withdraw();
	one.pipe(other);
	other.pipe(one);
	return withdraw;
}
