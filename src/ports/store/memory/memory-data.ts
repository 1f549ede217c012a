import { randomUUID } from "node:crypto";
import type { SessionSummary } from "../../../api/session-list.ts";
import type { ContextRow } from "../../../api/values/conversation.ts";
import { type AgentEvent, eventDeclarations } from "../../../api/values/event.ts";
import type { KernelError } from "../../../base/errors.ts";
import { initialState } from "../disk/state-file.ts";
import { RunningSummary } from "../journal-summary.ts";
import type { AgentDescription, Batch, SessionState } from "../session-store.ts";
import { toTitle, untitled } from "../title.ts";
import { applyBackground, createMemoryBackground, type MemoryBackground } from "./memory-tasks.ts";
import type { SessionChange } from "./session-change.ts";

interface MemoryAgent {
	readonly description: AgentDescription;
	readonly context: readonly ContextRow[];
}

/** Where the changes of a session are stored besides memory. */
export interface ChangeLog {
	/** Stores changes that are applied already, after the ones before them. */
	add(changes: readonly SessionChange[]): Promise<void>;
	/** Resolves once every change is stored, or failed to be. */
	settled(): Promise<void>;
	delete(): Promise<void>;
	/** Resolves with the reason once a change could not be stored: the session has to be read again. */
	readonly lost: Promise<KernelError>;
}

export interface MemorySession {
	context: ContextRow[];
	/** Whether anything was ever appended to the context: then opening finds the session. */
	hasContext: boolean;
	isEstablished: boolean;
	/** The durable events: event number n is at index n - 1. */
	readonly events: AgentEvent[];
	readonly epoch: string;
	readonly summary: RunningSummary;
	readonly agents: Map<string, MemoryAgent>;
	readonly background: MemoryBackground;
	state: SessionState;
	writtenAt: number;
	/** How many changes were applied. */
	changes: number;
	/** Null for sessions in memory alone. */
	log: ChangeLog | null;
}

export function createMemorySession(epoch: string = randomUUID()): MemorySession {
	return {
		context: [],
		hasContext: false,
		isEstablished: false,
		events: [],
		epoch,
		summary: new RunningSummary(),
		agents: new Map(),
		background: createMemoryBackground(),
		state: initialState(),
		writtenAt: 0,
		changes: 0,
		log: null,
	};
}

export function isEmpty(persisted: MemorySession): boolean {
	return (
		persisted.state.customTitle === null &&
		persisted.events.length === 0 &&
		!persisted.context.some((row) => row.type === "message")
	);
}

export function isFound({ hasContext, events }: MemorySession): boolean {
	return hasContext || events.length > 0;
}

function titleOf({ state, events }: MemorySession): string {
	if (state.customTitle !== null) return state.customTitle;
	for (const { body, agentPath } of events) {
		if (body.type !== "turn.started" || agentPath.length > 0) continue;
		const title = toTitle(body.input);
		if (title !== null) return title;
	}
	return untitled;
}

export function toSummary(workDir: string, id: string, session: MemorySession): SessionSummary {
	const { state, writtenAt: updatedAt } = session;
	const archivedAt = state.archivedAt === null ? null : state.archivedAt * 1000;
	return { id, workDir, title: titleOf(session), updatedAt, archivedAt };
}

function withRows(context: readonly ContextRow[], rows: readonly ContextRow[]): ContextRow[] {
	const [first, ...others] = rows;
	const lacksPrompt = context.length > 0 && !context.some((row) => row.type === "system-prompt");
	return lacksPrompt && first?.type === "system-prompt" ? [first, ...context, ...others] : [...context, ...rows];
}

/** The batch as a change, and its events with the durable ones numbered. */
export function toCommit(
	{ events: before, epoch }: MemorySession,
	{ events = [], context, state = {} }: Batch,
	at: number,
): { readonly change: SessionChange; readonly numbered: readonly AgentEvent[] } {
	const durable: AgentEvent[] = [];
	const numbered = events.map((event) => {
		if (eventDeclarations[event.body.type].class === "volatile") return event;
		const stored = { ...event, seq: before.length + durable.length + 1, epoch };
		// A copy, as in a file: later changes to the event object must not change the history.
		durable.push(structuredClone(stored));
		return stored;
	});
	return { change: { type: "commit", at, events: durable, context: context ?? null, state }, numbered };
}

export function applyChange(session: MemorySession, change: SessionChange): void {
	session.changes += 1;
	switch (change.type) {
		case "commit": {
			const { at, events, context, state } = change;
			session.writtenAt = at;
			for (const event of events) session.summary.addEvent(event);
			session.events.push(...events);
			if (context !== null) {
				const { kind, rows } = context;
				session.context = kind === "append" ? withRows(session.context, rows) : [...rows];
				session.hasContext ||= rows.length > 0;
				session.summary.addContext(context);
			}
			session.state = { ...session.state, ...state };
			return;
		}
		case "established":
			session.hasContext = true;
			session.isEstablished = true;
			return;
		case "agent": {
			const { description, context } = change;
			const before = context.kind === "append" ? (session.agents.get(description.id)?.context ?? []) : [];
			session.agents.set(description.id, { description, context: [...before, ...context.rows] });
			return;
		}
		case "task":
		case "task-removed":
		case "notification":
			applyBackground(session.background, change);
			return;
	}
}
