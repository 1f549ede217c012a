// The editor in an interleaving: what it knows of sessions by what it was sent, and how it answers.
import { isRecord } from "../../../src/base/json.ts";
import type { Interaction, Sent } from "../frame/actor.ts";
import { HostActor } from "../frame/hosted-liveness.ts";
import type { Fields } from "../frame/life.ts";
import type { AnswerKind } from "./liveness-actions.ts";

/** An update of a session. */
export interface DeliveredUpdate {
	readonly at: number;
	readonly sessionId: string;
	readonly kind: string;
	readonly update: Fields;
}

/** A session that the editor knows, in the order of its learning; each has a model of its own. */
export interface KnownSession {
	readonly sessionId: string;
	model: string;
}

/** A notification that cancels. */
export interface Cancellation {
	readonly at: number;
	readonly atRest: boolean;
	/** The session, or the request. */
	readonly of: { readonly sessionId: string } | { readonly requestId: string };
}

export type ServerRequest = Interaction<AnswerKind>;

export const sessionOfRequest = ({ params }: ServerRequest): string => String(params["sessionId"]);
export const sessionOfSent = ({ params }: Sent): string => String(params["sessionId"] ?? "");

/** How many models sessions can have of their own; later sessions share one. */
export const modelCount = 16;

export class AcpActor extends HostActor<AnswerKind> {
	readonly updates: DeliveredUpdate[] = [];
	readonly sessions: KnownSession[] = [];
	readonly cancellations: Cancellation[] = [];
	/** Requests of the server's that it withdrew, and where. */
	readonly withdrawn = new Map<string, number>();

	prompts(): readonly Sent[] {
		return this.sent.filter(({ method }) => method === "session/prompt");
	}

	cancel(sessionId: string): void {
		this.cancellations.push({ at: this.transcript.length, atRest: this.isQuiet, of: { sessionId } });
		this.notify("session/cancel", { sessionId });
	}

	withdraw(requestId: string): void {
		this.cancellations.push({ at: this.transcript.length, atRest: this.isQuiet, of: { requestId } });
		this.notify("$/cancel_request", { requestId });
	}

	protected override isIgnored(_request: ServerRequest, how: AnswerKind): boolean {
		return how === "other-id";
	}

	/** A request that is made again is the same one. */
	protected override isSettled({ id, at }: ServerRequest): boolean {
		const isAgain = (other: ServerRequest) => other.id === id && (other.at > at || other.answer !== null);
		return this.withdrawn.has(id) || this.interactions.some(isAgain);
	}

	protected override mayRepeatRequests(): boolean {
		return this.sent.some(({ method }) => method === "session/load" || method === "session/resume");
	}

	protected override toReply(request: ServerRequest, how: AnswerKind): Fields {
		return toReply(request, how);
	}

	protected override take(message: Fields, at: number, sent: Sent | null): void {
		const { method, params, result } = message;
		if (sent !== null) {
			if (sent.method === "session/new" && isRecord(result)) this.#learn(String(result["sessionId"]));
			if (sent.method === "model" && !isRecord(result)) this.#keepModel(String(sent.params["sessionId"]));
			return;
		}
		if (!isRecord(params)) return;
		if (method === "$/cancel_request") this.withdrawn.set(String(params["requestId"]), at);
		const { sessionId, update } = params;
		if (typeof sessionId === "string" && !this.sessions.some((each) => each.sessionId === sessionId))
			this.faults.push(`${method} at ${at} is about a session that the editor does not know`);
		if (method !== "session/update" || !isRecord(update)) return;
		this.updates.push({ at, sessionId: String(sessionId), kind: String(update["sessionUpdate"]), update });
	}

	/** As editors do, it chooses what its person prefers as soon as there is a session. */
	#learn(sessionId: string): void {
		if (this.sessions.some((each) => each.sessionId === sessionId)) this.faults.push(`two sessions are ${sessionId}`);
		const model = `m${Math.min(this.sessions.length + 1, modelCount)}`;
		this.sessions.push({ sessionId, model });
		if (Number.isFinite(this.endsAt)) return;
		const params = { sessionId, configId: "model", value: model };
		this.request("session/set_config_option", params, "model", false);
	}

	/** A model that could not be chosen leaves the session that of the settings. */
	#keepModel(sessionId: string): void {
		for (const session of this.sessions) if (session.sessionId === sessionId) session.model = "m";
	}
}

function toReply({ id, type, params }: ServerRequest, how: AnswerKind): Fields {
	const reply = (result: unknown) => ({ jsonrpc: "2.0", id, result });
	switch (how) {
		case "yes":
		case "always":
		case "no":
		case "cancelled":
			return reply(toResult(type, params, how));
		case "wrong":
			return reply({ outcome: { outcome: "selected", optionId: "nothing" }, action: "maybe", content: 5 });
		case "null":
			return reply(null);
		case "error":
			return { jsonrpc: "2.0", id, error: { code: -32603, message: "cannot" } };
		case "other-id":
			return { ...reply(toResult(type, params, "yes")), id: `${id}-other` };
	}
}

function toResult(method: string, params: Fields, how: "yes" | "always" | "no" | "cancelled"): unknown {
	switch (method) {
		case "session/request_permission": {
			const options = (Array.isArray(params["options"]) ? params["options"] : []).filter(isRecord);
			const kinds = { yes: "allow_once", always: "allow_always", no: "reject_once" } as const;
			const wanted = how === "cancelled" ? undefined : options.find(({ kind }) => kind === kinds[how]);
			const chosen = wanted ?? options.find(({ kind }) => kind === "allow_once");
			if (how === "cancelled" || chosen === undefined) return { outcome: { outcome: "cancelled" } };
			return { outcome: { outcome: "selected", optionId: chosen["optionId"] } };
		}
		case "elicitation/create":
			if (how === "cancelled") return { action: "cancel" };
			return how === "no" ? { action: "decline" } : { action: "accept", content: { q0: "Left" } };
		case "fs/read_text_file":
			return { content: "read" };
		default:
			return how === "no" ? null : {};
	}
}
