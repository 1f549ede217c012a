// One POST answered by server-sent events, or by a plain answer: sends it, with deadlines and abort, and returns events
// as they are pulled. Adapters interpret error answers and events.
import { setImmediate as nextTurn } from "node:timers/promises";
import type { Clock } from "../../base/clock.ts";
import { type NetworkFailure, toNetworkFailure } from "../../network/network-error.ts";
import type { Fetch } from "../../network/network-settings.ts";
import type { ModelFailure } from "../model.ts";
import { createEventReader, type ServerEvent } from "./event-reader.ts";
import { RequestFailure, requestFailure } from "./request-failure.ts";
import { readRetryAfter } from "./retry-after.ts";

/** An answer that is not an event stream. `body` is at most 64 KiB of its text. */
export interface PlainAnswer {
	readonly status: number;
	readonly statusText: string;
	readonly headers: Headers;
	readonly contentType: string;
	readonly body: string;
	/** The wait in milliseconds before a retry that its headers request. */
	readonly retryAfter: number | null;
}

export interface PlainRequest {
	readonly fetch: Fetch;
	readonly url: URL;
	readonly headers: Headers;
	readonly body: string | Uint8Array;
	/** Milliseconds from the request to the head of the answer. */
	readonly responseTimeout: number;
	/** Milliseconds of silence allowed from now on; called before each read. */
	readonly idleTimeout: () => number;
	readonly clock: Clock;
}

export interface EventStreamRequest extends PlainRequest {
	readonly toFailure: (answer: PlainAnswer) => ModelFailure;
}

/** Maximal bytes of one answer, unpacked: several times those of the longest answers, wrapped in events. */
export const answerLimit = 64 * 1024 * 1024;
/** Maximal characters of one event, which is decoded at once. */
export const eventLimit = 16 * 1024 * 1024;
/** Bytes to read of an answer that is not an event stream. */
const errorBodyLimit = 64 * 1024;
/** Bytes that are read at once. */
const sliceSize = 16 * 1024;

/**
 * The events of the answer, in the batches in which they arrived; returns at a clean end. Reads only while pulled, and
 * closes the socket when left early or aborted. Throws RequestFailure; after an abort anything may be thrown.
 */
export async function* streamServerEvents(
	request: EventStreamRequest,
	signal: AbortSignal,
): AsyncGenerator<readonly ServerEvent[], void> {
	const exchange = createExchange(request.clock, signal);
	try {
		const response = await send(request, exchange);
		const contentType = response.headers.get("content-type") ?? "";
		if (!response.ok || /\bjson\b|\bhtml\b/i.test(contentType)) {
			throw new RequestFailure(request.toFailure(await toPlainAnswer(response, exchange, request)));
		}
		if (response.body === null) return;
		yield* readEvents(response.body, exchange, request.idleTimeout);
	} finally {
		exchange.close();
	}
}

/** The answer as it is, whatever its status. Throws RequestFailure; after an abort anything may be thrown. */
export async function requestPlainAnswer(request: PlainRequest, signal: AbortSignal): Promise<PlainAnswer> {
	const exchange = createExchange(request.clock, signal);
	try {
		return await toPlainAnswer(await send(request, exchange), exchange, request);
	} finally {
		exchange.close();
	}
}

function send(request: PlainRequest, exchange: Exchange): Promise<Response> {
	const { url, headers, body, fetch } = request;
	return exchange.within(request.responseTimeout, (signal) =>
		// A redirect would send the key to an address chosen by the answer.
		fetch(url, { method: "POST", headers, body, signal, redirect: "manual" }),
	);
}

async function toPlainAnswer(
	response: Response,
	exchange: Exchange,
	{ idleTimeout, clock }: PlainRequest,
): Promise<PlainAnswer> {
	const { status, statusText, headers } = response;
	const body = await readStart(response, exchange, idleTimeout());
	return {
		status,
		statusText,
		headers,
		contentType: headers.get("content-type") ?? "",
		body,
		retryAfter: readRetryAfter(headers, clock.now()),
	};
}

async function* readEvents(
	body: ReadableStream<Uint8Array>,
	exchange: Exchange,
	idleTimeout: () => number,
): AsyncGenerator<readonly ServerEvent[], void> {
	const events = createEventReader(eventLimit);
	const decoder = new TextDecoder();
	const reader = body.getReader();
	let received = 0;
	for (;;) {
		const { done, value } = await exchange.within(idleTimeout(), () => reader.read());
		if (done) break;
		received += value.length;
		if (received > answerLimit) throw tooLarge("The provider's answer has", answerLimit);
		for (let start = 0; start < value.length; start += sliceSize) {
			// Thousands of small events in one chunk must not block the event loop.
			if (start > 0) await nextTurn();
			const batch = events.read(decoder.decode(value.subarray(start, start + sliceSize), { stream: true }));
			if (batch === null) throw tooLarge("The provider sent an event of", eventLimit);
			if (batch.length > 0) yield batch;
		}
	}
	const last = [...(events.read(decoder.decode()) ?? []), ...events.end()];
	if (last.length > 0) yield last;
}

function tooLarge(what: string, limit: number): RequestFailure {
	return requestFailure("provider", `${what} more than ${limit / 1024 / 1024} MiB, and was broken off.`);
}

async function readStart(response: Response, exchange: Exchange, timeout: number): Promise<string> {
	if (response.body === null) return "";
	const reader = response.body.getReader();
	const decoder = new TextDecoder();
	let text = "";
	// One deadline for the whole body, in case it arrives a byte at a time.
	await exchange.within(timeout, async () => {
		for (let length = 0; length < errorBodyLimit; ) {
			const { done, value } = await reader.read();
			if (done) break;
			length += value.length;
			text += decoder.decode(value, { stream: true });
		}
	});
	return text.slice(0, errorBodyLimit);
}

interface Exchange {
	/** Runs one step of the exchange with a deadline; it fails with a RequestFailure. */
	within<T>(milliseconds: number, step: (abort: AbortSignal) => Promise<T>): Promise<T>;
	/** Ends the exchange and its socket, unless the answer was read to its end. */
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
	// Settings do not change between attempts.
	configuration: "provider",
	address: "provider",
	// The next attempt would exceed the limit as well.
	size: "provider",
};

function toConnectionFailure(thrown: unknown): RequestFailure {
	const { kind, message } = toNetworkFailure(thrown);
	const what = kind === "timeout" ? "timed out" : "failed";
	return requestFailure(failureKinds[kind], `The connection to the provider ${what}: ${message}`);
}
