// The library processes messages recursively and synchronously, so large or deep ones are rejected here.
import type { JSONRPCMessage, Transport } from "@modelcontextprotocol/client";
import { isNestedWithin, isRecord } from "../../../base/json.ts";
import type { OpenRequests } from "./open-requests.ts";
import { depthLimit, failUnreadable, parseLenient, repairMessage } from "./repaired-message.ts";

/** Maximum characters of a request or notification: both are short, and a user has to answer a form. */
const requestLimit = 64 * 1024;

const batchLimit = 1000;

export interface Incoming {
	readonly messages: readonly JSONRPCMessage[];
	/** Refusals to send in reply to the server's requests. */
	readonly replies: readonly JSONRPCMessage[];
}

const nothing: Incoming = { messages: [], replies: [] };

/** The messages of a line, several in old protocol versions; null if none. */
export function readIncoming(text: string, open: OpenRequests): Incoming | null {
	const [first] = /[^\s\ufeff]/.exec(text) ?? [];
	if (first === undefined) return nothing;
	if (first !== "{" && first !== "[") return readBehindText(text, open);
	const value = parseLenient(text);
	if (value === undefined) {
		const failure = failUnreadable(text, open);
		return failure === null ? null : admit([failure], text, open);
	}
	if (isRecord(value) && open.isRepeated(value["id"], text)) return nothing;
	const values: readonly unknown[] = Array.isArray(value) ? value : [value];
	if (values.length > batchLimit) return null;
	const messages = values.flatMap((each) => repairMessage(each, open) ?? []);
	return messages.length === 0 ? null : admit(messages, text, open);
}

/** An answer that follows text on the same line, or spans lines. */
function readBehindText(text: string, open: OpenRequests): Incoming | null {
	const start = text.search(/\{\s*"(?:jsonrpc|id|result|error)"\s*:/);
	const answer = start < 0 ? null : repairMessage(parseLenient(text.slice(start)), open);
	if (answer !== null && "method" in answer) return null;
	const message = answer ?? failUnreadable(text, open);
	return message === null ? null : admit([message], text, open);
}

function admit(messages: readonly JSONRPCMessage[], text: string, open: OpenRequests): Incoming {
	for (const message of messages) {
		if (!("method" in message) && message.id !== undefined) open.answered(message.id, text);
	}
	const checked = messages.map((message) => check(message, text.length));
	return {
		messages: checked.flatMap((each) => each.messages),
		replies: checked.flatMap(({ replies }) => replies),
	};
}

/** Rejects oversized messages that a library transport has already parsed. Call on a transport in use. */
export function boundMessages(transport: Transport): void {
	const receive = transport.onmessage;
	transport.onmessage = (message, extra) => {
		const length = "method" in message && isNestedWithin(message, depthLimit) ? JSON.stringify(message).length : 0;
		const { messages, replies } = check(message, length);
		for (const admitted of messages) receive?.(admitted, extra);
		for (const reply of replies) void transport.send(reply).catch(() => {});
	};
}

function check(message: JSONRPCMessage, length: number): Incoming {
	if (!("method" in message)) return { messages: [message], replies: [] };
	const isDeep = !isNestedWithin(message, depthLimit);
	if (!isDeep && length <= requestLimit) return { messages: [message], replies: [] };
	if (!("id" in message)) return nothing;
	const fault = isDeep ? `nests more than ${depthLimit} levels deep` : `has more than ${requestLimit} characters`;
	const error = { code: -32600, message: `The request ${fault}.` };
	return { messages: [], replies: [{ jsonrpc: "2.0", id: message.id, error }] };
}
