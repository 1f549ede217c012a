// Bounds the requests of a server that are being answered: over HTTP every answer takes a connection of its own.
import type { Transport } from "@modelcontextprotocol/client";

/** Maximal requests of a server under way. Servers ask one thing at a time. */
const requestLimit = 200;

/**
 * Calls `exceeded`, once, when the server sends more requests than that without waiting for answers; further requests
 * are ignored then. To be called on a transport that is in use.
 */
export function boundRequests(transport: Transport, exceeded: () => void): void {
	const receive = transport.onmessage;
	const send = transport.send.bind(transport);
	/** The ids of the requests that are being answered. */
	const running = new Set<unknown>();
	let isExceeded = false;
	transport.onmessage = (message, extra) => {
		if ("method" in message && "id" in message) {
			// The answers to two requests with one id could not be distinguished.
			if (isExceeded || running.has(message.id)) return;
			running.add(message.id);
			isExceeded = running.size > requestLimit;
			if (isExceeded) return exceeded();
		}
		// A request that the server gives up is not answered.
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

/** Why such a connection ended, as a clause. */
export const excessReason = `it sent more than ${requestLimit} requests without waiting for answers`;
