// Sessions in memory: the counterpart of the store on disk, for tests and for servers that must leave no trace. The
// stored data outlive the session object, so that a session can be opened again from the same store.
import { KernelError } from "../../base/errors.ts";
import type { ContextRow } from "../../events/conversation.ts";
import type { AgentEvent } from "../../events/event.ts";
import { fromRecord, type MessageRecord, toRecord } from "../../messages/record.ts";
import { noteCall, noteUse } from "../disk/call-journal.ts";
import { initialState } from "../disk/state-file.ts";
import { checkSessionId, toWorkDir } from "../disk/work-dir.ts";
import {
	type AgentDescription,
	nothingUsed,
	type SessionState,
	type SessionStore,
	type SessionSummary,
	type SessionUse,
	type StoredAgent,
	type StoredSession,
	type UnfinishedCall,
} from "../session-store.ts";
import { toTitle, untitled } from "../title.ts";
import { createMemoryBackground, type MemoryBackground, openMemoryBackground } from "./memory-tasks.ts";

interface MemoryAgent {
	readonly description: AgentDescription;
	context: readonly ContextRow[];
}

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
		appendContext: (rows) =>
			write(() => {
				persisted.context = [...persisted.context, ...rows];
			}),
		replaceContext: (rows) =>
			write(() => {
				persisted.context = rows;
			}),
		appendEvents: () => write(() => {}),
		appendOutput: () => write(() => {}),
	};
}

interface MemorySession {
	context: ContextRow[];
	/** Whether anything was ever appended to the context: then opening finds the session. */
	hasContext: boolean;
	/** Whether it exists although nothing has happened in it. */
	isEstablished: boolean;
	readonly events: { readonly at: number; readonly message: MessageRecord }[];
	readonly agents: Map<string, MemoryAgent>;
	readonly background: MemoryBackground;
	readonly openCalls: UnfinishedCall[];
	used: SessionUse;
	state: SessionState;
	/** The number of the last append, counted over the store: the session written last is the newest. */
	writtenAt: number;
}

function createMemorySession(): MemorySession {
	return {
		context: [],
		hasContext: false,
		isEstablished: false,
		events: [],
		openCalls: [],
		used: nothingUsed,
		agents: new Map(),
		background: createMemoryBackground(),
		state: initialState(),
		writtenAt: 0,
	};
}

/** Whether it is found by its id. */
function isFound(persisted: MemorySession): boolean {
	return persisted.hasContext || persisted.events.length > 0;
}

function isEmpty(persisted: MemorySession): boolean {
	return (
		persisted.state.customTitle === null &&
		persisted.events.length === 0 &&
		!persisted.context.some((row) => row.type === "message")
	);
}

function titleOf(persisted: MemorySession): string {
	if (persisted.state.customTitle !== null) return persisted.state.customTitle;
	for (const { message } of persisted.events) {
		const record = fromRecord(message);
		if (record?.body.type !== "turn.started" || record.agentPath.length > 0) continue;
		const title = toTitle(record.body.input);
		if (title !== null) return title;
	}
	return untitled;
}

/** The rows after an append: a system prompt for a context that has rows but no prompt goes before them. */
function withRows(context: readonly ContextRow[], rows: readonly ContextRow[]): ContextRow[] {
	const [first, ...others] = rows;
	const lacksPrompt = context.length > 0 && !context.some((row) => row.type === "system-prompt");
	return lacksPrompt && first?.type === "system-prompt" ? [first, ...context, ...others] : [...context, ...rows];
}

/** An empty store; `directory` of its sessions is null. */
export function createMemoryStore(): SessionStore {
	const workDirs = new Map<string, Map<string, MemorySession>>();
	const lastSessions = new Map<string, string>();
	let appends = 0;

	const openMemory = (workDir: string, id: string, found: MemorySession | null): StoredSession => {
		let persisted = found ?? createMemorySession();
		// A session that starts afresh adopts only the title.
		if (!persisted.hasContext) persisted.state = { ...initialState(), customTitle: persisted.state.customTitle };
		let closed = false;

		const write = async (change: () => void): Promise<void> => {
			if (closed) throw new KernelError("closed", "The session is closed.");
			const sessions = workDirs.get(workDir) ?? new Map<string, MemorySession>();
			workDirs.set(workDir, sessions);
			persisted = sessions.get(id) ?? persisted;
			sessions.set(id, persisted);
			change();
		};

		const append = (change: () => void): Promise<void> =>
			write(() => {
				appends += 1;
				persisted.writtenAt = appends;
				change();
			});

		async function* events(): AsyncGenerator<AgentEvent> {
			for (const { at, message } of persisted.events.slice()) {
				const record = fromRecord(message);
				if (record !== null) yield { sessionId: id, turnId: null, at, ...record };
			}
		}

		return {
			id,
			workDir,
			directory: null,
			existed: persisted.hasContext,
			contextRows: persisted.context,
			unfinishedCalls: [...persisted.openCalls],
			used: persisted.used,
			state: () => persisted.state,
			updateState: (change) =>
				write(() => {
					persisted.state = { ...persisted.state, ...change };
				}),
			appendContext: (rows) =>
				append(() => {
					persisted.context = withRows(persisted.context, rows);
					persisted.hasContext ||= rows.length > 0;
				}),
			replaceContext: (rows) =>
				append(() => {
					persisted.context = [...rows];
					persisted.hasContext ||= rows.length > 0;
				}),
			appendEvents: (batch) =>
				append(() => {
					for (const event of batch) {
						const message = toRecord(event);
						// A copy, as in a file: later changes to the event object must not change the log.
						if (message !== null) persisted.events.push({ at: event.at, message: structuredClone(message) });
					}
				}),
			appendCalls: (records) =>
				write(() => {
					for (const record of records) {
						noteCall(persisted.openCalls, record);
						persisted.used = noteUse(persisted.used, record);
					}
				}),
			createAgent: async (description) => openMemoryAgent(persisted.agents, description, write),
			async openAgent(agentId) {
				const agent = persisted.agents.get(agentId);
				return agent === undefined ? null : openMemoryAgent(persisted.agents, agent.description, write);
			},
			...openMemoryBackground(persisted.background, write),
			sync: async () => {},
			events,
			async markStarted() {
				if (closed) throw new KernelError("closed", "The session is closed.");
				lastSessions.set(workDir, id);
			},
			establish: () =>
				write(() => {
					persisted.hasContext = true;
					persisted.isEstablished = true;
				}),
			async close({ becomesLast = true } = {}) {
				if (closed) return;
				closed = true;
				if (!isEmpty(persisted)) {
					if (becomesLast) lastSessions.set(workDir, id);
					return;
				}
				if (persisted.isEstablished) return;
				workDirs.get(workDir)?.delete(id);
				if (lastSessions.get(workDir) === id) lastSessions.delete(workDir);
			},
		};
	};

	const find = (workDir: string, id: string): MemorySession | null => workDirs.get(workDir)?.get(id) ?? null;

	return {
		async openOrCreate(spelled, id) {
			const workDir = toWorkDir(spelled);
			checkSessionId(id);
			return openMemory(workDir, id, find(workDir, id));
		},
		async open(spelled, id) {
			const workDir = toWorkDir(spelled);
			checkSessionId(id);
			const persisted = find(workDir, id);
			return persisted !== null && isFound(persisted) ? openMemory(workDir, id, persisted) : null;
		},
		async readContext(spelled, id) {
			const workDir = toWorkDir(spelled);
			checkSessionId(id);
			const persisted = find(workDir, id);
			return persisted?.hasContext === true ? persisted.context : null;
		},
		async workDirOf(id) {
			checkSessionId(id);
			const found = [...workDirs].find(([, sessions]) => sessions.get(id)?.hasContext === true);
			return found?.[0] ?? null;
		},
		async lastSessionId(spelled) {
			const workDir = toWorkDir(spelled);
			const id = lastSessions.get(workDir);
			return id !== undefined && find(workDir, id)?.hasContext === true ? id : null;
		},
		async list(spelled) {
			const workDir = toWorkDir(spelled);
			const persisted = [...(workDirs.get(workDir) ?? [])].filter(([, session]) => !isEmpty(session));
			persisted.sort(([, one], [, other]) => other.writtenAt - one.writtenAt);
			return persisted.map(([id, session]): SessionSummary => ({ id, workDir, title: titleOf(session) }));
		},
	};
}
