// The library's MCP transport over HTTP, with what it lacks: limits, credentials, and an answer to requests whose
// stream ends without one.
import type { AuthProvider, FetchLike, JSONRPCMessage, Transport } from "@modelcontextprotocol/client";
import { workIsOver } from "../base/abort.ts";
import type { Clock } from "../base/clock.ts";
import type { RemoteMcpServer } from "../config/mcp-servers.ts";
import { refuseResults } from "./answer-results.ts";
import { boundFetch } from "./bounded-fetch.ts";

type Library = typeof import("@modelcontextprotocol/client");

/** Bytes of one message. */
const messageLimit = 100 * 1024 * 1024;
/** Milliseconds before a stream that the server has ended is opened again: whatever the server asks for, it is within these. */
const shortestWait = 1000;
const longestWait = 300_000;
/** Milliseconds for the server to accept a notification or an answer. */
const acceptancePatience = 30_000;
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
	const options = {
		requestInit: { headers: toHeaders(server) },
		fetch: refuseResults(boundFetch(fetch, { size: messageLimit, silence: server.readTimeout }, clock)),
		...(signer === null ? {} : { authProvider: signer }),
	};
	if (server.transport === "sse") {
		return Object.assign(new SSEClientTransport(url, options), { takeLeave: async () => {} });
	}
	const transport = new StreamableHTTPClientTransport(url, {
		...options,
		reconnectionScheduler: (open, wait) =>
			clock.after(Math.min(Math.max(wait, shortestWait), longestWait), () => open()),
	});
	answerEndedStreams(transport);
	return Object.assign(transport, { takeLeave: () => transport.terminateSession() });
}

function toHeaders({ headers, authorization }: RemoteMcpServer): Record<string, string> {
	const isSigned = Object.keys(headers).some((name) => name.toLowerCase() === "authorization");
	if (authorization.kind !== "bearer" || isSigned) return { ...headers };
	return { ...headers, Authorization: `Bearer ${authorization.token}` };
}

/** When a stream ends, for example with the server, the library would wait for ever for the answer on it. */
function answerEndedStreams(transport: Transport): void {
	const send = transport.send.bind(transport);
	transport.send = async (message, options) => {
		const id = "method" in message && "id" in message ? message.id : null;
		if (id === null) return await send(message, options);
		const onRequestStreamEnd = () => {
			const answer: JSONRPCMessage = { jsonrpc: "2.0", id, error: brokenAnswer };
			// The library ignores this for a request that was answered.
			transport.onmessage?.(answer);
			options?.onRequestStreamEnd?.();
		};
		await send(message, { ...options, onRequestStreamEnd });
	};
}

/**
 * Ends the streams of requests that are given up: the library would leave them open, and open them again whenever the server
 * ends them. Ends other messages that the server does not accept in time. To be called on a transport that is in use.
 */
export function endGivenUpStreams(transport: Transport, clock: Clock): void {
	const receive = transport.onmessage;
	const send = transport.send.bind(transport);
	const running = new Map<unknown, AbortController>();
	const sendInTime: Transport["send"] = async (message, options) => {
		const late = new AbortController();
		const withdraw = clock.after(acceptancePatience, () => late.abort(workIsOver));
		try {
			await send(message, { ...options, requestSignal: late.signal });
		} finally {
			withdraw();
		}
	};
	transport.onmessage = (message, extra) => {
		if (!("method" in message)) running.delete(message.id);
		receive?.(message, extra);
	};
	transport.send = async (message, options) => {
		if (!("method" in message)) return await sendInTime(message, options);
		if ("id" in message) {
			const end = new AbortController();
			running.set(message.id, end);
			const signals = options?.requestSignal === undefined ? [end.signal] : [end.signal, options.requestSignal];
			return await send(message, { ...options, requestSignal: AbortSignal.any(signals) });
		}
		const id = message.method === "notifications/cancelled" ? message.params?.["requestId"] : undefined;
		running.get(id)?.abort(workIsOver);
		running.delete(id);
		await sendInTime(message, options);
	};
}
