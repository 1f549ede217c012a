import { createPace } from "../../base/pace.ts";
import { createInputSplitter } from "../../base/text/lines.ts";
import type { LineTransport } from "../rpc/transport.ts";
import { type Arrivals, createArrivals } from "./arrivals.ts";
import type { ByteInput } from "./descriptor-input.ts";
import type { Outbox } from "./outbox.ts";

export interface InputLimits {
	/** Maximum bytes per line. */
	readonly lineLimit: number;
	/** Queued bytes at which reading stops, for a client that reads no answers. Absent on the requesting side: deadlock. */
	readonly replyLimit?: number;
}

interface LineInput {
	readonly receive: LineTransport["receive"];
	drop(): void;
}

/** Pauses while the outbox is full or other work runs. A broken stream counts as ended. */
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
