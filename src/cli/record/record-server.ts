import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from "node:http";
import { setImmediate as nextTurn } from "node:timers/promises";
import { errorText } from "../../base/errors.ts";
import { refusal } from "../../core/models/cassettes/refusal.ts";
import type { Fetch } from "../../ports/network/network-settings.ts";
import { standIn } from "../../settings/config/recorder.ts";

export interface RecordServer {
	/** The base address; destinations are appended as scheme and host. Other local users cannot guess it. */
	readonly address: string;
	readonly requests: number;
	close(): Promise<void>;
}

/** Maximum bytes of a request body. */
const bodyLimit = 100 * 1024 * 1024;

/** Hop-by-hop headers, or headers rewritten for each connection. */
const ownHeaders = new Set([
	"accept-encoding",
	"connection",
	"content-encoding",
	"content-length",
	"expect",
	"host",
	"keep-alive",
	"proxy-authorization",
	"te",
	"trailer",
	"transfer-encoding",
	"upgrade",
]);

export async function startRecordServer(fetch: Fetch): Promise<RecordServer> {
	const secret = randomUUID();
	let requests = 0;
	const server = createServer((request, response) => {
		const target = toTarget(request.url ?? "", secret);
		if (target === null) return void response.writeHead(404).end();
		requests += 1;
		answer(request, response, target, fetch).catch(() => response.destroy());
	});
	server.listen(0, "127.0.0.1");
	await once(server, "listening");
	const address = server.address();
	const port = typeof address === "object" && address !== null ? address.port : 0;
	return {
		address: `http://127.0.0.1:${port}/${secret}`,
		get requests() {
			return requests;
		},
		async close() {
			server.close();
			server.closeAllConnections();
			await once(server, "close");
		},
	};
}

function toTarget(path: string, secret: string): URL | null {
	const [, given, standing, scheme, host, rest = ""] =
		/^\/([^/]+)\/([a-z-]+\/)?(https?)\/([^/?#]+)(\/.*)?$/s.exec(path) ?? [];
	const url = `${scheme}://${host}${rest}`;
	const isKnown = given === secret && (standing === undefined || standing === `${standIn}/`);
	return isKnown && URL.canParse(url) ? new URL(url) : null;
}

async function answer(request: IncomingMessage, response: ServerResponse, target: URL, fetch: Fetch): Promise<void> {
	const left = new AbortController();
	response.once("close", () => left.abort());
	const body = await readBody(request);
	const method = request.method ?? "GET";
	const received =
		body === null
			? refusal(413, `The request has more than ${bodyLimit / 1024 / 1024} MiB.`)
			: await fetch(target, {
					method,
					headers: toHeaders(request.headers),
					...(body.length === 0 ? {} : { body }),
					signal: left.signal,
					redirect: "manual",
				}).catch((thrown: unknown) => refusal(502, `${target.origin} could not be reached: ${errorText(thrown)}`));
	const headers = [...received.headers].filter(([name]) => !ownHeaders.has(name));
	response.writeHead(received.status, Object.fromEntries(headers));
	response.flushHeaders();
	if (received.body !== null) {
		for await (const piece of received.body) {
			if (!response.write(piece)) await Promise.race([once(response, "drain"), once(response, "close")]);
			// Send each piece separately.
			await nextTurn();
		}
	}
	response.end();
}

async function readBody(request: IncomingMessage): Promise<Buffer | null> {
	const pieces: Buffer[] = [];
	let length = 0;
	for await (const piece of request) {
		length += piece.length;
		if (length > bodyLimit) return null;
		pieces.push(piece);
	}
	return Buffer.concat(pieces);
}

function toHeaders(given: IncomingHttpHeaders): Headers {
	const headers = new Headers();
	for (const [name, value] of Object.entries(given)) {
		if (value !== undefined && !ownHeaders.has(name))
			headers.set(name, Array.isArray(value) ? value.join(", ") : value);
	}
	return headers;
}
