// The lines that come in through a stream.
import type { Readable } from "node:stream";
import { createLineSplitter } from "../base/lines.ts";
import { createPace } from "../base/pace.ts";
import type { LineTransport } from "../rpc/transport.ts";
import { type Arrivals, createArrivals } from "./arrivals.ts";
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

export interface LineInput {
	readonly receive: LineTransport["receive"];
	/** Drops the lines that were read and not handed on. */
	drop(): void;
}

/**
 * Reads lines from the stream; waits while the outbox is full of replies, or other work runs. A broken stream, or one that
 * is closed already, has ended.
 */
export function createLineInput(input: Readable, outbox: Outbox, limits: InputLimits): LineInput {
	const { lineLimit, replyLimit = Number.POSITIVE_INFINITY } = limits;
	const splitter = createLineSplitter(lineLimit);
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
