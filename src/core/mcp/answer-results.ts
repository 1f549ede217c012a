// Answers whose result is no object, which the protocol does not have. The library reads no such message, and would wait for the
// answer until the call takes too long: they become errors before it sees them.
import type { FetchLike, JSONRPCMessage } from "@modelcontextprotocol/client";
import { isRecord } from "../../base/json.ts";

/** The error in place of such an answer; null for every other message. */
export function refuseResult(message: unknown): JSONRPCMessage | null {
	if (!isRecord(message) || "method" in message || !("result" in message) || isRecord(message["result"])) return null;
	const { id } = message;
	if (typeof id !== "string" && typeof id !== "number") return null;
	return { jsonrpc: "2.0", id, error: { code: -32603, message: "the result in its answer is no object" } };
}

/** The same fetch, in whose answers of JSON and in event streams they are errors. */
export function refuseResults(fetch: FetchLike): FetchLike {
	return async (url, init) => {
		const response = await fetch(url, init);
		const type = response.headers.get("content-type") ?? "";
		const isStream = type.includes("text/event-stream");
		if (response.body === null || !(isStream || type.includes("json"))) return response;
		const { status, statusText, headers } = response;
		return new Response(response.body.pipeThrough(mendBody(isStream)), { status, statusText, headers });
	};
}

function mendBody(isStream: boolean): TransformStream<Uint8Array, Uint8Array> {
	const decoder = new TextDecoder();
	const encoder = new TextEncoder();
	/** The whole body so far, or the line that has begun. */
	let rest = "";
	return new TransformStream({
		transform(bytes, controller) {
			const text = decoder.decode(bytes, { stream: true });
			const end = isStream ? text.lastIndexOf("\n") + 1 : 0;
			if (end > 0) {
				controller.enqueue(encoder.encode((rest + text.slice(0, end)).replace(dataLine, mendLine)));
				rest = "";
			}
			rest += text.slice(end);
		},
		flush(controller) {
			const last = rest + decoder.decode();
			controller.enqueue(encoder.encode(isStream ? last.replace(dataLine, mendLine) : mend(last)));
		},
	});
}

const dataLine = /^data:(.*)$/gm;
/** What such an answer has in it; most answers do not, and are not parsed here. */
const suspect = /"result"\s*:\s*[^\s{]/;

function mendLine(_line: string, data: string): string {
	return `data:${mend(data)}`;
}

function mend(text: string): string {
	if (!suspect.test(text)) return text;
	try {
		const refused = refuseResult(JSON.parse(text));
		return refused === null ? text : JSON.stringify(refused);
	} catch {
		return text;
	}
}
