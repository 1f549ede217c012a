// A line transport over a duplex stream, such as a socket to another process or machine.
import { Socket } from "node:net";
import type { Duplex } from "node:stream";
import type { LineTransport } from "../rpc/transport.ts";
import { createLineTransport, type InputLimits } from "./line-input.ts";
import { Outbox } from "./outbox.ts";

export interface StreamLimits extends InputLimits {
	/** Bytes queued for a slow reader before producers wait. */
	readonly outboxLimit: number;
}

/** Milliseconds for the peer to end a stream closed here. */
const lingering = 1000;
/** Milliseconds without data until a socket checks that the peer is alive. */
const silence = 30_000;

/** Needs `allowHalfOpen`. After closing, further input is discarded for up to a second. */
export function createStreamTransport(stream: Duplex, limits: StreamLimits): LineTransport {
	const outbox = new Outbox((text, done) => void stream.write(text, done), limits.outboxLimit);
	const abandon = () => outbox.abandon(new Error("the stream was closed"));
	stream.on("error", (error) => outbox.abandon(error));
	stream.on("close", abandon);
	if (stream.destroyed) abandon();
	if (stream instanceof Socket) {
		// Lines are already joined; waiting for more would only delay each by 40 ms.
		stream.setNoDelay(true);
		stream.setKeepAlive(true, silence);
	}
	return createLineTransport(stream, outbox, limits, () => {
		stream.removeAllListeners("data");
		// Destroying a socket with unread input resets the connection, and the peer loses the last answers.
		stream.end();
		stream.resume();
		const patience = setTimeout(() => stream.destroy(), lingering);
		patience.unref();
		stream.once("close", () => clearTimeout(patience));
	});
}
