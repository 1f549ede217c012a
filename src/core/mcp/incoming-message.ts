// Parses what a server sends into messages of the protocol. The library processes each message recursively and at once,
// so messages that are too large or too deep for it are rejected here.
import type { JSONRPCMessage, Transport } from "@modelcontextprotocol/client";
import { isNestedWithin, isRecord } from "../../base/json.ts";
import { refuseResult } from "./answer-results.ts";

/** Maximal nesting of a message. */
const depthLimit = 200;
/** Maximal characters of a request or a notification: both are short, and a person has to answer a form. */
const requestLimit = 64 * 1024;

/** Maximal messages of one line. */
const batchLimit = 1000;

export interface Incoming {
	/** For the library. */
	readonly messages: readonly JSONRPCMessage[];
	/** Refusals of the server's requests, to send to it. */
	readonly replies: readonly JSONRPCMessage[];
}

const nothing: Incoming = { messages: [], replies: [] };

/** The messages of a line, several in old versions of the protocol; null when it is not a valid one. */
export function readIncoming(text: string): Incoming | null {
	// Trying to parse a long text that is not JSON takes long.
	const [first] = /\S/.exec(text) ?? [];
	if (first === undefined) return nothing;
	if (first !== "{" && first !== "[") return null;
	let value: unknown;
	try {
		value = JSON.parse(text);
	} catch {
		return null;
	}
	const values: readonly unknown[] = Array.isArray(value) ? value : [value];
	if (values.length > batchLimit || !values.every(isMessage)) return null;
	const checked = values.map((message) => check(message, text.length));
	return {
		messages: checked.flatMap(({ messages }) => messages),
		replies: checked.flatMap(({ replies }) => replies),
	};
}

/**
 * Rejects such messages of a transport of the library, which has parsed them. To be called on a transport that is in use.
 */
export function boundMessages(transport: Transport): void {
	const receive = transport.onmessage;
	transport.onmessage = (message, extra) => {
		// Only the length of a request counts; most messages are results.
		const length = "method" in message && isNestedWithin(message, depthLimit) ? JSON.stringify(message).length : 0;
		const { messages, replies } = check(message, length);
		for (const admitted of messages) receive?.(admitted, extra);
		for (const reply of replies) void transport.send(reply).catch(() => {});
	};
}

/** The library validates the details. */
function isMessage(value: unknown): value is JSONRPCMessage {
	if (!isRecord(value) || value["jsonrpc"] !== "2.0") return false;
	return typeof value["method"] === "string" || "result" in value || isRecord(value["error"]);
}

function check(message: JSONRPCMessage, length: number): Incoming {
	const isDeep = !isNestedWithin(message, depthLimit);
	const deep = `nests more than ${depthLimit} levels deep`;
	const id = "id" in message && (typeof message.id === "string" || typeof message.id === "number") ? message.id : null;
	if (!("method" in message)) {
		if (!isDeep) return { messages: [refuseResult(message) ?? message], replies: [] };
		if (id === null) return nothing;
		const error = { code: -32603, message: `its answer ${deep}` };
		return { messages: [{ jsonrpc: "2.0", id, error }], replies: [] };
	}
	if (!isDeep && length <= requestLimit) return { messages: [message], replies: [] };
	if (id === null) return nothing;
	const error = { code: -32600, message: `The request ${isDeep ? deep : `has more than ${requestLimit} characters`}.` };
	return { messages: [], replies: [{ jsonrpc: "2.0", id, error }] };
}
