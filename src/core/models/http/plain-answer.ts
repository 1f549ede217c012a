import type { Clock } from "../../../base/clock.ts";
import { beginning } from "../../../base/text/well-formed.ts";
import type { Fetch } from "../../../ports/network/network-settings.ts";
import { createExchange, type Exchange } from "./exchange.ts";
import { readRetryAfter } from "./retry-after.ts";

/** A response that is not an event stream. `body` is at most 64 KiB of its text. */
export interface PlainAnswer {
	readonly url: URL;
	readonly status: number;
	readonly statusText: string;
	readonly headers: Headers;
	readonly contentType: string;
	readonly body: string;
	/** The retry delay in milliseconds from its headers. */
	readonly retryAfter: number | null;
}

export interface PlainRequest {
	readonly fetch: Fetch;
	readonly url: URL;
	readonly headers: Headers;
	readonly body: string | Uint8Array;
	/** Milliseconds from the request to the response head. */
	readonly responseTimeout: number;
	/** Allowed milliseconds of silence from now on; called before each read. */
	readonly idleTimeout: () => number;
	readonly clock: Clock;
}

/** Maximum bytes to read of a plain response. */
export const errorBodyLimit = 64 * 1024;

/** The response with any status. Throws RequestFailure; after an abort, anything. */
export async function requestPlainAnswer(request: PlainRequest, signal: AbortSignal): Promise<PlainAnswer> {
	const exchange = createExchange(request.clock, signal);
	try {
		return await toPlainAnswer(await sendRequest(request, exchange), exchange, request);
	} finally {
		exchange.close();
	}
}

/** Sends the request; resolves with the response head. Throws RequestFailure. */
export function sendRequest(request: PlainRequest, exchange: Exchange): Promise<Response> {
	const { url, headers, body, fetch } = request;
	return exchange.within(request.responseTimeout, (signal) =>
		// A redirect would send the key to an address chosen by the answer.
		fetch(url, { method: "POST", headers, body, signal, redirect: "manual" }),
	);
}

export async function toPlainAnswer(
	response: Response,
	exchange: Exchange,
	request: PlainRequest,
): Promise<PlainAnswer> {
	const body = await readStart(response, exchange, request.idleTimeout());
	return { ...describeHead(response, request), body };
}

export function describeHead(response: Response, { url, clock }: PlainRequest): Omit<PlainAnswer, "body"> {
	const { status, statusText, headers } = response;
	const contentType = headers.get("content-type") ?? "";
	return { url, status, statusText, headers, contentType, retryAfter: readRetryAfter(headers, clock.now()) };
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
