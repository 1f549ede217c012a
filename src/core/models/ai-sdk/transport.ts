// The `fetch` that a package is given. It sends the request as corrected by the adapter, with our deadlines and abort,
// and passes on only the events that the adapter admits. The outcome of the exchange is known here, not from the
// package.
import type { ServerEvent } from "../http/event-reader.ts";
import { type ServerEvents, streamServerEvents } from "../http/event-stream.ts";
import type { PlainAnswer } from "../http/plain-answer.ts";
import { RequestFailure, requestFailure } from "../http/request-failure.ts";
import { createFailure, type ModelFailure } from "../model.ts";
import type { ModelSettings } from "../model-settings.ts";
import { toJsonBody } from "../requests/json-body.ts";
import { toModelFailure } from "./failures.ts";

/** A request as a package would send it; header names are in lower case. */
export interface PackageRequest {
	readonly url: string;
	readonly headers: Readonly<Record<string, string>>;
	/** The decoded body. */
	readonly body: unknown;
}

export interface ProviderRequest {
	readonly url: URL;
	readonly headers: Headers;
	readonly body: unknown;
}

/** How to treat an event: the package gets the data instead of it, or does not see it. `last` is the end mark. */
export type EventReading =
	| { readonly kind: "pass" | "last"; readonly data: readonly string[] }
	| { readonly kind: "skip" }
	| { readonly kind: "failed"; readonly failure: ModelFailure };

export interface Protocol {
	/** The request to send instead of the package's. May throw RequestFailure; after an abort anything. */
	toRequest(request: PackageRequest, signal: AbortSignal): ProviderRequest | Promise<ProviderRequest>;
	readEvent(event: ServerEvent): EventReading;
	/** Interprets an answer that is not an event stream. */
	toFailure(answer: PlainAnswer): ModelFailure;
}

export type TransportOutcome =
	| { readonly kind: "open" | "complete" }
	| { readonly kind: "failed"; readonly failure: ModelFailure };

export interface Transport {
	readonly fetch: typeof globalThis.fetch;
	/** Complete once the end mark was read. */
	outcome(): TransportOutcome;
	/** Ends the exchange and its socket. */
	close(): void;
}

const cutOff = createFailure("connection", "The provider's stream ended before the answer was complete.");

/** For one exchange. */
export function createTransport(
	{ timeouts, clock, network }: Pick<ModelSettings, "timeouts" | "clock" | "network">,
	protocol: Protocol,
	signal: AbortSignal,
): Transport {
	const controller = new AbortController();
	const close = () => controller.abort();
	let outcome: TransportOutcome = { kind: "open" };

	const openEvents = async (request: PackageRequest): Promise<ServerEvents> => {
		const ended = AbortSignal.any([signal, controller.signal]);
		const { url, headers, body } = await protocol.toRequest(request, ended);
		return streamServerEvents(
			{
				url,
				headers,
				body: toJsonBody(body),
				responseTimeout: timeouts.response,
				idleTimeout: () => timeouts.idle,
				clock,
				fetch: network.fetch,
				toFailure: protocol.toFailure,
			},
			ended,
		);
	};

	/** Reads events until one ends the stream, so that what came before an error is still emitted. */
	const readBatch = (batch: readonly ServerEvent[]): string => {
		let text = "";
		for (const event of batch) {
			const reading = protocol.readEvent(event);
			if (reading.kind === "skip") continue;
			if (reading.kind === "failed") {
				outcome = reading;
				break;
			}
			text += reading.data.map(toEventText).join("");
			if (reading.kind === "pass") continue;
			outcome = { kind: "complete" };
			break;
		}
		return text;
	};

	/**
	 * The next text for the package; empty at the end, whatever the reason: an error would make it drop what it has not
	 * read yet.
	 */
	const pull = async (events: ServerEvents): Promise<string> => {
		try {
			while (outcome.kind === "open") {
				const { done, value } = await events.next();
				if (done) outcome = { kind: "failed", failure: cutOff };
				else {
					const text = readBatch(value);
					if (text !== "") return text;
				}
			}
		} catch (thrown) {
			outcome = { kind: "failed", failure: toModelFailure(thrown) };
		}
		close();
		return "";
	};

	const send: typeof globalThis.fetch = async (input, init) => {
		const events = await openEvents(toPackageRequest(input, init));
		let next: string | null = await pull(events);
		if (next === "" && outcome.kind === "failed") throw new RequestFailure(outcome.failure);
		const encoder = new TextEncoder();
		const body = new ReadableStream<Uint8Array>(
			{
				async pull(stream) {
					const text = next ?? (await pull(events));
					next = null;
					if (text === "") stream.close();
					else stream.enqueue(encoder.encode(text));
				},
				cancel: close,
			},
			// Nothing is read before the package requests it.
			{ highWaterMark: 0 },
		);
		return new Response(body, { status: 200, headers: { "content-type": "text/event-stream" } });
	};

	return { fetch: send, outcome: () => outcome, close };
}

function toEventText(data: string): string {
	return `data: ${data.replaceAll("\n", "\ndata: ")}\n\n`;
}

function toPackageRequest(...[input, init]: Parameters<typeof globalThis.fetch>): PackageRequest {
	const body = init?.body;
	if (typeof body !== "string") throw requestFailure("defect", "The provider's package sent a body that is not text.");
	const url = input instanceof Request ? input.url : input.toString();
	return { url, headers: Object.fromEntries(new Headers(init?.headers)), body: JSON.parse(body) };
}
