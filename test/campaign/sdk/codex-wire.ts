// Messages of the app-server in which a prompt is a request whose response is the end of its turn: then the client of campaigns
// speaks to both SDK dialects alike.
import { isRecord } from "../../../src/base/json.ts";
import type { MemoryClient } from "../../../src/ports/transports/memory.ts";
import type { Fields } from "../frame/life.ts";

const fieldsOf = (value: unknown): Fields => (isRecord(value) ? value : {});

export function toCodexWire(client: MemoryClient): MemoryClient {
	/** What was requested, by the id. */
	const requested = new Map<unknown, { readonly method: unknown; readonly threadId: unknown }>();
	/** Prompts that were accepted, by the ids of their turns; and turns that ended before. */
	const accepted = new Map<unknown, { readonly id: unknown; readonly threadId: unknown }>();
	const ended = new Map<unknown, unknown>();
	const arrived: Fields[] = [];
	/** Its client has left the thread: of what runs there it is told no end. */
	const leave = (left: unknown): readonly Fields[] =>
		[...accepted].flatMap(([turnId, { id, threadId }]) => {
			if (threadId !== left) return [];
			accepted.delete(turnId);
			return [{ id, result: { turn: { id: turnId, status: "left" } } }];
		});
	const toMessages = (message: Fields): readonly Fields[] => {
		const { id, method, result } = message;
		const params = fieldsOf(message["params"]);
		if (method === "serverRequest/resolved") return [{ method: "withdrawn", params: { id: params["requestId"] } }];
		if (method === "turn/completed") {
			const { turn } = params;
			const { id: turnId } = fieldsOf(turn);
			const prompt = accepted.get(turnId);
			if (prompt === undefined) ended.set(turnId, turn);
			accepted.delete(turnId);
			return prompt === undefined ? [message] : [message, { id: prompt.id, result: { turn } }];
		}
		const request = method === undefined ? requested.get(id) : undefined;
		if (request === undefined || !isRecord(result)) return [message];
		const { threadId } = request;
		if (request.method === "prompt") {
			const { id: turnId } = fieldsOf(result["turn"]);
			if (ended.has(turnId)) return [{ id, result: { turn: ended.get(turnId) } }];
			accepted.set(turnId, { id, threadId });
			return [{ method: "accepted", params: { threadId, turnId } }];
		}
		const { status } = fieldsOf(result["thread"]);
		const isIdle = request.method === "thread/resume" && fieldsOf(status)["type"] === "idle";
		return isIdle ? [message, ...leave(threadId)] : [message];
	};
	return {
		...client,
		write(text) {
			const message: Fields = JSON.parse(String(text));
			const { id, method } = message;
			if (method !== undefined) requested.set(id, { method, threadId: fieldsOf(message["params"])["threadId"] });
			client.write(`${JSON.stringify(method === "prompt" ? { ...message, method: "turn/start" } : message)}\n`);
		},
		async read() {
			while (arrived.length === 0) {
				const line = await client.read();
				if (line === null) return null;
				arrived.push(...toMessages(JSON.parse(line)));
			}
			return JSON.stringify(arrived.shift());
		},
	};
}
