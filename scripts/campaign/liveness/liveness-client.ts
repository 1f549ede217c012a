// The client of an interleaving: sends, reads, and keeps the transcript of both directions.
import { isRecord } from "../../../src/base/json.ts";
import type { MemoryClient } from "../../../src/transports/memory.ts";
import type { AnswerKind } from "./liveness-actions.ts";
import { isIgnored, toReply } from "./liveness-answers.ts";
import { LivenessWitness } from "./liveness-witness.ts";

/** The note that is made when the client ends its input. */
export const inputEnds = "the input ends";

/** A request the client sent. */
export interface Sent {
	readonly id: string;
	/** `aside` for a prompt that asks beside the conversation. */
	readonly method: string;
	readonly params: unknown;
	/** Index into the transcript. */
	readonly at: number;
	/** Whether the server was at rest and nothing unread when it was sent. */
	readonly atRest: boolean;
	/** Whether a turn ran then, as far as the client knew. */
	readonly inTurn: boolean;
}

/** The input of a question beside the conversation: no other is spelled like it, blanks at its end included. */
export const toAside = (question: string, number: number) => `/btw ${question}${" ".repeat(number + 1)}`;

/** Whether a hook is asked about such a question beside a turn: those with a turn of their own are shown as they are spelled. */
export function isOutsideTurns({ event, target }: Readonly<Record<string, unknown>>): boolean {
	return event === "UserPromptSubmit" && /^\/btw(?:$|.*\S$)/.test(String(target));
}

/** A request of the server's, and what the client did about it. */
export interface ServerRequest {
	readonly id: string;
	readonly type: string;
	readonly toolCallId: string;
	readonly action: string;
	readonly payload: Readonly<Record<string, unknown>>;
	readonly at: number;
	/** The first answer, and whether the server was at rest then. */
	answer: { readonly how: AnswerKind; readonly atRest: boolean; readonly at: number } | null;
}

export class LivenessClient extends LivenessWitness {
	readonly sent: Sent[] = [];
	readonly requests: ServerRequest[] = [];
	readonly #responses = new Set<string>();
	/** The inputs of turns that were begun. */
	readonly #begun = new Set<unknown>();
	/** The subagent last heard of. */
	lastAgentId = "none";

	constructor(wire: MemoryClient) {
		super(wire);
		void this.#read();
	}

	/** Sends a request and returns its id, which begins with `name`. */
	request(method: string, params: unknown, name = method): string {
		const id = `${name}-${this.sent.length + 1}`;
		const asides = this.unanswered("aside").map((aside) => this.#turnOf(aside));
		const inTurn = this.unanswered("prompt").length > 0 || asides.includes(true);
		const atRest = this.isQuiet && !asides.includes(null);
		this.sent.push({ id, method: name, params, at: this.transcript.length, atRest, inTurn });
		this.#write({ jsonrpc: "2.0", id, method, ...(params === undefined ? {} : { params }) });
		return id;
	}

	/** Requests of one method, or of any, that have no response yet. */
	unanswered(method: string | null = null): readonly Sent[] {
		return this.sent.filter((sent) => (method === null || sent.method === method) && !this.#responses.has(sent.id));
	}

	/** Whether this question beside the conversation was told of as a turn of its own. */
	hasTurn({ method, params }: Sent): boolean {
		return method === "aside" && isRecord(params) && this.#begun.has(params["user_input"]);
	}

	/** Whether a cancel may be needed to end what this request began. */
	mayRun(sent: Sent): boolean {
		return sent.method !== "aside" || this.#turnOf(sent) !== false;
	}

	/** Whether it has a turn, as one does that comes when none runs; null where that was not to be seen. */
	#turnOf(aside: Sent): boolean | null {
		if (this.hasTurn(aside)) return true;
		return aside.atRest ? !aside.inTurn : null;
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
		if (!isIgnored(request, how)) {
			request.answer ??= { how, atRest: this.isQuiet, at: this.transcript.length };
		}
		this.#write(reply);
	}

	/** What is open no more because its turn is over. */
	#isSettled(request: ServerRequest): boolean {
		return this.transcript.slice(request.at + 1).some(({ from, message }) => {
			if (from !== "server") return false;
			const { type, payload } = eventOf(message);
			if (type === "HookResolved" && request.type === "HookRequest") {
				return ["event", "target"].every((key) => payload[key] === request.payload[key]);
			}
			return (
				(type === "TurnEnd" && !isOutsideTurns(request.payload)) ||
				(type === "ApprovalResponse" && payload["request_id"] === request.id)
			);
		});
	}

	#write(message: Record<string, unknown>): void {
		// Depth that a text cannot show is written by hand.
		const text = JSON.stringify(message).replace('"<deep>"', `${'{"a":'.repeat(20_000)}1${"}".repeat(20_000)}`);
		this.transcript.push({ from: "client", message, text: JSON.stringify(message) });
		this.wire.write(`${text}\n`);
	}

	async #read(): Promise<void> {
		for (let line = await this.wire.read(); line !== null; line = await this.wire.read()) {
			this.received += 1;
			const message: unknown = JSON.parse(line);
			if (!isRecord(message)) throw new Error(`Not a message: ${line}`);
			const at = this.transcript.length;
			this.transcript.push({ from: "server", message, text: line.length > 300 ? `${line.slice(0, 300)}…` : line });
			const { id, method } = message;
			if (method === undefined && typeof id === "string") this.#responses.add(id);
			const { type, payload } = eventOf(message);
			if (type === "TurnBegin") this.#begun.add(payload["user_input"]);
			if (type === "SubagentEvent") this.lastAgentId = String(payload["agent_id"]);
			if (method !== "request" || typeof id !== "string") continue;
			const toolCallId = type === "ToolCallRequest" ? payload["id"] : payload["tool_call_id"];
			this.requests.push({
				id,
				type,
				toolCallId: String(toolCallId),
				action: String(payload["action"] ?? ""),
				payload,
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
