// One POST answered by server-sent events: sending, deadlines, abort, and events as they are pulled.
// Knows no provider: what an error answer or an event means is the adapter's business.
import { createParser } from "eventsource-parser";
import type { Clock } from "../../base/clock.ts";
import type { Fetch } from "../../network/network.ts";
import { type NetworkFailure, toNetworkFailure } from "../../network/network-error.ts";
import type { ModelFailure } from "../model.ts";
import { RequestFailure, requestFailure } from "./request-failure.ts";
import { readRetryAfter } from "./retry-after.ts";

/** One event. A line whose field is `error` instead of `data` counts as an event named error. */
export interface ServerEvent {
	readonly event: string | null;
	readonly data: string;
	/** True when only the end of the stream ended the event: it may be cut. */
	readonly cut: boolean;
}

/** An answer that is no event stream. `body` is at most 64 KiB of its text. */
export interface PlainAnswer {
	readonly status: number;
	readonly statusText: string;
	readonly headers: Headers;
	readonly contentType: string;
	readonly body: string;
	/** Milliseconds that its headers ask to wait before another attempt. */
	readonly retryAfter: number | null;
}

export interface EventStreamRequest {
	readonly fetch: Fetch;
	readonly url: URL;
	readonly headers: Headers;
	readonly body: string;
	/** Milliseconds from the request to the head of the answer. */
	readonly responseTimeout: number;
	/** Milliseconds of silence allowed from now on; asked before each read. */
	readonly idleTimeout: () => number;
	readonly clock: Clock;
	readonly toFailure: (answer: PlainAnswer) => ModelFailure;
}

/** Characters an event may have; a longer one is no answer of a model. */
const eventLimit = 64 * 1024 * 1024;
const errorBodyLimit = 64 * 1024;

/**
 * The events of the answer, in the batches in which they came; returns at a clean end. Reads only while pulled, and
 * closes the socket when left early or aborted. Throws RequestFailure; after an abort anything may be thrown.
 */
export async function* streamServerEvents(
	request: EventStreamRequest,
	signal: AbortSignal,
): AsyncGenerator<readonly ServerEvent[], void> {
	const exchange = createExchange(request.clock, signal);
	try {
		const response = await exchange.within(request.responseTimeout, (abort) =>
			// A redirect would carry the key to wherever the answer points.
			request.fetch(request.url, {
				method: "POST",
				headers: request.headers,
				body: request.body,
				signal: abort,
				redirect: "manual",
			}),
		);
		const contentType = response.headers.get("content-type") ?? "";
		if (!response.ok || /\bjson\b|\bhtml\b/i.test(contentType)) {
			const body = await readStart(response, exchange, request.idleTimeout());
			const { status, statusText, headers } = response;
			const retryAfter = readRetryAfter(headers, request.clock.now());
			throw new RequestFailure(request.toFailure({ status, statusText, headers, contentType, body, retryAfter }));
		}
		if (response.body === null) return;
		yield* readEvents(response.body, exchange, request.idleTimeout);
	} finally {
		exchange.close();
	}
}

async function* readEvents(
	body: ReadableStream<Uint8Array>,
	exchange: Exchange,
	idleTimeout: () => number,
): AsyncGenerator<readonly ServerEvent[], void> {
	let events: ServerEvent[] = [];
	let cut = false;
	let oversized = false;
	const parser = createParser({
		maxBufferSize: eventLimit,
		onEvent: ({ event, data }) => events.push({ event: event ?? null, data, cut }),
		onError: (error) => {
			if (error.type === "max-buffer-size-exceeded") oversized = true;
			else if (error.field === "error") events.push({ event: "error", data: error.value ?? "", cut });
		},
	});
	const feed = (text: string) => {
		if (text !== "") parser.feed(text);
		if (oversized) throw requestFailure("provider", "The provider sent an event that is too large.");
	};

	const decoder = new TextDecoder();
	const reader = body.getReader();
	for (;;) {
		const { done, value } = await exchange.within(idleTimeout(), () => reader.read());
		if (done) break;
		feed(decoder.decode(value, { stream: true }));
		if (events.length === 0) continue;
		const batch = events;
		events = [];
		yield batch;
	}
	feed(decoder.decode());
	// Some servers leave out the blank line after the last event.
	cut = true;
	feed("\n\n");
	if (events.length > 0) yield events;
}

async function readStart(response: Response, exchange: Exchange, timeout: number): Promise<string> {
	if (response.body === null) return "";
	const reader = response.body.getReader();
	const decoder = new TextDecoder();
	let text = "";
	for (let length = 0; length < errorBodyLimit; ) {
		const { done, value } = await exchange.within(timeout, () => reader.read());
		if (done) break;
		length += value.length;
		text += decoder.decode(value, { stream: true });
	}
	return text.slice(0, errorBodyLimit);
}

interface Exchange {
	/** Runs one step of the exchange under a deadline; a step that fails does so with a RequestFailure. */
	within<T>(milliseconds: number, step: (abort: AbortSignal) => Promise<T>): Promise<T>;
	/** Ends the exchange and its socket, unless the answer has been read to its end. */
	close(): void;
}

function createExchange(clock: Clock, signal: AbortSignal): Exchange {
	const controller = new AbortController();
	const abort = () => controller.abort();
	signal.addEventListener("abort", abort, { once: true });
	if (signal.aborted) abort();
	return {
		async within(milliseconds, step) {
			let expired = false;
			const withdraw = clock.after(milliseconds, () => {
				expired = true;
				abort();
			});
			try {
				return await step(controller.signal);
			} catch (thrown) {
				throw expired
					? requestFailure("timeout", `The provider sent nothing for ${milliseconds / 1000} s.`)
					: toConnectionFailure(thrown);
			} finally {
				withdraw();
			}
		},
		close() {
			signal.removeEventListener("abort", abort);
			abort();
		},
	};
}

const failureKinds: Readonly<Record<NetworkFailure["kind"], ModelFailure["kind"]>> = {
	connection: "connection",
	timeout: "timeout",
	proxy: "connection",
	// Settings do not change from one attempt to the next.
	configuration: "provider",
	address: "provider",
};

function toConnectionFailure(thrown: unknown): RequestFailure {
	const { kind, message } = toNetworkFailure(thrown);
	const what = kind === "timeout" ? "timed out" : "failed";
	return requestFailure(failureKinds[kind], `The connection to the provider ${what}: ${message}`);
}
