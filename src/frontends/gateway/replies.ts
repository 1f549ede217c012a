import { type IncomingMessage, type ServerResponse, STATUS_CODES } from "node:http";
import type { Duplex } from "node:stream";
import type { KernelError } from "../../base/errors.ts";

/** Maximum bytes of one request body, and of all bodies in progress. */
export const bodyLimit = 32 * 1024 * 1024;
export const bodiesLimit = 256 * 1024 * 1024;

/** With these headers, a browser runs only our own scripts, does not frame the page in other sites, and stores nothing. */
export const protectingHeaders = {
	"cache-control": "no-store",
	"content-security-policy":
		"default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data: blob:; frame-ancestors 'none'; base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'",
	"cross-origin-opener-policy": "same-origin",
	"cross-origin-resource-policy": "same-origin",
	"referrer-policy": "no-referrer",
	"x-content-type-options": "nosniff",
	"x-frame-options": "DENY",
} as const;

export class HttpRefusal extends Error {
	override readonly name = "HttpRefusal";
	readonly status: number;
	readonly headers: Readonly<Record<string, string>>;

	constructor(status: number, message: string, headers: Readonly<Record<string, string>> = {}) {
		super(message);
		this.status = status;
		this.headers = headers;
	}
}

export function sendJson(
	response: ServerResponse,
	status: number,
	body: unknown,
	more: Readonly<Record<string, string>> = {},
): void {
	if (response.headersSent || response.destroyed) return;
	const bytes = Buffer.from(`${JSON.stringify(body)}\n`, "utf8");
	response.writeHead(status, {
		...protectingHeaders,
		"content-type": "application/json; charset=utf-8",
		"content-length": bytes.length,
		...more,
	});
	response.end(bytes);
}

/** Refuses an upgrade request on its raw connection, and closes it. */
export function sendRefusal(socket: Duplex, { status, message, headers: more }: HttpRefusal): void {
	const bytes = Buffer.from(`${JSON.stringify({ error: message })}\n`, "utf8");
	const all = {
		...protectingHeaders,
		"content-type": "application/json; charset=utf-8",
		"content-length": String(bytes.length),
		connection: "close",
		...more,
	};
	const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
	socket.end(
		Buffer.concat([Buffer.from(`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ""}\r\n${lines.join("")}\r\n`), bytes]),
	);
	// A client that keeps sending would hold the connection.
	socket.resume();
}

/** Begins a server-sent events response, which lasts until one side closes it. */
export function beginEvents(response: ServerResponse, more: Readonly<Record<string, string>> = {}): void {
	response.writeHead(200, {
		...protectingHeaders,
		...more,
		"content-type": "text/event-stream; charset=utf-8",
		"x-accel-buffering": "no",
	});
	response.flushHeaders();
}

export class Bodies {
	#bytes = 0;

	/** Reads the body, passes it to the work, and counts it until the work is done. Fails with an HttpRefusal. */
	async use<R>(request: IncomingMessage, work: (body: Buffer) => Promise<R>): Promise<R> {
		const type = request.headers["content-type"] ?? "";
		// Web page forms can send other types without a CORS preflight.
		if (!/^application\/json\s*(?:;|$)/i.test(type)) {
			throw new HttpRefusal(415, "The content type must be application/json.");
		}
		if (request.headers["content-encoding"] !== undefined) {
			throw new HttpRefusal(415, "The body must not be compressed.");
		}
		if (Number(request.headers["content-length"] ?? 0) > bodyLimit) throw tooLarge();
		const pieces: Buffer[] = [];
		let size = 0;
		try {
			for await (const piece of piecesOf(request)) {
				size += piece.length;
				this.#bytes += piece.length;
				if (size > bodyLimit) throw tooLarge();
				if (this.#bytes > bodiesLimit) {
					throw new HttpRefusal(503, "Too much is being sent at once; try again.", { "retry-after": "1" });
				}
				pieces.push(piece);
			}
			return await work(Buffer.concat(pieces));
		} finally {
			this.#bytes -= size;
		}
	}
}

async function* piecesOf(request: IncomingMessage): AsyncGenerator<Buffer> {
	try {
		for await (const piece of request) if (Buffer.isBuffer(piece)) yield piece;
	} catch {
		// The connection broke, so there is no client to answer, and it is not a server error.
		throw new HttpRefusal(400, "The body is incomplete.", { connection: "close" });
	}
}

function tooLarge(): HttpRefusal {
	return new HttpRefusal(413, `A body can have at most ${bodyLimit / 1024 / 1024} MiB.`, { connection: "close" });
}

export function toStatus(error: KernelError): number {
	switch (error.code) {
		case "invalid-input":
		case "capability-missing":
		case "unsupported":
			return 400;
		case "session-not-found":
			return 404;
		case "busy":
		case "no-turn":
		case "model-not-set":
			return 409;
		case "overloaded":
		case "closed":
			return 503;
		case "provider-failed":
		case "login-expired":
		case "budget-exhausted":
		case "hook-failed":
		case "storage-failed":
		case "internal":
			return 500;
	}
}
