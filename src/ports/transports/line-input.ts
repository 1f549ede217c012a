// A line transport over an input and an outbox: incoming lines, and the behavior shared by all streams.

import { createPace } from "../../base/pace.ts";
import { createInputSplitter } from "../../base/text/lines.ts";
import type { LineTransport } from "../rpc/transport.ts";
import { type Arrivals, createArrivals } from "./arrivals.ts";
import type { ByteInput } from "./descriptor-input.ts";
import type { Outbox } from "./outbox.ts";

export interface InputLimits {
	/** Maximum bytes per line. */
	readonly lineLimit: number;
	/**
	 * Queued outgoing bytes at which reading stops, for the side that answers requests. Events wait long before that, so only a
	 * client that sends requests without reading answers gets there. Absent on the requesting side: otherwise both sides could
	 * deadlock.
	 */
	readonly replyLimit?: number;
}

interface LineInput {
	readonly receive: LineTransport["receive"];
	/** Drops lines that were read but not delivered. */
	drop(): void;
}

/**
 * Reads lines from the stream. Pauses while the outbox is full of replies or other work runs. A broken or closed stream counts as
 * ended.
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

/** `release` is called when the transport is closed, after undelivered lines were dropped. */
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
