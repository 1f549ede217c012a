// Limits concurrent requests from a server: over HTTP every answer takes a separate connection.
import type { Transport } from "@modelcontextprotocol/client";

const requestLimit = 200;

/** Calls `exceeded` once when the server exceeds the limit, and ignores further requests. Call on a transport in use. */
export function boundRequests(transport: Transport, exceeded: () => void): void {
	const receive = transport.onmessage;
	const send = transport.send.bind(transport);
	const running = new Set<unknown>();
	let isExceeded = false;
	transport.onmessage = (message, extra) => {
		if ("method" in message && "id" in message) {
			// The answers to two requests with the same id could not be told apart.
			if (isExceeded || running.has(message.id)) return;
			running.add(message.id);
			isExceeded = running.size > requestLimit;
			if (isExceeded) return exceeded();
		}
		// A request canceled by the server is not answered.
		if ("method" in message && message.method === "notifications/cancelled")
			running.delete(message.params?.["requestId"]);
		receive?.(message, extra);
	};
	transport.send = async (message, options) => {
		try {
			await send(message, options);
		} finally {
			if (!("method" in message)) running.delete(message.id);
		}
	};
}

export const excessReason = `it sent more than ${requestLimit} requests without waiting for answers`;
