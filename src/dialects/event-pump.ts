// Carries the events of an attachment to a peer, whatever the dialect: projects, sends, waits while the outbox is
// full, and turns the peer's replies into answers. It does not know any vocabulary.
import { createDeferred, type Deferred } from "../base/deferred.ts";
import type { Log } from "../base/log.ts";
import type { AgentEvent, TurnOutcome } from "../events/event.ts";
import type { Answer, InteractionFailure, InteractionKind } from "../events/interaction.ts";
import type { Attachment } from "../kernel/clients/clients.ts";
import type { Session } from "../kernel/session/session.ts";
import type { Peer } from "../rpc/connection.ts";
import type { RpcReply } from "../rpc/envelope.ts";

/** What a dialect makes of an event. */
export type Outgoing =
	| { readonly kind: "notification"; readonly method: string; readonly params: unknown }
	| {
			readonly kind: "interaction";
			readonly interactionId: string;
			/** The JSON-RPC id wanted; a suffix is added while another request with it is open. */
			readonly id: string;
			readonly method: string;
			/** The params, given the id that was free. */
			params(id: string): unknown;
			/** The answer that the result of the request is; null for one that is none. */
			readResult(result: unknown): Answer | null;
	  }
	/** The ask is settled: later replies to it are ignored. */
	| { readonly kind: "settled"; readonly interactionId: string };

export type Project = (event: AgentEvent) => readonly Outgoing[];

type OutgoingInteraction = Extract<Outgoing, { kind: "interaction" }>;

/** A request of ours that the peer has not answered. */
interface OpenRequest {
	/** Its JSON-RPC id. */
	readonly id: string;
	readonly outgoing: OutgoingInteraction;
}

export class EventPump {
	readonly #session: Session;
	readonly #peer: Peer;
	readonly #project: Project;
	readonly #log: Log;
	/** By the id of the ask. */
	readonly #open = new Map<string, OpenRequest>();
	readonly #turnWaiters = new Map<string, Deferred<TurnOutcome>>();
	readonly #sideQuestionWaiters = new Map<string, Deferred<void>>();
	/** Those that ended before anybody waited for them. */
	readonly #endedSideQuestions = new Set<string>();
	#lastBegun: string | null = null;
	#lastEnded: { readonly turnId: string; readonly outcome: TurnOutcome } | null = null;
	#pumping: Promise<void> = Promise.resolve();

	constructor(session: Session, peer: Peer, project: Project, log: Log) {
		this.#session = session;
		this.#peer = peer;
		this.#project = project;
		this.#log = log;
	}

	/** Carries an attachment's events from now on, behind those of an earlier one. */
	carry(attachment: Attachment): void {
		const earlier = this.#pumping;
		this.#pumping = earlier.then(() => this.#pump(attachment));
	}

	/** Resolves with the outcome of a turn once the end of the turn was sent. */
	turnEnded(turnId: string): Promise<TurnOutcome> {
		if (this.#lastEnded?.turnId === turnId) return Promise.resolve(this.#lastEnded.outcome);
		const waiter = createDeferred<TurnOutcome>();
		this.#turnWaiters.set(turnId, waiter);
		return waiter.promise;
	}

	/** Resolves once the end of a side question beside turns was sent; to be called once, when its id is known. */
	sideQuestionEnded(id: string): Promise<void> {
		if (this.#endedSideQuestions.delete(id)) return Promise.resolve();
		const waiter = createDeferred<void>();
		this.#sideQuestionWaiters.set(id, waiter);
		return waiter.promise;
	}

	/**
	 * Takes a result that came in another way than as a reply for the answer to an open request. Nothing is settled when
	 * it is not a good answer to an ask of that kind; a reply may still come then.
	 */
	answer(interactionId: string, result: unknown, kind: InteractionKind): void {
		const open = this.#open.get(interactionId);
		const answer = open?.outgoing.readResult(result) ?? null;
		if (open === undefined || answer?.kind !== kind) return;
		this.#forget(interactionId);
		this.#sendEvent(interactionId, answer);
	}

	/** Resolves when every attachment carried has ended and was sent. */
	drained(): Promise<void> {
		return this.#pumping;
	}

	async #pump(attachment: Attachment): Promise<void> {
		for await (const batch of attachment.events) {
			for (const event of batch) this.#deliver(event);
			await this.#peer.ready();
		}
	}

	#deliver(event: AgentEvent): void {
		const { body, turnId } = event;
		const isOwn = event.agentPath.length === 0;
		if (body.type === "turn.started" && isOwn) this.#lastBegun = turnId;
		// The end of a turn that could not be begun is for the one who waits for its outcome alone.
		const isUnbegun = body.type === "turn.ended" && isOwn && turnId !== this.#lastBegun;
		if (!isUnbegun) for (const outgoing of this.#project(event)) this.#send(outgoing);
		// One that has a turn ends with it; nobody waits for it apart.
		if (body.type === "side-question.ended" && turnId === null) this.#noteSideQuestion(body.id);
		if (body.type !== "turn.ended" || turnId === null || !isOwn || body.outcome === null) return;
		this.#lastEnded = { turnId, outcome: body.outcome };
		this.#turnWaiters.get(turnId)?.resolve(body.outcome);
		this.#turnWaiters.delete(turnId);
	}

	#noteSideQuestion(id: string): void {
		const waiter = this.#sideQuestionWaiters.get(id);
		this.#sideQuestionWaiters.delete(id);
		if (waiter === undefined) this.#endedSideQuestions.add(id);
		else waiter.resolve();
	}

	#send(outgoing: Outgoing): void {
		switch (outgoing.kind) {
			case "notification":
				this.#peer.notify(outgoing.method, outgoing.params);
				return;
			case "settled":
				this.#forget(outgoing.interactionId);
				return;
			case "interaction":
				this.#ask(outgoing);
				return;
		}
	}

	#ask(outgoing: OutgoingInteraction): void {
		const { interactionId } = outgoing;
		// Told again to a client that attached anew: the earlier request of the same ask gives way.
		this.#forget(interactionId);
		let id = outgoing.id;
		for (let n = 2; this.#peer.isWaiting(id); n += 1) id = `${outgoing.id}-${n}`;
		this.#open.set(interactionId, { id, outgoing });
		this.#peer.call(id, outgoing.method, outgoing.params(id), (reply) => {
			this.#open.delete(interactionId);
			this.#sendEvent(interactionId, toAnswer(outgoing, reply));
		});
	}

	/** Later replies are ignored. */
	#forget(interactionId: string): void {
		const open = this.#open.get(interactionId);
		if (open !== undefined) this.#peer.withdraw(open.id);
		this.#open.delete(interactionId);
	}

	#sendEvent(interactionId: string, answer: Answer | InteractionFailure): void {
		this.#session.send({ type: "interaction.respond", interactionId, answer }).catch((thrown: unknown) => {
			this.#log.error("An answer could not be delivered.", { interactionId, error: thrown });
		});
	}
}

function toAnswer(outgoing: OutgoingInteraction, reply: RpcReply): Answer | InteractionFailure {
	if (reply.kind === "error") return { kind: "error-reply", message: reply.error.message };
	return outgoing.readResult(reply.result) ?? { kind: "malformed" };
}
