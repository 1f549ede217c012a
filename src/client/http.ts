import { type ErrorObject, toRefused } from "./error-object.ts";
import { messageOf, PeerGone, Refused } from "./errors.ts";
import type { Operations, PublicEvent, SessionAttachParams, SessionAttachResult } from "./protocol-types.ts";
import { readServerSentEvents, type ServerSentEvent } from "./server-sent-events.ts";
import type { Attachment, CallName, Transport } from "./transport.ts";

export interface HttpOptions {
	/** The address of the gateway, such as `http://127.0.0.1:7420`. */
	readonly url: string;
	readonly token: string;
	/** Replaces the global `fetch`. */
	readonly fetch?: typeof fetch;
}

class HttpTransport implements Transport {
	readonly reconnects = true;
	readonly #options: HttpOptions;
	readonly #closing = new AbortController();
	#ids = 0;

	constructor(options: HttpOptions) {
		this.#options = options;
	}

	async request<N extends CallName>(name: N, params: Operations[N]["params"]): Promise<Operations[N]["result"]> {
		this.#ids += 1;
		const response = await this.#post("/rpc", { jsonrpc: "2.0", id: this.#ids, method: name, params });
		const text = await response.text().catch((thrown: unknown) => {
			throw new PeerGone(`The answer of ${this.#options.url} ended early: ${messageOf(thrown)}`);
		});
		const answer = parse<Answer<Operations[N]["result"]>>(text);
		if ("error" in answer) throw toRefused(answer.error);
		return answer.result;
	}

	async attach(params: SessionAttachParams): Promise<Attachment> {
		const leaving = new AbortController();
		const signal = AbortSignal.any([leaving.signal, this.#closing.signal]);
		const response = await this.#post("/events", params, signal);
		const messages = readServerSentEvents(response, signal);
		const { done, value: first } = await messages.next();
		if (done === true || first.name !== "state") {
			leaving.abort();
			throw done === true ? new PeerGone(`${this.#options.url} ended the stream of events.`) : toFailure(first.data);
		}
		const state = parse<SessionAttachResult>(first.data);
		return { state, events: toBatches(messages), close: () => leaving.abort() };
	}

	async close(): Promise<void> {
		this.#closing.abort();
	}

	async #post(path: string, body: object, signal: AbortSignal = this.#closing.signal): Promise<Response> {
		const { url, token, fetch: send = fetch } = this.#options;
		let response: Response;
		try {
			response = await send(new URL(path, url), {
				method: "POST",
				headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
				body: JSON.stringify(body),
				signal,
			});
		} catch (thrown) {
			if (this.#closing.signal.aborted) throw new PeerGone("The client was closed.");
			throw new PeerGone(`${url} could not be reached: ${messageOf(thrown)}`);
		}
		if (response.ok) return response;
		const refusal = toHttpRefusal(response, await response.text().catch(() => ""));
		// A proxy whose gateway is restarting.
		if (/^http-50[234]$/.test(refusal.code)) throw new PeerGone(`${url} could not be reached: ${refusal.message}`);
		throw refusal;
	}
}

/** The types are generated from the server's schemas. */
function parse<T>(json: string): T {
	return JSON.parse(json);
}

async function* toBatches(messages: AsyncIterable<ServerSentEvent>): AsyncGenerator<readonly PublicEvent[]> {
	for await (const { name, data } of messages) {
		if (name === "closed") return;
		if (name === "failed") throw toFailure(data);
		if (name === "reset")
			yield [{ ...parse<ResetData>(data), type: "session.reset", turnId: null, agentPath: [], at: 0 }];
		if (name === "e" || name === "v") yield [parse<PublicEvent>(data)];
	}
}

type Answer<Result> = { readonly result: Result } | { readonly error: ErrorObject };

/** The gateway's refusal, or another server's status. */
function toHttpRefusal({ status, statusText }: Response, text: string): Refused {
	const own = text.startsWith("{") ? parse<{ readonly error?: string; readonly code?: string }>(text) : {};
	return new Refused(own.code ?? `http-${status}`, own.error ?? `HTTP ${status} ${statusText}`.trimEnd());
}

type ResetData = { readonly sessionId: string; readonly epoch: string };

function toFailure(data: string): Refused {
	return toRefused(parse<{ readonly error: ErrorObject }>(data).error);
}

/** Connects to a gateway. Nothing is sent before the first request. */
export function connectHttp(options: HttpOptions): Transport {
	return new HttpTransport(options);
}
