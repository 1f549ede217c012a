// A line transport over one stream in both directions: a socket to another process or machine.
import { Socket } from "node:net";
import type { Duplex } from "node:stream";
import type { LineTransport } from "../rpc/transport.ts";
import { createLineTransport, type InputLimits } from "./line-input.ts";
import { Outbox } from "./outbox.ts";

export interface StreamLimits extends InputLimits {
	/** Bytes queued for a slow reader before producers have to wait. */
	readonly outboxLimit: number;
}

/** Milliseconds that the other side may take to end a stream that was closed here. */
const lingering = 1000;
/** Milliseconds without data after which a socket finds out whether the other machine is still there. */
const silence = 30_000;

/**
 * The stream must allow half-open connections (`allowHalfOpen` of a socket): answers follow the end of the input. Once it
 * is closed, what still comes is discarded, for a second at most.
 */
export function createStreamTransport(stream: Duplex, limits: StreamLimits): LineTransport {
	const outbox = new Outbox((text, done) => void stream.write(text, done), limits.outboxLimit);
	const abandon = () => outbox.abandon(new Error("the stream was closed"));
	stream.on("error", (error) => outbox.abandon(error));
	stream.on("close", abandon);
	if (stream.destroyed) abandon();
	if (stream instanceof Socket) {
		// Lines are joined already: waiting for more of them would only delay each by 40 ms.
		stream.setNoDelay(true);
		stream.setKeepAlive(true, silence);
	}
	return createLineTransport(stream, outbox, limits, () => {
		stream.removeAllListeners("data");
		// A socket that is destroyed with unread input resets the connection, and the other side loses the last answers.
		stream.end();
		stream.resume();
		const patience = setTimeout(() => stream.destroy(), lingering);
		patience.unref();
		stream.once("close", () => clearTimeout(patience));
	});
}
