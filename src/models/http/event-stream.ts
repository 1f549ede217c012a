// One POST answered by server-sent events, or by a plain answer: sends it, with deadlines and abort, and returns events
// as they are pulled. Adapters interpret error answers and events.

import { setImmediate as nextTurn } from "node:timers/promises";
import type { Clock } from "../../base/clock.ts";
import { beginning } from "../../base/well-formed.ts";
import { type BodySource, openSource } from "../../network/body-source.ts";
import { createSilenceWatch } from "../../network/exchanges/silence.ts";
import { type NetworkFailure, toNetworkFailure } from "../../network/network-error.ts";
import type { Fetch } from "../../network/network-settings.ts";
import type { ModelFailure } from "../model.ts";
import { createEventReader, type ServerEvent } from "./event-reader.ts";
import { RequestFailure, requestFailure } from "./request-failure.ts";
import { readRetryAfter } from "./retry-after.ts";

/** An answer that is not an event stream. `body` is at most 64 KiB of its text. */
export interface PlainAnswer {
	/** That of the request. */
	readonly url: URL;
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

/** The events of an answer, in the batches in which they arrived. */
export interface ServerEvents extends AsyncIterableIterator<readonly ServerEvent[], void> {
	/** Closes the socket. */
	return(): Promise<IteratorReturnResult<void>>;
}

/**
 * The events of the answer; they end at a clean end. Reads only while pulled, and closes the socket when left early or
 * aborted. Throws RequestFailure; after an abort anything may be thrown.
 */
export function streamServerEvents(request: EventStreamRequest, signal: AbortSignal): ServerEvents {
	return new EventStream(request, signal);
}

const over = { done: true, value: undefined } as const;
const none = new Uint8Array();

/** Written out instead of as generators that pass on to each other: each of them takes some promises for every event. */
class EventStream implements ServerEvents {
	readonly #request: EventStreamRequest;
	readonly #signal: AbortSignal;
	/** Null before the request. */
	#exchange: Exchange | null = null;
	#body: BodySource | null = null;
	#response: Response | null = null;
	/** What came before the first event, if it may be JSON: an error of a server that calls it an event stream. */
	#start: string | null = "";
	#isOver = false;
	readonly #events = createEventReader(eventLimit);
	readonly #decoder = new TextDecoder();
	#received = 0;
	/** What has arrived and is not decoded yet. */
	#rest: Uint8Array = none;

	constructor(request: EventStreamRequest, signal: AbortSignal) {
		this.#request = request;
		this.#signal = signal;
	}

	[Symbol.asyncIterator](): this {
		return this;
	}

	async next(): Promise<IteratorResult<readonly ServerEvent[], void>> {
		if (this.#isOver) return over;
		try {
			if (this.#exchange === null) {
				this.#exchange = createExchange(this.#request.clock, this.#signal);
				this.#body = await this.#open(this.#exchange);
			}
			const exchange = this.#exchange;
			const body = this.#body;
			for (;;) {
				if (body === null) return this.#end();
				// Thousands of small events in one chunk must not block the event loop.
				if (this.#rest.length > 0) await nextTurn();
				else {
					const piece = exchange.take(body);
					if (piece === null) return this.#end();
					if (piece === undefined) {
						exchange.await(this.#request.idleTimeout());
						await body.arrival();
						continue;
					}
					this.#received += piece.length;
					if (this.#received > answerLimit) throw tooLarge("The provider's answer has", answerLimit);
					this.#rest = piece;
				}
				const text = this.#decoder.decode(this.#takeSlice(), { stream: true });
				const batch = this.#events.read(text);
				if (this.#start !== null) this.#start = batch?.length === 0 ? toJsonStart(this.#start + text) : null;
				if (batch === null) throw tooLarge("The provider sent an event of", eventLimit);
				if (batch.length > 0) return { done: false, value: batch };
			}
		} catch (thrown) {
			this.#close();
			throw thrown;
		}
	}

	async return(): Promise<IteratorReturnResult<void>> {
		this.#close();
		return over;
	}

	/** The beginning of what has arrived; nearly always all of it. */
	#takeSlice(): Uint8Array {
		const rest = this.#rest;
		if (rest.length <= sliceSize) {
			this.#rest = none;
			return rest;
		}
		this.#rest = rest.subarray(sliceSize);
		return rest.subarray(0, sliceSize);
	}

	#end(): IteratorResult<readonly ServerEvent[], void> {
		this.#close();
		const last = [...(this.#events.read(this.#decoder.decode()) ?? []), ...this.#events.end()];
		if (last.length === 0) this.#refuseJson();
		return last.length > 0 ? { done: false, value: last } : over;
	}

	/** Throws RequestFailure when the whole answer was JSON. */
	#refuseJson(): void {
		if (this.#response === null || this.#start === null || !isJson(this.#start)) return;
		const answer = describe(this.#response, this.#request);
		const plain = { ...answer, contentType: "application/json", body: this.#start };
		throw new RequestFailure(this.#request.toFailure(plain));
	}

	#close(): void {
		this.#isOver = true;
		this.#exchange?.close();
	}

	/** The body of the answer; null when it has none. */
	async #open(exchange: Exchange): Promise<BodySource | null> {
		const response = await send(this.#request, exchange);
		const contentType = response.headers.get("content-type") ?? "";
		if (!response.ok || /\bjson\b|\bhtml\b/i.test(contentType)) {
			throw new RequestFailure(this.#request.toFailure(await toPlainAnswer(response, exchange, this.#request)));
		}
		this.#response = response;
		return response.body === null ? null : openSource(response.body);
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

async function toPlainAnswer(response: Response, exchange: Exchange, request: PlainRequest): Promise<PlainAnswer> {
	const body = await readStart(response, exchange, request.idleTimeout());
	return { ...describe(response, request), body };
}

/** All of it but the body. */
function describe(response: Response, { url, clock }: PlainRequest): Omit<PlainAnswer, "body"> {
	const { status, statusText, headers } = response;
	const contentType = headers.get("content-type") ?? "";
	return { url, status, statusText, headers, contentType, retryAfter: readRetryAfter(headers, clock.now()) };
}

/** The text if it may become JSON that is short enough to be read; otherwise null. */
function toJsonStart(text: string): string | null {
	return text.length <= errorBodyLimit && /^\s*(?:[[{]|$)/.test(text) ? text : null;
}

function isJson(text: string): boolean {
	try {
		JSON.parse(text);
		return true;
	} catch {
		return false;
	}
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
	return beginning(text, errorBodyLimit);
}

interface Exchange {
	/** Runs one step of the exchange with a deadline; it fails with a RequestFailure. */
	within<T>(milliseconds: number, step: (abort: AbortSignal) => Promise<T>): Promise<T>;
	/** The same for a body, of which something has to arrive within so many milliseconds from now on. */
	await(milliseconds: number): void;
	/** What has arrived of the body; fails with a RequestFailure. */
	take(body: BodySource): ReturnType<BodySource["take"]>;
	/** Ends the exchange and its socket, unless the answer was read to its end. */
	close(): void;
}

function createExchange(clock: Clock, signal: AbortSignal): Exchange {
	const controller = new AbortController();
	const abort = () => controller.abort();
	signal.addEventListener("abort", abort, { once: true });
	if (signal.aborted) abort();
	let expired: number | null = null;
	const expire = (milliseconds: number) => {
		expired = milliseconds;
		abort();
	};
	const toFailure = (thrown: unknown) =>
		expired === null
			? toConnectionFailure(thrown)
			: requestFailure("timeout", `The provider sent nothing for ${expired / 1000} s.`);
	const watch = createSilenceWatch(clock, expire);
	return {
		async within(milliseconds, step) {
			const withdraw = clock.after(milliseconds, () => expire(milliseconds));
			try {
				return await step(controller.signal);
			} catch (thrown) {
				throw toFailure(thrown);
			} finally {
				withdraw();
			}
		},
		await: watch.begin,
		take(body) {
			try {
				const piece = body.take();
				if (piece !== undefined) watch.end();
				return piece;
			} catch (thrown) {
				throw toFailure(thrown);
			}
		},
		close() {
			watch.close();
			signal.removeEventListener("abort", abort);
			abort();
		},
	};
}

export const networkFailureKinds: Readonly<Record<NetworkFailure["kind"], ModelFailure["kind"]>> = {
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
	return requestFailure(networkFailureKinds[kind], `The connection to the provider ${what}: ${message}`);
}
