import type { FetchLike } from "@modelcontextprotocol/client";
import type { Clock } from "../../base/clock.ts";

export interface FetchBounds {
	readonly size: number;
	/** Seconds of silence before an event stream is aborted; null for no limit. */
	readonly silence: number | null;
}

const newline = 0x0a;
const carriageReturn = 0x0d;

export function boundFetch(fetch: FetchLike, { size, silence }: FetchBounds, clock: Clock): FetchLike {
	return async (url, init) => {
		const response = await fetch(url, init);
		if (response.body === null) return response;
		const isStream = response.headers.get("content-type")?.includes("text/event-stream") ?? false;
		const limited = response.body.pipeThrough(limitSize(size, isStream));
		const body = isStream && silence !== null ? limited.pipeThrough(limitSilence(silence, clock)) : limited;
		const { status, statusText, headers } = response;
		return new Response(body, { status, statusText, headers });
	};
}

/** In an event stream the limit applies per event, because its reader buffers the lines up to a blank line. */
function limitSize(limit: number, byEvent: boolean): TransformStream<Uint8Array, Uint8Array> {
	let length = 0;
	const measure = byEvent ? createEventMeasure() : (bytes: Uint8Array) => length + bytes.length;
	return new TransformStream({
		transform(bytes, controller) {
			length = measure(bytes);
			if (length > limit) controller.error(new Error(`The answer has more than ${limit / 1024 / 1024} MiB.`));
			else controller.enqueue(bytes);
		},
	});
}

function createEventMeasure(): (bytes: Uint8Array) => number {
	let length = 0;
	let isBlank = true;
	return (bytes) => {
		for (const byte of bytes) {
			length += 1;
			if (byte === newline) {
				if (isBlank) length = 0;
				isBlank = true;
			} else if (byte !== carriageReturn) isBlank = false;
		}
		return length;
	};
}

function limitSilence(seconds: number, clock: Clock): TransformStream<Uint8Array, Uint8Array> {
	let withdraw = () => {};
	const rearm = (controller: TransformStreamDefaultController<Uint8Array>) => {
		withdraw();
		withdraw = clock.after(seconds * 1000, () => controller.error(new Error(`Nothing came for ${seconds} s.`)));
	};
	const withdrawTimer = () => withdraw();
	// A variable, because the platform types lack `cancel`, which runs when either side closes the stream.
	const transformer = {
		start: rearm,
		transform(bytes: Uint8Array, controller: TransformStreamDefaultController<Uint8Array>) {
			rearm(controller);
			controller.enqueue(bytes);
		},
		flush: withdrawTimer,
		cancel: withdrawTimer,
	};
	return new TransformStream(transformer);
}
