// The client of Kimi Wire in an interleaving: what it knows of turns, hooks and subagents by what it was sent.
import { isRecord } from "../../../src/base/json.ts";
import { Actor, type Interaction, type Sent } from "../frame/actor.ts";
import type { Fields } from "../frame/life.ts";
import type { AnswerKind } from "./liveness-actions.ts";
import { isIgnored, toReply } from "./liveness-answers.ts";

/** The input of a side question: no other is spelled like it, blanks at its end included. */
export const toAside = (question: string, number: number) => `/btw ${question}${" ".repeat(number + 1)}`;

/** Whether a hook guards a side question next to a turn: those with a turn of their own are shown as they are spelled. */
export function isOutsideTurns({ event, target }: Fields): boolean {
	return event === "UserPromptSubmit" && /^\/btw(?:$|.*\S$)/.test(String(target));
}

/** A request of the server's; its params are the payload. */
export type ServerRequest = Interaction<AnswerKind>;

export function toolCallOf({ type, params }: ServerRequest): string {
	return String(type === "ToolCallRequest" ? params["id"] : params["tool_call_id"]);
}

export class WireActor extends Actor<AnswerKind> {
	/** Requests that were sent while a turn ran, as far as the client knew. */
	readonly #inTurn = new Set<string>();
	/** The inputs of turns that were begun. */
	readonly #begun = new Set<unknown>();
	/** The subagent that the last event was of. */
	lastAgentId = "none";

	/** Sends a request; side questions are prompts under a name of their own. */
	send(method: string, params: Fields | undefined, name = method): Sent {
		const asides = this.unanswered("aside").map((aside) => this.#turnOf(aside));
		const inTurn = this.unanswered("prompt").length > 0 || asides.includes(true);
		const sent = this.request(method, params, name, this.isQuiet && !asides.includes(null));
		if (inTurn) this.#inTurn.add(sent.id);
		return sent;
	}

	/** Whether a turn ran when it was sent, as far as the client knew. */
	wasInTurn({ id }: Sent): boolean {
		return this.#inTurn.has(id);
	}

	/** Whether this side question had a turn of its own. */
	hasTurn({ method, params }: Sent): boolean {
		return method === "aside" && this.#begun.has(params["user_input"]);
	}

	/** Whether a cancel ends what this request began; null where that was not to be seen. */
	isCancellable(sent: Sent): boolean | null {
		return sent.method !== "aside" || this.#turnOf(sent);
	}

	/** Whether it has a turn, as one does that comes when none runs; null where that was not to be seen. */
	#turnOf(aside: Sent): boolean | null {
		if (this.hasTurn(aside)) return true;
		return aside.atRest ? !this.wasInTurn(aside) : null;
	}

	protected override toReply(request: ServerRequest, how: AnswerKind): Fields {
		return toReply(request, how);
	}

	protected override isIgnored(request: ServerRequest, how: AnswerKind): boolean {
		return isIgnored(request, how);
	}

	/** What is open no more because its turn is over, or it was decided otherwise. */
	protected override isSettled(request: ServerRequest): boolean {
		return this.transcript.slice(request.at + 1).some(({ from, message }) => {
			if (from !== "server") return false;
			const { type, payload } = eventOf(message);
			if (type === "HookResolved" && request.type === "HookRequest") {
				return ["event", "target"].every((key) => payload[key] === request.params[key]);
			}
			return (
				(type === "TurnEnd" && !isOutsideTurns(request.params)) ||
				(type === "ApprovalResponse" && payload["request_id"] === request.id)
			);
		});
	}

	protected override mayRepeatRequests(): boolean {
		return this.sent.some(({ method }) => method === "replay");
	}

	protected override readInteraction(message: Fields) {
		const { type, payload } = eventOf(message);
		return { type, params: payload };
	}

	protected override take(message: Fields): void {
		const { type, payload } = eventOf(message);
		if (type === "TurnBegin") this.#begun.add(payload["user_input"]);
		if (type === "SubagentEvent") this.lastAgentId = String(payload["agent_id"]);
	}

	protected override checkStray({ id, error }: Fields): string | null {
		if (id !== null) return "a response to nothing";
		return isRecord(error) && error["code"] === -32600 ? null : "an unexpected response without id";
	}
}

/** Type and payload of an event or request of the server's; empty for anything else. */
export function eventOf({ params }: Fields): { readonly type: string; readonly payload: Fields } {
	if (!isRecord(params) || typeof params["type"] !== "string") return { type: "", payload: {} };
	return { type: params["type"], payload: isRecord(params["payload"]) ? params["payload"] : {} };
}
