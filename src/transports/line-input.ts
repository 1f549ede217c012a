// The lines that come in through a stream.
import type { Readable } from "node:stream";
import { createLineSplitter } from "../base/lines.ts";
import type { LineTransport } from "../rpc/transport.ts";
import type { Outbox } from "./outbox.ts";

/**
 * Bytes of unread replies at which no more requests are read. Events wait long before that; only a client that sends
 * requests without reading the answers gets here.
 */
export const replyLimit = 16_777_216;

/** Reads lines of at most `lineLimit` bytes; waits while the outbox is full of replies. */
export function receiveLines(input: Readable, outbox: Outbox, lineLimit: number): LineTransport["receive"] {
	const splitter = createLineSplitter(lineLimit);
	return (onLines, onEnd) => {
		let ended = false;
		const end = () => {
			if (ended) return;
			ended = true;
			const last = splitter.end();
			if (last.length > 0) onLines(last);
			onEnd();
		};
		input.on("data", (bytes: Buffer) => {
			const lines = splitter.push(bytes);
			if (lines.length > 0) onLines(lines);
			if (outbox.queued() < replyLimit) return;
			input.pause();
			void outbox.ready().then(() => input.resume());
		});
		input.on("end", end);
		// A broken input is the end of input as well.
		input.on("error", end);
		input.on("close", end);
	};
}
