// One session of the memory store, and the data of all sessions.
import { randomUUID } from "node:crypto";
import type { ContextRow } from "../../../api/values/conversation.ts";
import { type AgentEvent, eventDeclarations } from "../../../api/values/event.ts";
import { KernelError } from "../../../base/errors.ts";
import { initialState, withoutContext } from "../disk/state-file.ts";
import { RunningSummary } from "../journal-summary.ts";
import type { AgentDescription, Batch, SessionState, StoredAgent, StoredSession } from "../session-store.ts";
import { createMemoryBackground, type MemoryBackground, openMemoryBackground } from "./memory-tasks.ts";

interface MemoryAgent {
	readonly description: AgentDescription;
	context: readonly ContextRow[];
}

/** Events read back per batch. */
const batchLength = 256;

/** `write` applies a change while the session is open. */
function openMemoryAgent(
	agents: Map<string, MemoryAgent>,
	description: AgentDescription,
	write: (change: () => void) => Promise<void>,
): StoredAgent {
	const persisted = agents.get(description.id) ?? { description, context: [] };
	agents.set(description.id, persisted);
	return {
		description,
		contextRows: persisted.context,
		begin: () => write(() => {}),
		setStatus: () => write(() => {}),
		changeContext: ({ kind, rows }) =>
			write(() => {
				persisted.context = kind === "append" ? [...persisted.context, ...rows] : rows;
			}),
		appendEvents: () => write(() => {}),
		appendOutput: () => write(() => {}),
	};
}

export interface MemorySession {
	context: ContextRow[];
	/** Whether anything was ever appended to the context: then opening finds the session. */
	hasContext: boolean;
	/** Whether it exists without any activity. */
	isEstablished: boolean;
	/** The durable events: event number n is at index n - 1. */
	readonly events: AgentEvent[];
	readonly epoch: string;
	readonly summary: RunningSummary;
	readonly agents: Map<string, MemoryAgent>;
	readonly background: MemoryBackground;
	state: SessionState;
	/** Milliseconds since the epoch; unique within the store. */
	writtenAt: number;
}

function createMemorySession(): MemorySession {
	return {
		context: [],
		hasContext: false,
		isEstablished: false,
		events: [],
		epoch: randomUUID(),
		summary: new RunningSummary(),
		agents: new Map(),
		background: createMemoryBackground(),
		state: initialState(),
		writtenAt: 0,
	};
}

export function isEmpty(persisted: MemorySession): boolean {
	return (
		persisted.state.customTitle === null &&
		persisted.events.length === 0 &&
		!persisted.context.some((row) => row.type === "message")
	);
}

/** The rows after an append: a system prompt for rows without one goes before them. */
function withRows(context: readonly ContextRow[], rows: readonly ContextRow[]): ContextRow[] {
	const [first, ...others] = rows;
	const lacksPrompt = context.length > 0 && !context.some((row) => row.type === "system-prompt");
	return lacksPrompt && first?.type === "system-prompt" ? [first, ...context, ...others] : [...context, ...rows];
}

export type Places = Map<string, Map<string, MemorySession>>;

export class MemoryData {
	readonly workDirs: Places = new Map();
	readonly lastSessions = new Map<string, string>();
	readonly openings = new Map<string, number>();
	#writtenLast = 0;

	find(workDir: string, id: string): MemorySession | null {
		return this.workDirs.get(workDir)?.get(id) ?? null;
	}

	writeTime(): number {
		this.#writtenLast = Math.max(Date.now(), this.#writtenLast + 1);
		return this.#writtenLast;
	}
}

function addEvent(persisted: MemorySession, event: AgentEvent): AgentEvent {
	if (eventDeclarations[event.body.type].class === "volatile") return event;
	const { epoch, events, summary } = persisted;
	const numbered = { ...event, seq: events.length + 1, epoch };
	// A copy, as in a file: later changes to the event object must not change the history.
	events.push(structuredClone(numbered));
	summary.addEvent(numbered);
	return numbered;
}

function applyBatch(persisted: MemorySession, { events = [], context, state }: Batch): readonly AgentEvent[] {
	const numbered = events.map((event) => addEvent(persisted, event));
	if (context !== undefined) {
		const { kind, rows } = context;
		persisted.context = kind === "append" ? withRows(persisted.context, rows) : [...rows];
		persisted.hasContext ||= rows.length > 0;
		persisted.summary.addContext(context);
	}
	if (state !== undefined) persisted.state = { ...persisted.state, ...state };
	return numbered;
}

async function* inBatches(events: readonly AgentEvent[]): AsyncGenerator<readonly AgentEvent[]> {
	for (let start = 0; start < events.length; start += batchLength) yield events.slice(start, start + batchLength);
}

/** `places` is where the session is written. */
export function openMemory(
	data: MemoryData,
	workDir: string,
	id: string,
	places: Places = data.workDirs,
): StoredSession {
	let persisted = places.get(workDir)?.get(id) ?? createMemorySession();
	if (!persisted.hasContext) persisted.state = withoutContext(persisted.state);
	let closed = false;
	const place = `${workDir}/${id}`;
	data.openings.set(place, (data.openings.get(place) ?? 0) + 1);

	const write = async (change: () => void): Promise<void> => {
		if (closed) throw new KernelError("closed", "The session is closed.");
		const sessions = places.get(workDir) ?? new Map<string, MemorySession>();
		places.set(workDir, sessions);
		persisted = sessions.get(id) ?? persisted;
		sessions.set(id, persisted);
		change();
	};

	return {
		id,
		workDir,
		directory: null,
		existed: persisted.hasContext,
		contextRows: persisted.context,
		summary: persisted.summary.current,
		cursor: () => ({ epoch: persisted.epoch, seq: persisted.events.length }),
		state: () => persisted.state,
		async commit(batch) {
			let numbered: readonly AgentEvent[] = [];
			await write(() => {
				persisted.writtenAt = data.writeTime();
				numbered = applyBatch(persisted, batch);
			});
			return numbered;
		},
		events: (after = 0) => inBatches(persisted.events.slice(after)),
		// No other process knows about it.
		lost: new Promise(() => {}),
		createAgent: async (description) => openMemoryAgent(persisted.agents, description, write),
		async openAgent(agentId) {
			const agent = persisted.agents.get(agentId);
			return agent === undefined ? null : openMemoryAgent(persisted.agents, agent.description, write);
		},
		...openMemoryBackground(persisted.background, write),
		async markStarted() {
			if (closed) throw new KernelError("closed", "The session is closed.");
			data.lastSessions.set(workDir, id);
		},
		establish: () =>
			write(() => {
				persisted.hasContext = true;
				persisted.isEstablished = true;
			}),
		async close({ becomesLast = true } = {}) {
			if (closed) return;
			closed = true;
			data.openings.set(place, (data.openings.get(place) ?? 1) - 1);
			if (!isEmpty(persisted)) {
				if (becomesLast) data.lastSessions.set(workDir, id);
				return;
			}
			if (persisted.isEstablished) return;
			places.get(workDir)?.delete(id);
			if (data.lastSessions.get(workDir) === id) data.lastSessions.delete(workDir);
		},
	};
}
