// The library's MCP transports over HTTP, with what they lack: limits, credentials, an answer to requests that the
// server does not answer, and the end of messages that nobody waits for.
import type { AuthProvider, FetchLike, JSONRPCMessage, RequestId, Transport } from "@modelcontextprotocol/client";
import { workIsOver } from "../../base/abort.ts";
import type { Clock } from "../../base/clock.ts";
import type { RemoteMcpServer } from "../../settings/config/mcp-servers.ts";
import { boundFetch } from "./bounded-fetch.ts";
import { OpenRequests } from "./messages/open-requests.ts";
import { repairResponse } from "./messages/repaired-answers.ts";

type Library = typeof import("@modelcontextprotocol/client");

/** Bytes of one message. */
const messageLimit = 100 * 1024 * 1024;
/** Milliseconds before a stream that the server has ended is opened again: whatever the server asks for, it is within these. */
const shortestWait = 1000;
const longestWait = 300_000;
/** Milliseconds for the server to accept a notification or an answer, and to end the stream of what it has answered. */
const patience = 30_000;
/** The error of requests that we answer ourselves. */
const brokenAnswer = { code: -32000, message: "the server broke its answer off" } as const;

/** Whether this is the error of a request whose answer will never come. */
export function isBrokenAnswer(code: number, message: string): boolean {
	return code === brokenAnswer.code && message === brokenAnswer.message;
}

export interface RemoteTransportSettings {
	readonly server: RemoteMcpServer;
	/** Null where the headers of the settings suffice. */
	readonly signer: AuthProvider | null;
	readonly fetch: FetchLike;
	readonly clock: Clock;
}

export interface RemoteTransport extends Transport {
	/** Ends the session on the server. */
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

/** How one message is sent: the library says neither what it is answered with, nor which message a fetch is for. */
interface Exchange {
	/** The id of the request that its answer is for; null when that comes on another stream. */
	readonly id: RequestId | null;
	/** Ends its requests; null where the library does. */
	readonly signal: AbortSignal | null;
	/** The last answer; null before it. */
	answer: { readonly status: number; readonly isStream: boolean } | null;
}

/** Those that run, by the text of the message, which the library sends as JSON without more in it. */
class Exchanges {
	readonly #running = new Map<unknown, Exchange>();
	readonly #open = new OpenRequests();

	/** Sends a message whose requests belong to the exchange. */
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
			// To the library an answer with 202 is over, whatever it has.
			const isStream = response.status !== 202 && type.includes("text/event-stream");
			exchange.answer = { status: response.status, isStream };
			return response;
		};
	}
}

/** The library's transport for streams of events takes no heed of the signal of a message. */
function heedSignals(transport: Transport, exchanges: Exchanges): void {
	const send = transport.send.bind(transport);
	transport.send = (message, options) =>
		exchanges.run(message, { id: null, signal: options?.requestSignal ?? null, answer: null }, () =>
			send(message, options),
		);
}

/**
 * When a stream ends, for example with the server, the library would wait for ever for the answer on it. So it would
 * for that to a request which the server has only accepted, or answered with other messages.
 */
function answerEndedStreams(transport: Transport, exchanges: Exchanges): void {
	const send = transport.send.bind(transport);
	transport.send = async (message, options) => {
		const id = "method" in message && "id" in message ? message.id : null;
		const exchange: Exchange = { id, signal: null, answer: null };
		if (id === null) return await exchanges.run(message, exchange, () => send(message, options));
		// The library ignores this for a request that was answered.
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

/**
 * Ends the streams of requests that are given up: the library would leave them open, and open them again whenever the
 * server ends them. Ends what the server leaves open although it has answered, and other messages that it does not
 * accept in time. To be called on a transport that is in use.
 */
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
			// Where answers have a stream of their own, most end it at once: the connection can be used again then.
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
	/** Aborts it after so many milliseconds, unless it is over before. */
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
