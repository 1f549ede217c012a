// A line transport over an input and an outbox: the lines that come in, and what is the same for every stream.

import { createPace } from "../../base/pace.ts";
import { createInputSplitter } from "../../base/text/lines.ts";
import type { LineTransport } from "../rpc/transport.ts";
import { type Arrivals, createArrivals } from "./arrivals.ts";
import type { ByteInput } from "./descriptor-input.ts";
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

interface LineInput {
	readonly receive: LineTransport["receive"];
	/** Drops the lines that were read and not handed on. */
	drop(): void;
}

/**
 * Reads lines from the stream; waits while the outbox is full of replies, or other work runs. A broken stream, or one that
 * is closed already, has ended.
 */
function createLineInput(input: ByteInput, outbox: Outbox, limits: InputLimits): LineInput {
	const { lineLimit, replyLimit = Number.POSITIVE_INFINITY } = limits;
	const splitter = createInputSplitter(lineLimit);
	let arrivals: Arrivals | null = null;
	return {
		receive(onLine, onEnd) {
			const takeMore = () => {
				if (outbox.queued() < replyLimit) input.resume();
				else void outbox.ready().then(() => input.resume());
			};
			arrivals = createArrivals(createPace(), { onLine, onIdle: takeMore, onEnd });
			const { add, isWaiting, end: endArrivals } = arrivals;
			const end = () => {
				add(splitter.end());
				endArrivals();
			};
			input.on("data", (bytes: Buffer) => {
				add(splitter.push(bytes));
				if (!isWaiting() && outbox.queued() < replyLimit) return;
				input.pause();
				if (!isWaiting()) takeMore();
			});
			input.on("end", end);
			input.on("error", end);
			input.on("close", end);
			if (input.destroyed) end();
		},
		drop: () => arrivals?.drop(),
	};
}

/** `release` is called when the transport is closed: lines that were read and not handed on are dropped by then. */
export function createLineTransport(
	input: ByteInput,
	outbox: Outbox,
	limits: InputLimits,
	release: () => void,
): LineTransport {
	const { receive, drop } = createLineInput(input, outbox, limits);
	return {
		receive,
		send: (line) => outbox.send(line),
		ready: () => outbox.ready(),
		isFull: () => outbox.isFull(),
		flush: () => outbox.flush(),
		gone: outbox.gone,
		close() {
			drop();
			release();
		},
	};
}
