// Durable events are persisted first, then all are delivered to all clients in order of emission.

import type { UnfinishedPart } from "../../api/session-state.ts";
import { createDeltaMerger, type DeltaMerger } from "../../api/values/delta-merger.ts";
import {
	type AgentEvent,
	type AgentPathEntry,
	type EventBody,
	type EventBodyOf,
	type EventOrigin,
	eventDeclarations,
} from "../../api/values/event.ts";
import { unlessAborted } from "../../base/abort.ts";
import type { Clock } from "../../base/clock.ts";
import type { Batch, StoredAgent, StoredSession } from "../../ports/store/session-store.ts";
import type { EventFeed } from "./event-feed.ts";

export interface Persistence {
	/** Session state change, stored atomically with the event. */
	readonly state?: Batch["state"];
	/** Whether everything must be on stable storage before the event is delivered. */
	readonly sync?: boolean;
	/** Called after persistence, right before delivery. */
	beforeDelivery?(): void;
}

interface Entry {
	readonly events: readonly AgentEvent[];
	readonly persistence: Persistence;
	readonly resolve: () => void;
	readonly reject: (error: unknown) => void;
}

interface Speaker {
	readonly merger: DeltaMerger;
	readonly delivered: DeltaMerger;
	readonly agentPath: readonly AgentPathEntry[];
}

export type AgentLog = Pick<StoredAgent, "appendEvents">;

const ends: ReadonlySet<EventBody["type"]> = new Set(["turn.ended", "compaction.ended", "interaction.resolved"]);

export type Where = Pick<EventOrigin, "turnId" | "agentPath">;

export const outsideTurns: Where = { turnId: null, agentPath: [] };

export class Emitter {
	readonly #sessionId: string;
	readonly #stored: StoredSession;
	readonly #clock: Clock;
	readonly #listeners: ((event: AgentEvent) => void)[] = [];
	/** One per agent: deltas of different agents are never merged. */
	readonly #mergers = new Map<string | null, Speaker>();
	readonly #agentLogs = new Map<string, AgentLog>();
	readonly #feeds = new Set<EventFeed>();
	#waiting: Entry[] = [];
	#draining = false;
	#delivered: number;
	#left: number;
	#epoch: string;
	#failed: { readonly turnId: string; readonly error: unknown } | null = null;
	/** The wait for slow clients, shared by all emits with this signal. */
	#full: { readonly signal: AbortSignal; readonly over: Promise<void> } | null = null;

	constructor(stored: StoredSession, clock: Clock) {
		this.#sessionId = stored.id;
		const { epoch, seq } = stored.cursor();
		this.#delivered = seq;
		this.#left = seq;
		this.#epoch = epoch;
		this.#stored = stored;
		this.#clock = clock;
	}

	/** Calls the listener with every event right before clients receive it. */
	onDelivered(listener: (event: AgentEvent) => void): void {
		this.#listeners.push(listener);
	}

	/** Number of the last durable event delivered to clients. */
	get delivered(): number {
		return this.#delivered;
	}

	/** Number of the last event that other processes left. */
	get left(): number {
		return this.#left;
	}

	reload(): void {
		const { epoch, seq } = this.#stored.cursor();
		const isOther = epoch !== this.#epoch;
		this.#epoch = epoch;
		this.#delivered = seq;
		this.#left = seq;
		const reset = isOther ? this.stamp(outsideTurns, { type: "session.reset" }) : null;
		for (const feed of this.#feeds) feed.reload(reset);
	}

	/** The durable form so far of delivered, incomplete delta sequences. */
	unfinished(): readonly UnfinishedPart[] {
		return [...this.#mergers.values()].flatMap(({ delivered, agentPath }) => {
			const body = delivered.open();
			return body === null ? [] : [{ agentPath, body }];
		});
	}

	add(feed: EventFeed): void {
		this.#feeds.add(feed);
	}

	remove(feed: EventFeed): void {
		this.#feeds.delete(feed);
	}

	/** Also persists the events of this subagent in its own log from now on. */
	addAgent(agentId: string, log: AgentLog): void {
		this.#agentLogs.set(agentId, log);
	}

	removeAgent(agentId: string): void {
		this.#agentLogs.delete(agentId);
		this.#mergers.delete(agentId);
	}

	/** Resolves once persisted and delivered, with backpressure until the signal aborts. Undefined for an unhindered delta. */
	emit(where: Where, body: EventBody, persistence: Persistence, signal: AbortSignal): Promise<void> | undefined {
		if (this.#isRefused(where.turnId, body.type)) return Promise.reject(this.#failed?.error);
		const speaker = this.#speakerOf(where);
		const isFree = !this.#draining && this.#waiting.length === 0;
		// Nearly all events are deltas that continue a text.
		const extended = isFree ? speaker.merger.extend(body) : null;
		if (extended !== null) {
			speaker.delivered.note(extended);
			this.#pass(this.stamp(where, extended));
			return this.#isFull() ? this.#capacity(signal) : undefined;
		}
		const pushed = speaker.merger.push(body);
		// After a persistence failure, this turn persists only events that end something.
		const completed = this.#hasFailed(where.turnId) ? null : pushed.completed;
		const isDelta = eventDeclarations[body.type].class === "volatile";
		if (!isDelta || completed !== null || !isFree) {
			const bodies = completed === null ? [pushed.body] : [completed, pushed.body];
			return this.#enqueue(
				bodies.map((each) => this.stamp(where, each)),
				persistence,
				signal,
			);
		}
		this.#deliver(this.stamp(where, pushed.body));
		return this.#isFull() ? this.#capacity(signal) : undefined;
	}

	async #enqueue(events: readonly AgentEvent[], persistence: Persistence, signal: AbortSignal): Promise<void> {
		await new Promise<void>((resolve, reject) => {
			this.#waiting.push({ events, persistence, resolve, reject });
			if (!this.#draining) void this.#drain();
		});
		if (this.#isFull()) await this.#capacity(signal);
	}

	/** Part of the turn could not be persisted elsewhere: stops delivery for the turn. */
	fail(turnId: string, error: unknown): void {
		this.#failed = { turnId, error };
	}

	/** Delivers an event that could not be persisted. Only for events that end something. */
	deliverVolatile(where: Where, body: EventBody): void {
		this.#speakerOf(where).merger.flush();
		this.#deliver(this.stamp(where, body));
	}

	/** Unordered: progress only has to come between the start and the result of the call. */
	deliverProgress(where: Where, body: EventBodyOf<"tool.progress">): void {
		if (!this.#isRefused(where.turnId, body.type)) this.#deliver(this.stamp(where, body));
	}

	#speakerOf({ turnId, agentPath }: Where): Speaker {
		const key = keyOf({ turnId, agentPath });
		let speaker = this.#mergers.get(key);
		if (speaker === undefined) {
			speaker = { merger: createDeltaMerger(), delivered: createDeltaMerger(), agentPath };
			this.#mergers.set(key, speaker);
		}
		return speaker;
	}

	stamp({ turnId, agentPath }: Where, body: EventBody): AgentEvent {
		return { sessionId: this.#sessionId, turnId, agentPath, at: this.#clock.now(), body };
	}

	async #drain(): Promise<void> {
		this.#draining = true;
		while (this.#waiting.length > 0) {
			const batch = this.#unrefused(this.#waiting.splice(0));
			let numbered: readonly AgentEvent[];
			try {
				numbered = await this.#persist(batch);
			} catch (thrown) {
				for (const { events, reject } of batch) {
					// A failure outside any turn must not replace a turn's recorded failure: the turn would continue with a gap.
					const turnId = events.at(-1)?.turnId ?? null;
					if (turnId !== null) this.#failed = { turnId, error: thrown };
					// Deliver the end of a compaction anyway: no other event reports it.
					for (const event of events) if (event.body.type === "compaction.ended") this.#deliver(event);
					reject(thrown);
				}
				continue;
			}
			// The turn may have failed meanwhile, but the events are stored: every client must receive them.
			const accepted = new Set(this.#unrefused(batch));
			let index = 0;
			for (const entry of batch) {
				const events = numbered.slice(index, index + entry.events.length);
				index += entry.events.length;
				entry.persistence.beforeDelivery?.();
				for (const event of events) if (accepted.has(entry) || event.seq !== undefined) this.#deliver(event);
				entry.resolve();
			}
		}
		this.#draining = false;
	}

	/** Rejects the entries whose turn has failed meanwhile. Returns the others. */
	#unrefused(entries: readonly Entry[]): readonly Entry[] {
		if (this.#failed === null) return entries;
		const { error } = this.#failed;
		return entries.filter(({ events, reject }) => {
			const isRefused = events.some(({ turnId, body }) => this.#isRefused(turnId, body.type));
			if (isRefused) reject(error);
			return !isRefused;
		});
	}

	/** After a persistence failure, the turn delivers only events that end something. */
	#isRefused(turnId: string | null, type: EventBody["type"]): boolean {
		return this.#hasFailed(turnId) && !ends.has(type);
	}

	#hasFailed(turnId: string | null): boolean {
		return turnId !== null && turnId === this.#failed?.turnId;
	}

	/** Stores the batch atomically. Returns its events with numbers. */
	async #persist(batch: readonly Entry[]): Promise<readonly AgentEvent[]> {
		const events = batch.flatMap((entry) => entry.events);
		const changes = batch.flatMap((entry) => entry.persistence.state ?? []);
		const state: Pick<Batch, "state"> = changes.length === 0 ? {} : { state: Object.assign({}, ...changes) };
		const sync = batch.some((entry) => entry.persistence.sync === true);
		const numbered = await this.#stored.commit({ events, ...state }, { sync });
		for (const [agentId, log] of this.#agentLogs) {
			const own = events.filter(({ agentPath }) => agentPath.at(-1)?.agentId === agentId);
			if (own.length > 0) await log.appendEvents(own);
		}
		return numbered;
	}

	#deliver(event: AgentEvent): void {
		this.#delivered = event.seq ?? this.#delivered;
		this.#mergers.get(keyOf(event))?.delivered.note(event.body);
		this.#pass(event);
	}

	#pass(event: AgentEvent): void {
		for (const listener of this.#listeners) listener(event);
		for (const feed of this.#feeds) feed.push(event);
	}

	#isFull(): boolean {
		for (const feed of this.#feeds) if (feed.isFull()) return true;
		return false;
	}

	/** Many events of one answer may wait at once. */
	#capacity(signal: AbortSignal): Promise<void> {
		if (this.#full?.signal === signal) return this.#full.over;
		const full = {
			signal,
			over: this.#awaitCapacity(signal).finally(() => {
				if (this.#full === full) this.#full = null;
			}),
		};
		this.#full = full;
		return full.over;
	}

	async #awaitCapacity(signal: AbortSignal): Promise<void> {
		for (const feed of this.#feeds) {
			if (!feed.isFull() || signal.aborted) continue;
			await unlessAborted(feed.capacity(), signal);
		}
	}
}

/** Events outside the turn do not interrupt delta merging in the turn. */
function keyOf({ turnId, agentPath }: Where): string | null {
	return turnId === null ? null : (agentPath.at(-1)?.agentId ?? "");
}
