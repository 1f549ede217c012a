// The client of Meerkat RPC in an interleaving: what it knows of sessions and their runs by what it was sent.
import { isRecord } from "../../../src/base/json.ts";
import type { Interaction, Sent } from "../frame/actor.ts";
import { HostActor } from "../frame/hosted-liveness.ts";
import type { Fields } from "../frame/life.ts";
import type { AnswerKind } from "./liveness-actions.ts";

/** An event as the first protocol has it. */
export interface DeliveredEvent {
	readonly at: number;
	readonly sessionId: string;
	readonly type: string;
	readonly event: Fields;
}

/** A session in the order of creation; its id is null until the client knows it. */
export interface KnownSession {
	readonly model: string;
	readonly createId: string;
	sessionId: string | null;
}

export type ServerRequest = Interaction<AnswerKind>;

export const sessionOfRequest = ({ params }: ServerRequest): string => String(params["session_id"]);

/** What a run is asked, each once; null for a request that runs nothing. */
export function promptOf({ params }: Sent): string | null {
	const { prompt, initial_turn: initialTurn } = params;
	return typeof prompt === "string" && initialTurn === undefined ? prompt : null;
}

/** Answers that are none: the request stays open. */
const ignoredAnswers: ReadonlySet<AnswerKind> = new Set(["other-id", "no-result"]);

export class HostedActor extends HostActor<AnswerKind> {
	readonly events: DeliveredEvent[] = [];
	readonly sessions: KnownSession[] = [];

	/** Runs that were requested and not answered. */
	runs(): readonly Sent[] {
		return this.unanswered().filter((sent) => promptOf(sent) !== null);
	}

	/** The session a request is about, also of one that created it; null where none is known. */
	sessionOf({ id, params }: Sent): string | null {
		if (typeof params["session_id"] === "string") return params["session_id"];
		return this.sessions.find(({ createId }) => createId === id)?.sessionId ?? null;
	}

	protected override isIgnored(_request: ServerRequest, how: AnswerKind): boolean {
		return ignoredAnswers.has(how);
	}

	/** What is open no more because its run is over. */
	protected override isSettled(request: ServerRequest): boolean {
		return this.events.some(
			({ at, sessionId, type }) =>
				at > request.at && sessionId === sessionOfRequest(request) && /^run_(?:completed|failed)$/.test(type),
		);
	}

	protected override toReply(request: ServerRequest, how: AnswerKind): Fields {
		return toReply(request, how);
	}

	protected override take(message: Fields, at: number, sent: Sent | null): void {
		const { method, params, result } = message;
		if (sent !== null) {
			if (sent.method === "session/create" && isRecord(result)) this.#learn(sent.id, String(result["session_id"]));
			return;
		}
		if (method !== "session/event" || !isRecord(params)) return;
		const delivered = isRecord(params["event"]) ? params["event"] : {};
		const event = isRecord(delivered["payload"]) ? delivered["payload"] : delivered;
		const sessionId = String(params["session_id"]);
		const type = String(event["type"]);
		this.events.push({ at, sessionId, type, event });
		if (type !== "run_started") return;
		const creating = this.sent.find((one) => one.method === "session/create" && promptOf(one) === event["prompt"]);
		if (creating !== undefined) this.#learn(creating.id, sessionId);
	}

	#learn(createId: string, sessionId: string): void {
		const session = this.sessions.find((each) => each.createId === createId);
		if (session === undefined) return;
		if ((session.sessionId ?? sessionId) !== sessionId) this.faults.push(`a session has two ids: ${sessionId}`);
		session.sessionId = sessionId;
	}
}

function toReply({ id, type, params }: ServerRequest, how: AnswerKind): Fields {
	const result = (value: unknown) => ({ jsonrpc: "2.0", id, result: value });
	switch (how) {
		case "yes":
		case "for-session":
		case "no":
			return result(toResult(type, params, how));
		case "wrong":
			return result({ decision: "maybe", answers: [], content: 5 });
		case "null":
			return result(null);
		case "error":
			return { jsonrpc: "2.0", id, error: { code: -32000, message: "cannot" } };
		case "other-id":
			return { ...result(toResult(type, params, "yes")), id: `${id}-other` };
		case "no-result":
			return { jsonrpc: "2.0", id, method: null, result: undefined, error: null };
	}
}

function toResult(method: string, params: Fields, how: "yes" | "for-session" | "no"): Fields {
	switch (method) {
		case "approval/request":
			if (how === "no") return { decision: "reject", feedback: "Not like this." };
			return { decision: how === "yes" ? "approve" : "approve_for_session" };
		case "question/request": {
			const [first]: unknown[] = Array.isArray(params["questions"]) ? params["questions"] : [];
			return { answers: how === "no" || !isRecord(first) ? {} : { [String(first["question"])]: "Left" } };
		}
		default:
			return how === "yes"
				? { content: "painted" }
				: { content: [{ type: "text", text: "no" }], is_error: how === "no" };
	}
}
