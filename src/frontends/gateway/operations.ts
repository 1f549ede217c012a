import type { IncomingMessage, ServerResponse } from "node:http";
import { HttpRefusal, protectingHeaders } from "./replies.ts";

export interface ConnectionCounts {
	readonly streams: number;
	readonly clients: number;
}

export interface Operations {
	/** Whether the store answers. Never rejects. */
	isReady(): Promise<boolean>;
	metrics(connections: ConnectionCounts): Promise<{ readonly type: string; readonly text: string }>;
}

export function toHealthPath({ url = "" }: IncomingMessage): "/healthz" | "/readyz" | null {
	const [path] = url.split("?");
	return path === "/healthz" || path === "/readyz" ? path : null;
}

export function sendHealth(request: IncomingMessage, response: ServerResponse, isWell: boolean): void {
	if (request.method !== "GET" && request.method !== "HEAD") {
		throw new HttpRefusal(405, "This path accepts only GET and HEAD.", { allow: "GET, HEAD" });
	}
	sendText(response, isWell ? 200 : 503, "text/plain; charset=utf-8", isWell ? "ok\n" : "not ok\n");
}

export function sendText(response: ServerResponse, status: number, type: string, text: string): void {
	if (response.headersSent || response.destroyed) return;
	const bytes = Buffer.from(text, "utf8");
	response.writeHead(status, { ...protectingHeaders, "content-type": type, "content-length": bytes.length });
	response.end(bytes);
}
