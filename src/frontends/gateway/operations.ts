// What operators ask a gateway: whether it works, and its metrics.
import type { IncomingMessage, ServerResponse } from "node:http";
import { HttpRefusal, protectingHeaders } from "./replies.ts";

/** The connections of clients at this moment. */
export interface ConnectionCounts {
	/** Streams of events. */
	readonly streams: number;
	/** Streams and WebSockets. */
	readonly clients: number;
}

export interface Operations {
	/** Whether requests can be served: the store answers. Never rejects. */
	isReady(): Promise<boolean>;
	/** The metrics as text, with its media type. */
	metrics(connections: ConnectionCounts): Promise<{ readonly type: string; readonly text: string }>;
}

/** The path of a request for the health of the server; null for another request. */
export function toHealthPath({ url = "" }: IncomingMessage): "/healthz" | "/readyz" | null {
	const [path] = url.split("?");
	return path === "/healthz" || path === "/readyz" ? path : null;
}

/** The answer says nothing but whether it works: it needs no token. */
export function sendHealth(request: IncomingMessage, response: ServerResponse, isWell: boolean): void {
	if (request.method !== "GET" && request.method !== "HEAD") {
		throw new HttpRefusal(405, "This path takes GET and HEAD alone.", { allow: "GET, HEAD" });
	}
	sendText(response, isWell ? 200 : 503, "text/plain; charset=utf-8", isWell ? "ok\n" : "not ok\n");
}

export function sendText(response: ServerResponse, status: number, type: string, text: string): void {
	if (response.headersSent || response.destroyed) return;
	const bytes = Buffer.from(text, "utf8");
	response.writeHead(status, { ...protectingHeaders, "content-type": type, "content-length": bytes.length });
	response.end(bytes);
}
