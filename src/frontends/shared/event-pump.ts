// Sends the events of an attachment to a peer, for any dialect: projects them, sends them, waits while the outbox is
// full, and turns the peer's replies into answers.
import { setImmediate as nextTurn } from "node:timers/promises";
import type { AgentEvent, TurnOutcome } from "../../api/values/event.ts";
import type { Answer, InteractionFailure, InteractionKind } from "../../api/values/interaction.ts";
import { forgetOldest } from "../../base/collections.ts";
import { createDeferred, type Deferred } from "../../base/deferred.ts";
import { toKernelError } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import { otherWork } from "../../base/pace.ts";
import type { Attachment, SessionApi } from "../../kernel/api.ts";
import type { Peer } from "../../ports/rpc/connection.ts";
import type { RpcReply } from "../../ports/rpc/envelope.ts";

/** What a dialect sends for an event. */
export type Outgoing =
	| { readonly kind: "notification"; readonly method: string; readonly params: unknown }
	| {
			readonly kind: "interaction";
			readonly interactionId: string;
			/** The preferred JSON-RPC id; a suffix is added while another request with it is open. */
			readonly id: string;
			readonly method: string;
			/** The params, given the id that is used. */
			params(id: string): unknown;
			/** The answer that a result contains; null for an invalid result. */
			readResult(result: unknown): Answer | null;
	  }
	/** The interaction is settled: later replies to it are ignored. */
	| {
			readonly kind: "settled";
			readonly interactionId: string;
			/** What says so to a client that has not replied, given the JSON-RPC id of its request; absent for nothing. */
			readonly notice?: (id: string) => { readonly method: string; readonly params: unknown };
	  };

/** Nearly all events are deltas: for those, the line of the notification will do. */
export type Project = (event: AgentEvent) => readonly Outgoing[] | string;

type OutgoingInteraction = Extract<Outgoing, { kind: "interaction" }>;

/** A request of ours that the peer has not answered. */
interface OpenRequest {
	/** Its JSON-RPC id. */
	readonly id: string;
	readonly outgoing: OutgoingInteraction;
}

/** The outcome of a turn whose end is not known: its session ended without it, or its kernel is gone. */
const lostOutcome: TurnOutcome = {
	status: "failed",
	error: {
		code: "closed",
		message: "The session is not reachable any more; the end of the turn is not known.",
		data: null,
	},
};

/** Milliseconds of making what is sent for one event, after which other work runs before it is sent. */
const longPiece = 20;
/** Ids of side questions that ended before anybody asked for their end. */
const mostEndedQuestions = 1000;

export class EventPump {
	readonly #session: SessionApi;
	readonly #peer: Peer;
	readonly #projection: Project;
	readonly #log: Log;
	/** By interaction id. */
	readonly #open = new Map<string, OpenRequest>();
	readonly #turnWaiters = new Map<string, Deferred<TurnOutcome>>();
	readonly #sideQuestionWaiters = new Map<string, Deferred<void>>();
	/** Side questions that ended before anybody waited for them. */
	readonly #endedSideQuestions = new Set<string>();
	/** Names the client in the session; empty before it is attached. */
	#client: { readonly clientId?: string } = {};
	#lastBegun: string | null = null;
	#lastEnded: { readonly turnId: string; readonly outcome: TurnOutcome } | null = null;
	/** How many turns are being named, and those that ended since the first of these. */
	#naming = 0;
	readonly #endedMeanwhile = new Map<string, TurnOutcome>();
	#pumping: Promise<void> = Promise.resolve();
	/** Resolves when the end of the last turn was answered; null when it is. */
	#answering: Promise<void> | null = null;
	/** The last attachment whose events are sent, or were. */
	#last: Attachment | null = null;
	/** Whether all events of the last attachment were sent: none will follow. */
	#isOver = false;
	/** Resolves when no other attachment is being made in the place of the last one. */
	#replaced: Promise<void> = Promise.resolve();

	constructor(session: SessionApi, peer: Peer, project: Project, log: Log) {
		this.#session = session;
		this.#peer = peer;
		this.#projection = project;
		this.#log = log;
	}

	/**
	 * Sends the events of an attachment that replaces the last one, whose events may end before it is made.
	 * `prelude` is what is sent between them; it must not fail. Resolves when the attachment is made.
	 */
	async replace(attach: () => Promise<Attachment>, prelude: (attachment: Attachment) => Promise<void>): Promise<void> {
		const replacing = attach().then((attachment) => this.carry(attachment, () => prelude(attachment)));
		this.#replaced = replacing.catch(() => {});
		await replacing;
	}

	/** Sends an attachment's events from now on, after those of an earlier one and the prelude. */
	carry(attachment: Attachment, prelude: () => Promise<void> = async () => {}): void {
		const earlier = this.#pumping;
		this.#last = attachment;
		this.#isOver = false;
		this.#pumping = earlier.then(prelude).then(() => this.#pumpToEnd(attachment));
	}

	/**
	 * Does what names a turn: begins one, or finds the one that runs. `ended` resolves as `turnEnded` does, even if this
	 * turn and others after it end before it is named, and at once when none is named.
	 */
	async follow<Id extends string | null>(
		name: () => Promise<Id>,
	): Promise<{ readonly turnId: Id; readonly ended: Promise<TurnOutcome> }> {
		this.#naming += 1;
		try {
			const turnId = await name();
			return { turnId, ended: turnId === null ? Promise.resolve(lostOutcome) : this.turnEnded(turnId) };
		} finally {
			this.#naming -= 1;
			if (this.#naming === 0) this.#endedMeanwhile.clear();
		}
	}

	/** Resolves with the outcome of the last turn, or of one that goes on, once the end of the turn was sent. */
	turnEnded(turnId: string): Promise<TurnOutcome> {
		const meanwhile = this.#endedMeanwhile.get(turnId);
		if (meanwhile !== undefined) return Promise.resolve(meanwhile);
		if (this.#lastEnded?.turnId === turnId) return Promise.resolve(this.#lastEnded.outcome);
		if (this.#isOver) return Promise.resolve(lostOutcome);
		const waiter = this.#turnWaiters.get(turnId) ?? createDeferred<TurnOutcome>();
		this.#turnWaiters.set(turnId, waiter);
		return waiter.promise;
	}

	/** Resolves once the end of a side question outside turns was sent; call it once, when its id is known. */
	sideQuestionEnded(id: string): Promise<void> {
		if (this.#endedSideQuestions.delete(id) || this.#isOver) return Promise.resolve();
		const waiter = createDeferred<void>();
		this.#sideQuestionWaiters.set(id, waiter);
		return waiter.promise;
	}

	/**
	 * Uses a result that did not come as a reply as the answer to an open request. If it is not a valid answer to an
	 * interaction of that kind, nothing is settled and a reply may still come.
	 */
	answer(interactionId: string, result: unknown, kind: InteractionKind): void {
		const open = this.#open.get(interactionId);
		const answer = open?.outgoing.readResult(result) ?? null;
		if (open === undefined || answer?.kind !== kind) return;
		this.#forget(interactionId);
		this.#sendEvent(interactionId, answer);
	}

	/** Resolves when every attachment has ended and its events were sent. */
	async drained(): Promise<void> {
		let seen: Promise<void>;
		do {
			seen = this.#pumping;
			await seen;
		} while (seen !== this.#pumping);
	}

	async #pumpToEnd(attachment: Attachment): Promise<void> {
		try {
			await this.#pump(attachment);
		} catch (thrown) {
			this.#log.error("The events of a session cannot be sent.", { session: this.#session.id, error: thrown });
		}
		// The events of another attachment may follow.
		await this.#replaced;
		if (this.#last !== attachment) return;
		this.#isOver = true;
		// Nobody may wait for ever for the end of a turn, which a lost connection to the kernel hides.
		for (const waiter of this.#turnWaiters.values()) waiter.resolve(lostOutcome);
		for (const waiter of this.#sideQuestionWaiters.values()) waiter.resolve();
		this.#turnWaiters.clear();
		this.#sideQuestionWaiters.clear();
	}

	async #pump(attachment: Attachment): Promise<void> {
		this.#client = { clientId: attachment.id };
		await this.#deliverAll(attachment.snapshot.openInteractions);
		for await (const batch of attachment.events) await this.#deliverAll(batch);
	}

	/** Few events may be many megabytes, after which the answer to a request would have to wait. */
	async #deliverAll(events: readonly AgentEvent[]): Promise<void> {
		for (const event of events) {
			// Volatile events are small, and too many for each to be timed.
			const startedAt = event.seq === undefined ? null : performance.now();
			const outgoing = this.#project(event);
			// What takes long to be made takes as long to be written.
			if (startedAt !== null && performance.now() - startedAt > longPiece) await otherWork();
			// The request that waited for the end of a turn is answered before the next one begins.
			if (event.body.type === "turn.started" && this.#answering !== null) await this.#answering;
			this.#deliver(event, outgoing);
			if (this.#peer.isFull()) await this.#peer.ready();
		}
		await this.#peer.ready();
	}

	/** What is sent for an event. */
	#project(event: AgentEvent): readonly Outgoing[] | string {
		const { body, turnId } = event;
		const isOwn = event.agentPath.length === 0;
		if (body.type === "turn.started" && isOwn) this.#lastBegun = turnId;
		// The end of a turn that could not begin is only for the caller that waits for its outcome.
		const isUnbegun = body.type === "turn.ended" && isOwn && turnId !== this.#lastBegun;
		if (isUnbegun) return [];
		try {
			return this.#projection(event);
		} catch (thrown) {
			this.#fail(event, thrown);
			return [];
		}
	}

	#deliver(event: AgentEvent, outgoing: readonly Outgoing[] | string): void {
		if (typeof outgoing === "string") {
			this.#peer.notifyLine(outgoing);
			return;
		}
		const { body, turnId } = event;
		const isOwn = event.agentPath.length === 0;
		try {
			for (const each of outgoing) this.#send(each);
		} catch (thrown) {
			this.#fail(event, thrown);
		}
		// A side question in a turn ends with the turn; nobody waits for it separately.
		if (body.type === "side-question.ended" && turnId === null) this.#noteSideQuestion(body.id);
		if (body.type !== "turn.ended" || turnId === null || !isOwn || body.outcome === null) return;
		this.#lastEnded = { turnId, outcome: body.outcome };
		if (this.#naming > 0) this.#endedMeanwhile.set(turnId, body.outcome);
		this.#turnWaiters.get(turnId)?.resolve(body.outcome);
		if (this.#turnWaiters.delete(turnId)) this.#awaitAnswer();
	}

	/** Notes that whoever waited for the end of a turn now answers, which takes no more than what is due at once. */
	#awaitAnswer(): void {
		const answering = nextTurn().then(() => {
			if (this.#answering === answering) this.#answering = null;
		});
		this.#answering = answering;
	}

	/** A bug in sending one event fails the turn that it belongs to, and no more: later events are sent. */
	#fail(event: AgentEvent, thrown: unknown): void {
		this.#log.error("An event could not be sent.", { event: event.body.type, error: thrown });
		this.#session.fail(thrown);
		// Nobody can answer what was not requested.
		if (event.body.type !== "interaction.requested") return;
		const { id } = event.body.interaction;
		this.#forget(id);
		this.#sendEvent(id, { kind: "error-reply", message: toKernelError(thrown).message });
	}

	#noteSideQuestion(id: string): void {
		const waiter = this.#sideQuestionWaiters.get(id);
		this.#sideQuestionWaiters.delete(id);
		if (waiter !== undefined) {
			waiter.resolve();
			return;
		}
		this.#endedSideQuestions.add(id);
		// Those of other clients are never asked for.
		forgetOldest(this.#endedSideQuestions, mostEndedQuestions);
	}

	#send(outgoing: Outgoing): void {
		switch (outgoing.kind) {
			case "notification":
				this.#peer.notify(outgoing.method, outgoing.params);
				return;
			case "settled":
				this.#settle(outgoing);
				return;
			case "interaction":
				this.#ask(outgoing);
				return;
		}
	}

	#ask(outgoing: OutgoingInteraction): void {
		const { interactionId } = outgoing;
		// Sent again to a client that attached anew: replaces the earlier request of the same interaction.
		this.#forget(interactionId);
		let id = outgoing.id;
		for (let n = 2; this.#peer.isWaiting(id); n += 1) id = `${outgoing.id}-${n}`;
		this.#open.set(interactionId, { id, outgoing });
		this.#peer.call(id, outgoing.method, outgoing.params(id), (reply) => {
			this.#open.delete(interactionId);
			this.#sendEvent(interactionId, this.#toAnswer(outgoing, reply));
		});
	}

	#toAnswer({ interactionId, readResult }: OutgoingInteraction, reply: RpcReply): Answer | InteractionFailure {
		if (reply.kind === "error") return { kind: "error-reply", message: reply.error.message };
		try {
			return readResult(reply.result) ?? { kind: "malformed" };
		} catch (thrown) {
			this.#log.error("A reply could not be read.", { interactionId, error: thrown });
			return { kind: "malformed" };
		}
	}

	#settle({ interactionId, notice }: Extract<Outgoing, { kind: "settled" }>): void {
		const open = this.#open.get(interactionId);
		this.#forget(interactionId);
		if (open === undefined || notice === undefined) return;
		const { method, params } = notice(open.id);
		this.#peer.notify(method, params);
	}

	/** Later replies are ignored. */
	#forget(interactionId: string): void {
		const open = this.#open.get(interactionId);
		if (open !== undefined) this.#peer.withdraw(open.id);
		this.#open.delete(interactionId);
	}

	#sendEvent(interactionId: string, answer: Answer | InteractionFailure): void {
		this.#session
			.send({ type: "interaction.respond", interactionId, ...this.#client, answer })
			.catch((thrown: unknown) => {
				this.#log.error("An answer could not be delivered.", { interactionId, error: thrown });
			});
	}
}
