import { createPace } from "../../base/pace.ts";
import type { LineTransport } from "../rpc/transport.ts";
import { createArrivals } from "./arrivals.ts";
import { Outbox, type WriteText } from "./outbox.ts";

export interface MessageSocket {
	/** Sends a piece of a message; `isLast` ends the message. Calls `done` when the piece was passed on or failed. */
	send(piece: string, isLast: boolean, done: (error?: Error | null) => void): void;
	/** Calls back with each message, including earlier ones, then once when the socket has ended. Call it once. */
	receive(onMessage: (text: string) => void, onEnd: () => void): void;
	/** Stops reading from the network, or resumes. */
	pause(): void;
	resume(): void;
	close(): void;
}

export interface MessageLimits {
	/** Characters queued for a slow reader before producers wait. */
	readonly outboxLimit: number;
	/** Queued characters at which reading stops: only a client that reads no answers gets there. */
	readonly replyLimit: number;
}

export function createMessageTransport(
	socket: MessageSocket,
	{ outboxLimit, replyLimit }: MessageLimits,
): LineTransport {
	const outbox = new Outbox(toMessages(socket), outboxLimit);
	let isClosed = false;
	const takeMore = () => {
		if (outbox.queued() < replyLimit) socket.resume();
		else void outbox.ready().then(() => socket.resume());
	};
	let drop = () => {};
	return {
		receive(onLine, onEnd) {
			const arrivals = createArrivals(createPace(), { onLine, onIdle: takeMore, onEnd });
			drop = () => arrivals.drop();
			socket.receive(
				(text) => {
					if (isClosed) return;
					arrivals.add([{ kind: "line", text }]);
					if (!arrivals.isWaiting() && outbox.queued() < replyLimit) return;
					socket.pause();
					if (!arrivals.isWaiting()) takeMore();
				},
				() => {
					outbox.abandon(new Error("the socket was closed"));
					arrivals.end();
				},
			);
		},
		send: (line) => outbox.send(line),
		ready: () => outbox.ready(),
		isFull: () => outbox.isFull(),
		flush: () => outbox.flush(),
		gone: outbox.gone,
		close() {
			isClosed = true;
			drop();
			socket.close();
		},
	};
}

/** The outbox joins short lines and splits a long one; JSON lines contain no newlines. */
function toMessages(socket: MessageSocket): WriteText {
	return (text, done) => {
		const pieces = text.split("\n");
		const rest = pieces.pop() ?? "";
		const nothing = () => {};
		pieces.forEach((piece, index) => {
			socket.send(piece, true, rest === "" && index === pieces.length - 1 ? done : nothing);
		});
		if (rest !== "") socket.send(rest, false, done);
		else if (pieces.length === 0) done();
	};
}
