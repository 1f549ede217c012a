// Projects and sends an attachment's events with backpressure, and turns replies into answers.
import { setImmediate as nextTurn } from "node:timers/promises";
import type { Attachment, SessionApi } from "../../api/kernel.ts";
import type { AgentEvent, TurnOutcome } from "../../api/values/event.ts";
import type { Answer, InteractionFailure, InteractionKind } from "../../api/values/interaction.ts";
import { forgetOldest } from "../../base/collections.ts";
import { createDeferred, type Deferred } from "../../base/deferred.ts";
import { toKernelError } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import { otherWork } from "../../base/pace.ts";
import type { Peer } from "../../ports/rpc/connection.ts";
import type { RpcReply } from "../../ports/rpc/envelope.ts";

export type Outgoing =
	| { readonly kind: "notification"; readonly method: string; readonly params: unknown }
	| {
			readonly kind: "interaction";
			readonly interactionId: string;
			readonly id: string;
			readonly method: string;
			params(id: string): unknown;
			readResult(result: unknown): Answer | null;
	  }
	| {
			readonly kind: "settled";
			readonly interactionId: string;
			/** The notice for a client that has not replied yet, if any. */
			readonly notice?: (id: string) => { readonly method: string; readonly params: unknown };
	  };

/** Nearly all events are deltas: for these, the notification's line suffices. */
export type Project = (event: AgentEvent) => readonly Outgoing[] | string;

type OutgoingInteraction = Extract<Outgoing, { kind: "interaction" }>;

interface OpenRequest {
	readonly id: string;
	readonly outgoing: OutgoingInteraction;
}

/** The outcome of a turn whose end was lost with its session or kernel. */
const lostOutcome: TurnOutcome = {
	status: "failed",
	error: {
		code: "closed",
		message: "The session is no longer reachable; the outcome of the turn is unknown.",
		data: null,
	},
};

/** Milliseconds to project one event after which other work runs first. */
const longPiece = 20;
/** Limit of remembered side questions that ended before anybody asked. */
const mostEndedQuestions = 1000;

export class EventPump {
	readonly #session: SessionApi;
	readonly #peer: Peer;
	readonly #projection: Project;
	readonly #log: Log;
	readonly #open = new Map<string, OpenRequest>();
	readonly #turnWaiters = new Map<string, Deferred<TurnOutcome>>();
	readonly #sideQuestionWaiters = new Map<string, Deferred<void>>();
	readonly #endedSideQuestions = new Set<string>();
	#client: { readonly clientId?: string } = {};
	#lastBegun: string | null = null;
	#lastEnded: { readonly turnId: string; readonly outcome: TurnOutcome } | null = null;
	/** The number of turns being named, and the turns that ended since the first of them. */
	#naming = 0;
	readonly #endedMeanwhile = new Map<string, TurnOutcome>();
	#pumping: Promise<void> = Promise.resolve();
	/** Resolves when the end of the last turn was answered; null if it was. */
	#answering: Promise<void> | null = null;
	#last: Attachment | null = null;
	#isLeft = false;
	/** Whether the last attachment has no more events. */
	#isOver = false;
	/** Resolves once no replacement of the attachment is in progress. */
	#replaced: Promise<void> = Promise.resolve();

	constructor(session: SessionApi, peer: Peer, project: Project, log: Log) {
		this.#session = session;
		this.#peer = peer;
		this.#projection = project;
		this.#log = log;
	}

	/** `prelude` sends what comes between the two attachments' events; it must not fail. */
	async replace(attach: () => Promise<Attachment>, prelude: (attachment: Attachment) => Promise<void>): Promise<void> {
		const replacing = attach().then((attachment) => this.carry(attachment, () => prelude(attachment)));
		this.#replaced = replacing.catch(() => {});
		await replacing;
	}

	/** Sends an attachment's events, after those of an earlier attachment and the prelude. */
	carry(attachment: Attachment, prelude: () => Promise<void> = async () => {}): void {
		const earlier = this.#pumping;
		this.#last = attachment;
		this.#isOver = false;
		this.#pumping = earlier.then(prelude).then(() => this.#pumpToEnd(attachment));
	}

	/** `work` names a turn. `ended` resolves even if the turn ends before it is named, and at once if none is named. */
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

	/** Resolves with the outcome once the end of the turn was sent, for the last turn or a running one. */
	turnEnded(turnId: string): Promise<TurnOutcome> {
		const meanwhile = this.#endedMeanwhile.get(turnId);
		if (meanwhile !== undefined) return Promise.resolve(meanwhile);
		if (this.#lastEnded?.turnId === turnId) return Promise.resolve(this.#lastEnded.outcome);
		if (this.#isOver) return Promise.resolve(lostOutcome);
		const waiter = this.#turnWaiters.get(turnId) ?? createDeferred<TurnOutcome>();
		this.#turnWaiters.set(turnId, waiter);
		return waiter.promise;
	}

	/** Resolves once the end of a side question outside turns was sent. Call it once per id. */
	sideQuestionEnded(id: string): Promise<void> {
		if (this.#endedSideQuestions.delete(id) || this.#isOver) return Promise.resolve();
		const waiter = createDeferred<void>();
		this.#sideQuestionWaiters.set(id, waiter);
		return waiter.promise;
	}

	/** If the result is invalid for the interaction, nothing is settled and a reply may still come. */
	answer(interactionId: string, result: unknown, kind: InteractionKind): void {
		const open = this.#open.get(interactionId);
		const answer = open?.outgoing.readResult(result) ?? null;
		if (open === undefined || answer?.kind !== kind) return;
		this.#forget(interactionId);
		this.#sendEvent(interactionId, answer);
	}

	/** Stops sending and drops unanswered requests: they are sent again when a client attaches. */
	leave(): void {
		this.#isLeft = true;
		for (const interactionId of [...this.#open.keys()]) this.#forget(interactionId);
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
		// Another attachment may follow.
		await this.#replaced;
		if (this.#last !== attachment) return;
		this.#isOver = true;
		// A lost kernel connection hides the ends of turns: nobody may wait for them forever.
		for (const waiter of this.#turnWaiters.values()) waiter.resolve(lostOutcome);
		for (const waiter of this.#sideQuestionWaiters.values()) waiter.resolve();
		this.#turnWaiters.clear();
		this.#sideQuestionWaiters.clear();
	}

	async #pump(attachment: Attachment): Promise<void> {
		this.#client = { clientId: attachment.id };
		this.#lastBegun = attachment.snapshot.turnId ?? this.#lastBegun;
		await this.#deliverAll(attachment.snapshot.openInteractions);
		for await (const batch of attachment.events) await this.#deliverAll(batch);
	}

	/** A few events may be many megabytes, which would delay the answer to a request. */
	async #deliverAll(events: readonly AgentEvent[]): Promise<void> {
		for (const event of events) {
			if (this.#isLeft) return;
			// Volatile events are small, and too many to time each.
			const startedAt = event.seq === undefined ? null : performance.now();
			const outgoing = this.#project(event);
			// What takes long to project takes as long to write.
			if (startedAt !== null && performance.now() - startedAt > longPiece) await otherWork();
			// Answers the request that waited for the last turn before the next turn begins.
			if (event.body.type === "turn.started" && this.#answering !== null) await this.#answering;
			this.#deliver(event, outgoing);
			if (this.#peer.isFull()) await this.#peer.ready();
		}
		await this.#peer.ready();
	}

	#project(event: AgentEvent): readonly Outgoing[] | string {
		const { body, turnId } = event;
		const isOwn = event.agentPath.length === 0;
		if (body.type === "turn.started" && isOwn) this.#lastBegun = turnId;
		// The end of a turn that did not start concerns only the caller waiting for its outcome.
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

	/** Notes that the callers waiting for the end of a turn answer now, within the work due at once. */
	#awaitAnswer(): void {
		const answering = nextTurn().then(() => {
			if (this.#answering === answering) this.#answering = null;
		});
		this.#answering = answering;
	}

	/** A bug in sending one event fails only the turn it belongs to: later events are sent. */
	#fail(event: AgentEvent, thrown: unknown): void {
		this.#log.error("An event could not be sent.", { event: event.body.type, error: thrown });
		this.#session.fail(thrown);
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
		// Other clients' side questions are never asked for.
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
		// Sent again to a client that attached again: replaces the earlier request of the interaction.
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
