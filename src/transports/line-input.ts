// The lines that come in through a stream.
import type { Readable } from "node:stream";
import { createLineSplitter } from "../base/lines.ts";
import type { LineTransport } from "../rpc/transport.ts";
import type { Outbox } from "./outbox.ts";

export interface InputLimits {
	/** Bytes of the longest accepted line. */
	readonly lineLimit: number;
	/**
	 * Bytes that wait to be sent at which nothing more is read, for a side that answers requests: events wait long before
	 * that, and only a client that sends requests without reading the answers gets there. Absent for a side that asks: if
	 * neither side read, both would wait for ever.
	 */
	readonly replyLimit?: number;
}

/** Reads lines from the stream; a broken one, or one that is closed already, has ended. */
export function receiveLines(input: Readable, outbox: Outbox, limits: InputLimits): LineTransport["receive"] {
	const { lineLimit, replyLimit = Number.POSITIVE_INFINITY } = limits;
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
		input.on("error", end);
		input.on("close", end);
		if (input.destroyed) end();
	};
}
