// Frames of stream-json as messages of JSON-RPC: then the client of campaigns speaks to both SDK dialects alike. A prompt is a
// request whose response is its result.
import { isRecord } from "../../../src/base/json.ts";
import type { MemoryClient } from "../../../src/ports/transports/memory.ts";
import type { Fields } from "../frame/life.ts";

export function toClaudeWire(client: MemoryClient): MemoryClient {
	/** Prompts without a result: results come in their order. */
	const prompts: unknown[] = [];
	const toFrame = ({ id, method, params, result, error }: Fields): Fields => {
		if (method === "prompt") {
			prompts.push(id);
			return { type: "user", message: { role: "user", ...(isRecord(params) ? params : {}) }, session_id: "" };
		}
		if (method !== undefined)
			return {
				type: "control_request",
				request_id: id,
				request: { ...(isRecord(params) ? params : {}), subtype: method },
			};
		const answer = isRecord(error)
			? { subtype: "error", error: error["message"] }
			: { subtype: "success", response: result };
		return { type: "control_response", response: { ...answer, request_id: id } };
	};
	const toMessage = (frame: Fields): Fields => {
		const { type, subtype, request, response, request_id: id } = frame;
		if (type === "result") return { id: prompts.shift() ?? "no prompt", result: frame };
		if (type === "control_cancel_request") return { method: "withdrawn", params: { id } };
		if (type === "control_request" && isRecord(request)) return { id, method: request["subtype"], params: request };
		if (type !== "control_response" || !isRecord(response))
			return { method: type === "system" ? subtype : type, params: frame };
		const { request_id: of, subtype: kind, response: result, error: message } = response;
		return { id: of, ...(kind === "success" ? { result } : { error: { code: 0, message } }) };
	};
	return {
		...client,
		write: (text) => client.write(`${JSON.stringify(toFrame(JSON.parse(String(text))))}\n`),
		async read() {
			const line = await client.read();
			return line === null ? null : JSON.stringify(toMessage(JSON.parse(line)));
		},
	};
}
