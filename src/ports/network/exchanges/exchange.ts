// One request and its answer over one connection, with the platform's HTTP client. Whatever bytes arrive, and however
// the connection ends, the result is an answer, or an error of the request or of the answer's body.
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

/** Maximal bytes of the head of an answer, and of its trailers. */
export const headLimit = 16 * 1024;
/** Interim answers (1xx) that a server may send before the answer. */
const interimLimit = 100;
/** Milliseconds by which a connection is closed before its server would do so. */
const closingMargin = 2000;
/**
 * The longest time in milliseconds that a connection stays open for the next request, whatever the server announces.
 */
const longestIdle = 600_000;

export interface Outgoing {
	readonly method: string;
	/** The target of the request line: a path, or a whole URL for a proxy. */
	readonly target: string;
	readonly headers: OutgoingHttpHeaders;
	readonly body: RequestBody;
}

export interface ExchangeLimits extends BodyLimits {
	/** Milliseconds that a connection stays open for the next request when the server announces no time. */
	readonly idleLifetime: number;
}

export interface Answer {
	readonly status: number;
	readonly statusText: string;
	readonly headers: Headers;
	/** The body, decoded; call it once. */
	body(): Promise<ReadableStream<Uint8Array>>;
	/** Releases an answer whose body is not read. */
	discard(): void;
}

/**
 * Sends the request and waits for the head of the answer. Rejects with the reason of an abort, and with the
 * connection's error otherwise; in either case the socket is destroyed. `giveBack` is called when another request may
 * use it.
 */
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

	// The answer can no longer fail, though some of it may not be read yet.
	socket.once("free", () => giveBack(idleTime(head, limits.idleLifetime)));
	/** A completely received body is read to its end, so that the connection can be reused. */
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
	/** Ends the request, and the connection with it. */
	fail(reason: unknown): void;
	/** Whether the whole request was sent. */
	isSent(): boolean;
	/** The connection's first error; null when there is none. */
	trouble(): Error | null;
}

/** Throws for what cannot be sent. */
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
		request.on("upgrade", () => fail(new Error("the server wants to speak another protocol than HTTP")));
		request.on("response", (message) => {
			// Nothing may be thrown here: it would be thrown into the parser, and end the process.
			message.on("error", () => {});
			resolve(message);
		});
		// For its whole life: errors may come after the answer, too, and more than one.
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
