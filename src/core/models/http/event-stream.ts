// Sends one POST with deadlines and abort; adapters interpret its error responses and events.
import { setImmediate as nextTurn } from "node:timers/promises";
import { type BodySource, openSource } from "../../../ports/network/body-source.ts";
import type { ModelFailure } from "../model.ts";
import { createEventReader, type ServerEvent } from "./event-reader.ts";
import { createExchange, type Exchange } from "./exchange.ts";
import {
	describeHead,
	errorBodyLimit,
	type PlainAnswer,
	type PlainRequest,
	sendRequest,
	toPlainAnswer,
} from "./plain-answer.ts";
import { RequestFailure, requestFailure } from "./request-failure.ts";

export interface EventStreamRequest extends PlainRequest {
	readonly toFailure: (answer: PlainAnswer) => ModelFailure;
}

/** Maximum bytes of one answer, decompressed: several times the longest answers, including event overhead. */
export const answerLimit = 64 * 1024 * 1024;
/** Maximum characters of one event, which is decoded at once. */
export const eventLimit = 16 * 1024 * 1024;
/** Bytes decoded at once. */
const sliceSize = 16 * 1024;

export interface ServerEvents extends AsyncIterableIterator<readonly ServerEvent[], void> {
	return(): Promise<IteratorReturnResult<void>>;
}

/** Reads only when pulled; closes the socket on early exit. Throws RequestFailure; after an abort, anything. */
export function streamServerEvents(request: EventStreamRequest, signal: AbortSignal): ServerEvents {
	return new EventStream(request, signal);
}

const over = { done: true, value: undefined } as const;
const none = new Uint8Array();

/** Not nested generators, which take several promises per event. */
class EventStream implements ServerEvents {
	readonly #request: EventStreamRequest;
	readonly #signal: AbortSignal;
	#exchange: Exchange | null = null;
	#body: BodySource | null = null;
	#response: Response | null = null;
	/** The text before the first event while it may be JSON: some servers label an error as an event stream. */
	#start: string | null = "";
	#isOver = false;
	readonly #events = createEventReader(eventLimit);
	readonly #decoder = new TextDecoder();
	#received = 0;
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

	/** The start of the received bytes; nearly always all of them. */
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

	#refuseJson(): void {
		if (this.#response === null || this.#start === null || !isJson(this.#start)) return;
		const answer = describeHead(this.#response, this.#request);
		const plain = { ...answer, contentType: "application/json", body: this.#start };
		throw new RequestFailure(this.#request.toFailure(plain));
	}

	#close(): void {
		this.#isOver = true;
		this.#exchange?.close();
	}

	async #open(exchange: Exchange): Promise<BodySource | null> {
		const response = await sendRequest(this.#request, exchange);
		const contentType = response.headers.get("content-type") ?? "";
		if (!response.ok || /\bjson\b|\bhtml\b/i.test(contentType)) {
			throw new RequestFailure(this.#request.toFailure(await toPlainAnswer(response, exchange, this.#request)));
		}
		this.#response = response;
		return response.body === null ? null : openSource(response.body);
	}
}

/** The text if it may still become short JSON; else null. */
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
	return requestFailure("provider", `${what} more than ${limit / 1024 / 1024} MiB, and was cut off.`);
}
