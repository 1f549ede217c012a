// Emits all events of a session: each event is persisted first if it is durable, then delivered to every attached
// client, in the order of emission.
import { unlessAborted } from "../../base/abort.ts";
import type { Clock } from "../../base/clock.ts";
import { createDeltaMerger, type DeltaMerger } from "../../events/delta-merger.ts";
import { type AgentEvent, type EventBody, type EventOrigin, eventDeclarations } from "../../events/event.ts";
import type { CallRecord, StoredAgent, StoredSession } from "../../store/session-store.ts";
import type { EventFeed } from "./event-feed.ts";

/** What is persisted together with an event, and how durably. */
export interface Persistence {
	/** Rows of the call journal, persisted before the event is delivered. */
	readonly records?: readonly CallRecord[];
	/** Whether all of it must be on stable storage before the event is delivered. */
	readonly sync?: boolean;
	/** Called once all of it is persisted, right before the event is delivered. */
	beforeDelivery?(): void;
}

interface Entry {
	readonly events: readonly AgentEvent[];
	readonly persistence: Persistence;
	readonly resolve: () => void;
	readonly reject: (error: unknown) => void;
}

/** The log of a subagent. */
export type AgentLog = Pick<StoredAgent, "appendEvents">;

const ends: ReadonlySet<EventBody["type"]> = new Set(["turn.ended", "compaction.ended", "interaction.resolved"]);

/** The origin of an event: the turn, if one runs, and the agent. */
export type Where = Pick<EventOrigin, "turnId" | "agentPath">;

export class Emitter {
	readonly #sessionId: string;
	readonly #stored: StoredSession;
	readonly #clock: Clock;
	/** One per agent: deltas of different agents are never merged. */
	readonly #mergers = new Map<string | null, DeltaMerger>();
	readonly #agentLogs = new Map<string, AgentLog>();
	readonly #feeds = new Set<EventFeed>();
	#waiting: Entry[] = [];
	#draining = false;
	/** The last turn that had a failure to persist, and the error. */
	#failed: { readonly turnId: string; readonly error: unknown } | null = null;

	constructor(stored: StoredSession, clock: Clock) {
		this.#sessionId = stored.id;
		this.#stored = stored;
		this.#clock = clock;
	}

	/** Whether any client is attached. */
	get hasListener(): boolean {
		return this.#feeds.size > 0;
	}

	add(feed: EventFeed): void {
		this.#feeds.add(feed);
	}

	remove(feed: EventFeed): void {
		this.#feeds.delete(feed);
	}

	/** From now on the events of this subagent are persisted in its own log as well. */
	addAgent(agentId: string, log: AgentLog): void {
		this.#agentLogs.set(agentId, log);
	}

	removeAgent(agentId: string): void {
		this.#agentLogs.delete(agentId);
		this.#mergers.delete(agentId);
	}

	/**
	 * Resolves once the event is persisted and delivered; rejects, with nothing delivered, when it could not be
	 * persisted. Then applies backpressure while a client is slow, until the signal aborts. Returns undefined for a
	 * delta that was delivered at once to clients with free capacity.
	 */
	emit(where: Where, body: EventBody, persistence: Persistence, signal: AbortSignal): Promise<void> | undefined {
		if (this.#isRefused(where.turnId, body.type)) return Promise.reject(this.#failed?.error);
		const ended = this.#mergerOf(where).push(body);
		// After a failure to persist, only the events that end something are persisted for this turn.
		const completed = this.#hasFailed(where.turnId) ? null : ended;
		const isDelta = eventDeclarations[body.type].class === "volatile";
		if (!isDelta || completed !== null || this.#draining || this.#waiting.length > 0) {
			const bodies = completed === null ? [body] : [completed, body];
			return this.#enqueue(
				bodies.map((each) => this.#stamp(where, each)),
				persistence,
				signal,
			);
		}
		this.#deliver(this.#stamp(where, body));
		return this.#isFull() ? this.#capacity(signal) : undefined;
	}

	async #enqueue(events: readonly AgentEvent[], persistence: Persistence, signal: AbortSignal): Promise<void> {
		await new Promise<void>((resolve, reject) => {
			this.#waiting.push({ events, persistence, resolve, reject });
			if (!this.#draining) void this.#drain();
		});
		await this.#capacity(signal);
	}

	/** A part of the turn could not be persisted elsewhere: nothing more of the turn is delivered. */
	fail(turnId: string, error: unknown): void {
		this.#failed = { turnId, error };
	}

	/** Delivers an event that could not be persisted; only for events that end something. */
	deliverVolatile(where: Where, body: EventBody): void {
		this.#mergerOf(where).flush();
		this.#deliver(this.#stamp(where, body));
	}

	#mergerOf({ turnId, agentPath }: Where): DeltaMerger {
		// Events outside the turn do not interrupt the merging of the turn's deltas.
		const speaker = turnId === null ? null : (agentPath.at(-1)?.agentId ?? "");
		const merger = this.#mergers.get(speaker) ?? createDeltaMerger();
		this.#mergers.set(speaker, merger);
		return merger;
	}

	#stamp({ turnId, agentPath }: Where, body: EventBody): AgentEvent {
		return { sessionId: this.#sessionId, turnId, agentPath, at: this.#clock.now(), body };
	}

	async #drain(): Promise<void> {
		this.#draining = true;
		while (this.#waiting.length > 0) {
			const batch = this.#unrefused(this.#waiting.splice(0));
			try {
				await this.#persist(batch);
			} catch (thrown) {
				for (const { events, reject } of batch) {
					// A failure outside any turn must not replace a turn's recorded failure: that turn could continue
					// with a gap.
					const turnId = events.at(-1)?.turnId ?? null;
					if (turnId !== null) this.#failed = { turnId, error: thrown };
					// The end of a compaction is delivered all the same: no other event reports it.
					for (const event of events) if (event.body.type === "compaction.ended") this.#deliver(event);
					reject(thrown);
				}
				continue;
			}
			// The turn may have failed elsewhere meanwhile.
			for (const entry of this.#unrefused(batch)) {
				entry.persistence.beforeDelivery?.();
				for (const event of entry.events) this.#deliver(event);
				entry.resolve();
			}
		}
		this.#draining = false;
	}

	/** Rejects the entries whose turn has failed meanwhile and returns the others. */
	#unrefused(entries: readonly Entry[]): readonly Entry[] {
		if (this.#failed === null) return entries;
		const { error } = this.#failed;
		return entries.filter(({ events, reject }) => {
			const isRefused = events.some(({ turnId, body }) => this.#isRefused(turnId, body.type));
			if (isRefused) reject(error);
			return !isRefused;
		});
	}

	/** After a failure to persist, only the events that end something are delivered for that turn. */
	#isRefused(turnId: string | null, type: EventBody["type"]): boolean {
		return this.#hasFailed(turnId) && !ends.has(type);
	}

	#hasFailed(turnId: string | null): boolean {
		return turnId !== null && turnId === this.#failed?.turnId;
	}

	async #persist(batch: readonly Entry[]): Promise<void> {
		const records = batch.flatMap((entry) => entry.persistence.records ?? []);
		if (records.length > 0) await this.#stored.appendCalls(records);
		const events = batch.flatMap((entry) => entry.events);
		await this.#stored.appendEvents(events);
		for (const [agentId, log] of this.#agentLogs) {
			const own = events.filter(({ agentPath }) => agentPath.at(-1)?.agentId === agentId);
			if (own.length > 0) await log.appendEvents(own);
		}
		if (batch.some((entry) => entry.persistence.sync === true)) await this.#stored.sync();
	}

	#deliver(event: AgentEvent): void {
		for (const feed of this.#feeds) feed.push(event);
	}

	#isFull(): boolean {
		for (const feed of this.#feeds) if (feed.isFull()) return true;
		return false;
	}

	async #capacity(signal: AbortSignal): Promise<void> {
		for (const feed of this.#feeds) {
			if (!feed.isFull() || signal.aborted) continue;
			await unlessAborted(feed.capacity(), signal);
		}
	}
}
