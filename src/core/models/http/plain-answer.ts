// One POST answered at once, whatever the answer is: what an error, or a small document, is read of.
import type { Clock } from "../../../base/clock.ts";
import { beginning } from "../../../base/text/well-formed.ts";
import type { Fetch } from "../../../ports/network/network-settings.ts";
import { createExchange, type Exchange } from "./exchange.ts";
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

/** Bytes to read of an answer that is not an event stream. */
export const errorBodyLimit = 64 * 1024;

/** The answer as it is, whatever its status. Throws RequestFailure; after an abort anything may be thrown. */
export async function requestPlainAnswer(request: PlainRequest, signal: AbortSignal): Promise<PlainAnswer> {
	const exchange = createExchange(request.clock, signal);
	try {
		return await toPlainAnswer(await sendRequest(request, exchange), exchange, request);
	} finally {
		exchange.close();
	}
}

/** Sends the request; resolves with the head of the answer. Throws RequestFailure. */
export function sendRequest(request: PlainRequest, exchange: Exchange): Promise<Response> {
	const { url, headers, body, fetch } = request;
	return exchange.within(request.responseTimeout, (signal) =>
		// A redirect would send the key to an address chosen by the answer.
		fetch(url, { method: "POST", headers, body, signal, redirect: "manual" }),
	);
}

/** The same answer with the start of its body. Throws RequestFailure. */
export async function toPlainAnswer(
	response: Response,
	exchange: Exchange,
	request: PlainRequest,
): Promise<PlainAnswer> {
	const body = await readStart(response, exchange, request.idleTimeout());
	return { ...describeHead(response, request), body };
}

/** The answer without its body. */
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
