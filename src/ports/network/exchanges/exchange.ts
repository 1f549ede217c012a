// Whatever arrives, the result is a response, a request error, or a body error.
import { once } from "node:events";
import { type ClientRequest, type IncomingMessage, type OutgoingHttpHeaders, request as sendHead } from "node:http";
import type { Socket } from "node:net";
import type { Readable } from "node:stream";
import { unlessAborted, workIsOver } from "../../../base/abort.ts";
import { silenceTimeout } from "../network-error.ts";
import { readableFailure } from "../readable-failure.ts";
import { type BodyLimits, toBodyStream } from "./body-stream.ts";
import { decode } from "./decoding.ts";
import type { RequestBody } from "./request-parts.ts";

/** Maximum bytes of the response head and of its trailers. */
export const headLimit = 16 * 1024;
/** Maximum interim responses (1xx) before the response. */
const interimLimit = 100;
/** Milliseconds by which a connection is closed before its server would close it. */
const closingMargin = 2000;
/** Maximum milliseconds that a connection stays open for the next request, even if the server announces more. */
const longestIdle = 600_000;

export interface Outgoing {
	readonly method: string;
	readonly target: string;
	readonly headers: OutgoingHttpHeaders;
	readonly body: RequestBody;
}

export interface ExchangeLimits extends BodyLimits {
	/** Milliseconds that a connection stays open for the next request if the server announces no time. */
	readonly idleLifetime: number;
}

export interface Answer {
	readonly status: number;
	readonly statusText: string;
	readonly headers: Headers;
	body(): Promise<ReadableStream<Uint8Array>>;
	discard(): void;
}

/** Rejects with the abort reason or the connection's error, and destroys the socket. `giveBack` allows reuse. */
export async function exchange(
	socket: Socket,
	outgoing: Outgoing,
	limits: ExchangeLimits,
	signal: AbortSignal,
	giveBack: (lifetime: number) => void,
): Promise<Answer> {
	let sent: Sent;
	try {
		sent = send(socket, outgoing);
	} catch (thrown) {
		socket.destroy();
		throw thrown;
	}
	let stop = (reason: unknown) => sent.fail(reason);
	const abort = () => stop(signal.reason);
	signal.addEventListener("abort", abort, { once: true });
	const settle = () => signal.removeEventListener("abort", abort);
	const withdraw =
		limits.silence === 0
			? () => {}
			: limits.clock.after(limits.silence, () => sent.fail(silenceTimeout(limits.silence)));
	let head: IncomingMessage;
	try {
		if (signal.aborted) abort();
		head = await sent.head;
	} catch (thrown) {
		settle();
		throw thrown;
	} finally {
		withdraw();
	}

	// The response can no longer fail, though some of it may be unread.
	socket.once("free", () => giveBack(idleTime(head, limits.idleLifetime)));
	/** Drains a completely received body, so that the connection can be reused. */
	const release = () => {
		settle();
		if (head.complete && sent.isSent()) head.resume();
		else socket.destroy();
	};
	stop = release;
	let headers: Headers;
	try {
		headers = toHeaders(head);
	} catch (thrown) {
		release();
		throw thrown;
	}
	return {
		status: head.statusCode ?? 0,
		statusText: head.statusMessage ?? "",
		headers,
		discard: release,
		async body() {
			let decoded: Readable;
			try {
				decoded = await decode(head, headers.get("content-encoding"));
			} catch (thrown) {
				release();
				throw thrown;
			}
			const brokenOff = (thrown: unknown) => {
				const failure = sent.trouble() ?? thrown;
				const cause = failure instanceof Error ? readableFailure(failure) : failure;
				return new TypeError("the answer broke off", { cause });
			};
			const body = toBodyStream(decoded, limits, brokenOff, () => {
				if (decoded !== head && !decoded.readableEnded) decoded.destroy();
				release();
			});
			stop = body.abort;
			if (signal.aborted) abort();
			return body.stream;
		},
	};
}

interface Sent {
	readonly head: Promise<IncomingMessage>;
	fail(reason: unknown): void;
	isSent(): boolean;
	trouble(): Error | null;
}

function send(socket: Socket, { method, target, headers, body }: Outgoing): Sent {
	const request = sendHead({
		method,
		path: target,
		headers: { ...headers, connection: "keep-alive" },
		setHost: false,
		createConnection: () => socket,
		maxHeaderSize: headLimit,
		insecureHTTPParser: false,
	});
	let trouble: Error | null = null;
	let reject = (_reason: unknown) => {};
	const fail = (reason: unknown) => {
		reject(reason);
		socket.destroy();
	};
	const head = new Promise<IncomingMessage>((resolve, refuse) => {
		reject = refuse;
		let interim = 0;
		request.on("information", () => {
			interim += 1;
			if (interim > interimLimit) fail(new Error(`the server sent more than ${interimLimit} heads before its answer`));
		});
		request.on("upgrade", () => fail(new Error("the server wants to switch to a protocol other than HTTP")));
		request.on("response", (message) => {
			// Never throw here: the error would be thrown into the parser, and end the process.
			message.on("error", () => {});
			resolve(message);
		});
		// For the request's lifetime: errors may also follow the response, and there may be several.
		request.on("error", (error) => {
			trouble ??= readableFailure(error);
			reject(trouble);
		});
		request.on("close", () => reject(new Error("the connection ended before there was an answer")));
	});
	sendBody(request, body).catch(fail);
	return { head, fail, isSent: () => request.writableFinished, trouble: () => trouble };
}

async function sendBody(request: ClientRequest, body: RequestBody): Promise<void> {
	if (body === null || body instanceof Uint8Array) {
		request.end(body);
		return;
	}
	const reader = body.getReader();
	const gone = new AbortController();
	request.once("close", () => gone.abort(workIsOver));
	try {
		for (;;) {
			const read = await unlessAborted(reader.read(), gone.signal);
			if (read === null) return;
			if (read.done) break;
			if (!request.write(read.value)) await unlessAborted(once(request, "drain"), gone.signal);
		}
		request.end();
	} finally {
		// The rest of it is not read.
		reader.cancel().catch(() => {});
	}
}

function toHeaders({ rawHeaders }: IncomingMessage): Headers {
	const headers = new Headers();
	for (let index = 0; index < rawHeaders.length; index += 2) {
		headers.append(rawHeaders[index] ?? "", rawHeaders[index + 1] ?? "");
	}
	return headers;
}

function idleTime({ headers }: IncomingMessage, standard: number): number {
	const hint = /\btimeout=(\d+)/i.exec(String(headers["keep-alive"] ?? ""))?.[1];
	return hint === undefined ? standard : Math.min(Number(hint) * 1000 - closingMargin, longestIdle);
}
