// The library's HTTP transports with limits, credentials, errors for unanswered requests, and cleanup.
import type { AuthProvider, FetchLike, JSONRPCMessage, RequestId, Transport } from "@modelcontextprotocol/client";
import type { RemoteMcpServer } from "../../api/mcp-servers.ts";
import { workIsOver } from "../../base/abort.ts";
import type { Clock } from "../../base/clock.ts";
import { boundFetch } from "./bounded-fetch.ts";
import { OpenRequests } from "./messages/open-requests.ts";
import { repairResponse } from "./messages/repaired-answers.ts";

type Library = typeof import("@modelcontextprotocol/client");

const messageLimit = 100 * 1024 * 1024;
/** Minimum milliseconds before a stream that the server closed is reopened, even if the server asks for less. */
const shortestWait = 1000;
const longestWait = 300_000;
/** Milliseconds for the server to accept a notification or answer, and to close an answered stream. */
const patience = 30_000;
/** The error for requests that we fail ourselves. */
const brokenAnswer = { code: -32000, message: "the server broke off its answer" } as const;

export function isBrokenAnswer(code: number, message: string): boolean {
	return code === brokenAnswer.code && message === brokenAnswer.message;
}

export interface RemoteTransportSettings {
	readonly server: RemoteMcpServer;
	/** Null if the configured headers suffice. */
	readonly signer: AuthProvider | null;
	readonly fetch: FetchLike;
	readonly clock: Clock;
}

export interface RemoteTransport extends Transport {
	takeLeave(): Promise<void>;
}

export function createRemoteTransport(
	{ StreamableHTTPClientTransport, SSEClientTransport }: Library,
	{ server, signer, fetch, clock }: RemoteTransportSettings,
): RemoteTransport {
	const url = new URL(server.url);
	const bounds = { size: messageLimit, silence: server.readTimeout };
	const exchanges = new Exchanges();
	const options = {
		requestInit: { headers: toHeaders(server) },
		fetch: exchanges.follow(boundFetch(fetch, bounds, clock)),
		...(signer === null ? {} : { authProvider: signer }),
	};
	if (server.transport === "sse") {
		const transport = new SSEClientTransport(url, options);
		heedSignals(transport, exchanges);
		return Object.assign(transport, { takeLeave: async () => {} });
	}
	const transport = new StreamableHTTPClientTransport(url, {
		...options,
		reconnectionScheduler: (open, wait) =>
			clock.after(Math.min(Math.max(wait, shortestWait), longestWait), () => open()),
	});
	answerEndedStreams(transport, exchanges);
	return Object.assign(transport, { takeLeave: () => transport.terminateSession() });
}

function toHeaders({ headers, authorization }: RemoteMcpServer): Record<string, string> {
	const isSigned = Object.keys(headers).some((name) => name.toLowerCase() === "authorization");
	if (authorization.kind !== "bearer" || isSigned) return { ...headers };
	return { ...headers, Authorization: `Bearer ${authorization.token}` };
}

/** The sending of one message. The library does not expose the response or the message that a fetch belongs to. */
interface Exchange {
	/** The id of the request it answers; null if the answer comes on another stream. */
	readonly id: RequestId | null;
	/** Aborts its requests; null if the library does. */
	readonly signal: AbortSignal | null;
	answer: { readonly status: number; readonly isStream: boolean } | null;
}

/** Exchanges in progress, by message text, which the library sends as plain JSON. */
class Exchanges {
	readonly #running = new Map<unknown, Exchange>();
	readonly #open = new OpenRequests();

	async run(message: JSONRPCMessage, exchange: Exchange, send: () => Promise<void>): Promise<void> {
		const text = JSON.stringify(message);
		this.#open.sent(message);
		this.#running.set(text, exchange);
		try {
			await send();
		} finally {
			if (this.#running.get(text) === exchange) this.#running.delete(text);
		}
	}

	follow(fetch: FetchLike): FetchLike {
		return async (url, init) => {
			const exchange = this.#running.get(init?.body);
			const hasSession = new Headers(init?.headers).has("mcp-session-id");
			if (exchange === undefined) return repairResponse(await fetch(url, init), { open: this.#open, hasSession });
			const signals = [init?.signal ?? null, exchange.signal].filter((signal) => signal !== null);
			const raw = await fetch(url, { ...init, signal: AbortSignal.any(signals) });
			const open = exchange.id === null ? this.#open : this.#open.only(exchange.id);
			const response = repairResponse(raw, { open, hasSession });
			const type = response.headers.get("content-type") ?? "";
			// The library treats a 202 response as finished regardless of its body.
			const isStream = response.status !== 202 && type.includes("text/event-stream");
			exchange.answer = { status: response.status, isStream };
			return response;
		};
	}
}

/** The library's event stream transport ignores message signals. */
function heedSignals(transport: Transport, exchanges: Exchanges): void {
	const send = transport.send.bind(transport);
	transport.send = (message, options) =>
		exchanges.run(message, { id: null, signal: options?.requestSignal ?? null, answer: null }, () =>
			send(message, options),
		);
}

/** Fails requests whose stream ended or that were only accepted; the library would wait forever. */
function answerEndedStreams(transport: Transport, exchanges: Exchanges): void {
	const send = transport.send.bind(transport);
	transport.send = async (message, options) => {
		const id = "method" in message && "id" in message ? message.id : null;
		const exchange: Exchange = { id, signal: null, answer: null };
		if (id === null) return await exchanges.run(message, exchange, () => send(message, options));
		// The library ignores this for an answered request.
		const answer = (error: { readonly code: number; readonly message: string }) =>
			transport.onmessage?.({ jsonrpc: "2.0", id, error });
		const onRequestStreamEnd = () => {
			answer(brokenAnswer);
			options?.onRequestStreamEnd?.();
		};
		await exchanges.run(message, exchange, () => send(message, { ...options, onRequestStreamEnd }));
		if (exchange.answer === null || exchange.answer.isStream) return;
		answer({
			code: -32603,
			message: `the server answered with HTTP ${exchange.answer.status}, but not what was requested`,
		});
		options?.onRequestStreamEnd?.();
	};
}

/** Closes streams that the library would keep open or reopen, and messages not accepted in time. */
export function endGivenUpStreams(transport: Transport, clock: Clock): void {
	const receive = transport.onmessage;
	const send = transport.send.bind(transport);
	const running = new Map<unknown, OpenRequest>();
	const sendInTime: Transport["send"] = async (message, options) => {
		const late = new AbortController();
		const withdraw = clock.after(patience, () => late.abort(workIsOver));
		try {
			await send(message, { ...options, requestSignal: late.signal });
		} finally {
			withdraw();
		}
	};
	transport.onmessage = (message, extra) => {
		if (!("method" in message)) {
			const answered = running.get(message.id);
			running.delete(message.id);
			// Answers with a separate stream usually end it at once, and the connection can be reused.
			answered?.endWithin(transport.hasPerRequestStream === true ? patience : 0);
		}
		receive?.(message, extra);
	};
	transport.send = async (message, options) => {
		if (!("method" in message)) return await sendInTime(message, options);
		if ("id" in message) {
			const request = createOpenRequest(clock);
			running.set(message.id, request);
			const signals = [request.signal, ...(options?.requestSignal === undefined ? [] : [options.requestSignal])];
			const onRequestStreamEnd = () => {
				request.over();
				options?.onRequestStreamEnd?.();
			};
			return await send(message, { ...options, requestSignal: AbortSignal.any(signals), onRequestStreamEnd });
		}
		const id = message.method === "notifications/cancelled" ? message.params?.["requestId"] : undefined;
		running.get(id)?.endWithin(0);
		running.delete(id);
		await sendInTime(message, options);
	};
}

interface OpenRequest {
	readonly signal: AbortSignal;
	/** Aborts after this many milliseconds unless finished. */
	endWithin(milliseconds: number): void;
	over(): void;
}

function createOpenRequest(clock: Clock): OpenRequest {
	const end = new AbortController();
	let withdraw = () => {};
	return {
		signal: end.signal,
		endWithin(milliseconds) {
			if (milliseconds === 0) end.abort(workIsOver);
			else withdraw = clock.after(milliseconds, () => end.abort(workIsOver), true);
		},
		over: () => withdraw(),
	};
}
