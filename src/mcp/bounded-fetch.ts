// A fetch with limits on its answers: on the size of a body, and on the silence of an event stream.
import type { FetchLike } from "@modelcontextprotocol/client";
import type { Clock } from "../base/clock.ts";

export interface FetchBounds {
	/** Maximal bytes of a body, or of one event of an event stream. */
	readonly size: number;
	/** Seconds of silence after which an event stream is aborted; null for never. */
	readonly silence: number | null;
}

const newline = 0x0a;

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

/** In an event stream the limit applies to each line: an event's data are one. */
function limitSize(limit: number, byLine: boolean): TransformStream<Uint8Array, Uint8Array> {
	let length = 0;
	return new TransformStream({
		transform(bytes, controller) {
			const last = byLine ? bytes.lastIndexOf(newline) : -1;
			length = last === -1 ? length + bytes.length : bytes.length - last - 1;
			if (length > limit) controller.error(new Error(`The answer has more than ${limit / 1024 / 1024} MiB.`));
			else controller.enqueue(bytes);
		},
	});
}

function limitSilence(seconds: number, clock: Clock): TransformStream<Uint8Array, Uint8Array> {
	let withdraw = () => {};
	const rearm = (controller: TransformStreamDefaultController<Uint8Array>) => {
		withdraw();
		withdraw = clock.after(seconds * 1000, () => controller.error(new Error(`Nothing came for ${seconds} s.`)));
	};
	return new TransformStream({
		start: rearm,
		transform(bytes, controller) {
			rearm(controller);
			controller.enqueue(bytes);
		},
		flush: () => withdraw(),
	});
}
