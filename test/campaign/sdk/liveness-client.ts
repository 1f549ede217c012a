// The client of an SDK in an interleaving: what it knows of sessions by what it was sent, and how it answers.
import { isRecord } from "../../../src/base/json.ts";
import type { MemoryClient } from "../../../src/ports/transports/memory.ts";
import type { Interaction, Sent } from "../frame/actor.ts";
import { HostActor } from "../frame/hosted-liveness.ts";
import type { Fields } from "../frame/life.ts";

/** `stop` refuses, and ends the turn. */
export const answerKinds = ["yes", "always", "no", "stop", "wrong", "error", "other-id"] as const;
export type AnswerKind = (typeof answerKinds)[number];

/** What the server said without being asked. */
export interface Notice {
	readonly at: number;
	readonly method: string;
	readonly params: Fields;
}

/** A session that the client knows, in the order of its learning, with the model it was given. */
export interface KnownSession {
	readonly id: string;
	readonly model: string;
}

/** The result that answers a request so. */
export type ToResult = (
	interaction: Interaction<AnswerKind>,
	how: Exclude<AnswerKind, "error" | "other-id">,
) => unknown;

export const sessionOf = (params: Fields): string => String(params["threadId"] ?? params["session_id"] ?? "");

export class SdkActor extends HostActor<AnswerKind> {
	readonly notices: Notice[] = [];
	readonly sessions: KnownSession[] = [];
	/** Where the client last opened a session anew, or left it: earlier requests of it are made again, or not answered any more. */
	readonly #left = new Map<string, number>();
	readonly #withdrawn = new Set<unknown>();
	readonly #toResult: ToResult;

	constructor(wire: MemoryClient, toResult: ToResult) {
		super(wire);
		this.#toResult = toResult;
	}

	protected override toReply(interaction: Interaction<AnswerKind>, how: AnswerKind): Fields {
		const { id } = interaction;
		if (how === "error") return { id, error: { code: -1, message: "cannot" } };
		if (how === "other-id") return { id: `${id}-other`, result: this.#toResult(interaction, "yes") };
		return { id, result: this.#toResult(interaction, how) };
	}

	protected override isIgnored(_interaction: Interaction<AnswerKind>, how: AnswerKind): boolean {
		return how === "other-id";
	}

	protected override isSettled({ id, params, at }: Interaction<AnswerKind>): boolean {
		// Made again under its id, it may have been answered as the earlier one.
		const isAnswered = this.interactions.some((other) => other.id === id && (other.answer?.at ?? 0) > at);
		return isAnswered || this.#withdrawn.has(id) || (this.#left.get(sessionOf(params)) ?? 0) > at;
	}

	protected override mayRepeatRequests(): boolean {
		return this.#left.size > 0;
	}

	protected override take({ method, params, result }: Fields, at: number, sent: Sent | null): void {
		if (sent !== null) {
			if (["thread/resume", "thread/archive"].includes(sent.method)) this.#left.set(sessionOf(sent.params), at);
			const thread = isRecord(result) ? result["thread"] : null;
			const isNew = sent.method === "thread/start" || sent.method === "thread/fork";
			if (isNew && isRecord(thread)) this.#learn(String(thread["id"]), String(sent.params["model"]));
			return;
		}
		// A request is taken as well, and is no notice.
		if (!isRecord(params) || this.interactions.at(-1)?.at === at) return;
		if (method === "withdrawn") this.#withdrawn.add(params["id"]);
		if (method === "init" && this.sessions.length === 0) this.#learn(String(params["session_id"]), "m");
		this.notices.push({ at, method: String(method), params });
	}

	#learn(id: string, model: string): void {
		if (this.sessions.some((each) => each.id === id)) this.faults.push(`two sessions are ${id}`);
		this.sessions.push({ id, model });
	}
}
