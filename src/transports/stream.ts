// A line transport over one stream in both directions: a socket to another process or machine.
import type { Duplex } from "node:stream";
import type { LineTransport } from "../rpc/transport.ts";
import { receiveLines } from "./line-input.ts";
import { createOutbox } from "./outbox.ts";

export interface StreamLimits {
	/** The longest accepted line, in bytes. */
	readonly lineLimit: number;
	/** Bytes queued for a slow reader before producers have to wait. */
	readonly outboxLimit: number;
}

/** Milliseconds that the other side may take to end a stream that was closed here. */
const lingering = 1000;

/**
 * The stream must allow half-open connections (`allowHalfOpen` of a socket): answers follow the end of the input. A socket
 * of TCP should send at once what it is given (`noDelay`): lines are joined already, and small ones would wait 40 ms. Once
 * it is closed, what still comes is discarded, for a second at most.
 */
export function createStreamTransport(stream: Duplex, { lineLimit, outboxLimit }: StreamLimits): LineTransport {
	const outbox = createOutbox((text, done) => void stream.write(text, done), outboxLimit);
	stream.on("error", (error) => outbox.abandon(error));
	stream.on("close", () => outbox.abandon(new Error("the stream was closed")));
	return {
		receive: receiveLines(stream, outbox, lineLimit),
		send: outbox.send,
		ready: outbox.ready,
		flush: outbox.flush,
		gone: outbox.gone,
		close() {
			stream.removeAllListeners("data");
			// A socket that is destroyed with unread input resets the connection, and the other side loses the last answers.
			stream.end();
			stream.resume();
			const patience = setTimeout(() => stream.destroy(), lingering);
			patience.unref();
			stream.once("close", () => clearTimeout(patience));
		},
	};
}
