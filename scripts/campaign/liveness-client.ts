// The client of an interleaving: sends, reads, and keeps the transcript of both directions.
import { isRecord } from "../../src/base/json.ts";
import type { MemoryClient } from "../../src/transports/memory.ts";
import type { AnswerKind } from "./liveness-actions.ts";

export interface Entry {
	readonly from: "client" | "server" | "note";
	readonly message: Readonly<Record<string, unknown>>;
	readonly text: string;
}

/** A request the client sent. */
export interface Sent {
	readonly id: string;
	readonly method: string;
	/** Index into the transcript. */
	readonly at: number;
	/** Whether the server was at rest and nothing unread when it was sent. */
	readonly atRest: boolean;
	/** Whether a turn ran then, as far as the client knew. */
	readonly inTurn: boolean;
}

/** A request of the server's, and what the client did about it. */
export interface ServerRequest {
	readonly id: string;
	readonly type: string;
	readonly toolCallId: string;
	readonly action: string;
	readonly at: number;
	/** The first answer, and whether the server was at rest then. */
	answer: { readonly how: AnswerKind; readonly atRest: boolean; readonly at: number } | null;
}

export class LivenessClient {
	readonly transcript: Entry[] = [];
	readonly sent: Sent[] = [];
	readonly requests: ServerRequest[] = [];
	readonly #responses = new Set<string>();
	readonly #wire: MemoryClient;
	received = 0;
	/** Whether everything that could happen had happened when the last action was over. */
	atRest = true;
	paused = false;

	constructor(wire: MemoryClient) {
		this.#wire = wire;
		void this.#read();
	}

	note(text: string): void {
		this.transcript.push({ from: "note", message: {}, text });
	}

	/** Sends a request and returns its id. */
	request(method: string, params: unknown): string {
		const id = `${method}-${this.sent.length + 1}`;
		const inTurn = this.unanswered("prompt").length > 0;
		this.sent.push({ id, method, at: this.transcript.length, atRest: this.atRest && !this.paused, inTurn });
		this.#write({ jsonrpc: "2.0", id, method, ...(params === undefined ? {} : { params }) });
		return id;
	}

	/** Requests of one method, or of any, that have no response yet. */
	unanswered(method: string | null = null): readonly Sent[] {
		return this.sent.filter((sent) => (method === null || sent.method === method) && !this.#responses.has(sent.id));
	}

	/** Requests of the server's that nobody answered or settled, as far as was read. */
	openRequests(): readonly ServerRequest[] {
		return this.requests.filter((request) => request.answer === null && !this.#isSettled(request));
	}

	closedRequests(): readonly ServerRequest[] {
		return this.requests.filter((request) => request.answer !== null || this.#isSettled(request));
	}

	answer(request: ServerRequest, how: AnswerKind): void {
		const reply = toReply(request, how);
		if (!ignoredAnswers.has(how)) {
			request.answer ??= { how, atRest: this.atRest && !this.paused, at: this.transcript.length };
		}
		this.#write(reply);
	}

	/** What is open no more because its turn is over. */
	#isSettled(request: ServerRequest): boolean {
		return this.transcript.slice(request.at + 1).some(({ from, message }) => {
			if (from !== "server") return false;
			const { type, payload } = eventOf(message);
			return type === "TurnEnd" || (type === "ApprovalResponse" && payload["request_id"] === request.id);
		});
	}

	#write(message: Record<string, unknown>): void {
		// Depth that a text cannot show is written by hand.
		const text = JSON.stringify(message).replace('"<deep>"', `${'{"a":'.repeat(20_000)}1${"}".repeat(20_000)}`);
		this.transcript.push({ from: "client", message, text: JSON.stringify(message) });
		this.#wire.write(`${text}\n`);
	}

	async #read(): Promise<void> {
		for (let line = await this.#wire.read(); line !== null; line = await this.#wire.read()) {
			this.received += 1;
			const message: unknown = JSON.parse(line);
			if (!isRecord(message)) throw new Error(`Not a message: ${line}`);
			const at = this.transcript.length;
			this.transcript.push({ from: "server", message, text: line.length > 300 ? `${line.slice(0, 300)}…` : line });
			const { id, method } = message;
			if (method === undefined && typeof id === "string") this.#responses.add(id);
			if (method !== "request" || typeof id !== "string") continue;
			const { type, payload } = eventOf(message);
			const toolCallId = type === "ToolCallRequest" ? payload["id"] : payload["tool_call_id"];
			this.requests.push({
				id,
				type,
				toolCallId: String(toolCallId),
				action: String(payload["action"] ?? ""),
				at,
				answer: null,
			});
		}
	}
}

/** Type and payload of an event or request of the server's; empty for anything else. */
export function eventOf(message: Readonly<Record<string, unknown>>): {
	readonly type: string;
	readonly payload: Readonly<Record<string, unknown>>;
} {
	const { params } = message;
	if (!isRecord(params) || typeof params["type"] !== "string") return { type: "", payload: {} };
	return { type: params["type"], payload: isRecord(params["payload"]) ? params["payload"] : {} };
}

const goodReturn = { is_error: false, output: "fetched", message: "", display: [] };

function toReply(request: ServerRequest, how: AnswerKind): Record<string, unknown> {
	const { id, type } = request;
	const isTool = type === "ToolCallRequest";
	const result = (approval: Record<string, unknown>) => ({
		jsonrpc: "2.0",
		id,
		result: isTool ? { tool_call_id: id, return_value: goodReturn } : { request_id: id, ...approval },
	});
	switch (how) {
		case "approve":
			return result({ response: "approve" });
		case "approve-for-session":
			return result({ response: "approve_for_session" });
		case "reject":
			return result({ response: "reject" });
		case "reject-with-words":
			return result({ response: "reject", feedback: "Not like this." });
		case "wrong-value":
			return { jsonrpc: "2.0", id, result: { request_id: id, response: "maybe", tool_call_id: id, return_value: 5 } };
		case "null":
			return { jsonrpc: "2.0", id, result: null };
		case "no-result":
			return { jsonrpc: "2.0", id };
		case "deep":
			return {
				jsonrpc: "2.0",
				id,
				result: isTool
					? { tool_call_id: id, return_value: { ...goodReturn, extras: { deep: "<deep>" } } }
					: { request_id: id, response: "<deep>" },
			};
		case "error":
			return { jsonrpc: "2.0", id, error: { code: -32000, message: "cannot" } };
		case "bad-error":
			return { jsonrpc: "2.0", id, error: { code: "x", message: "cannot" } };
		case "other-id":
			return { ...result({ response: "approve" }), id: `${id}-other` };
	}
}

/** Answers that are not usable at all and leave the request open. */
export const ignoredAnswers: ReadonlySet<AnswerKind> = new Set(["no-result", "bad-error", "other-id"]);
