// Sessions in memory: the twin of the store on disk, for tests and for servers that must leave no trace.
// What is kept outlives the session object, so that a session can be opened again from the same store.
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
import { createKeptBackground, type KeptBackground, openKeptBackground } from "./memory-tasks.ts";

interface KeptAgent {
	readonly description: AgentDescription;
	context: readonly ContextRow[];
}

/** `write` carries a change out while the session is open. */
function openKeptAgent(
	agents: Map<string, KeptAgent>,
	description: AgentDescription,
	write: (change: () => void) => Promise<void>,
): StoredAgent {
	const kept = agents.get(description.id) ?? { description, context: [] };
	agents.set(description.id, kept);
	return {
		description,
		contextRows: kept.context,
		begin: () => write(() => {}),
		setStatus: () => write(() => {}),
		appendContext: (rows) =>
			write(() => {
				kept.context = [...kept.context, ...rows];
			}),
		replaceContext: (rows) =>
			write(() => {
				kept.context = rows;
			}),
		appendEvents: () => write(() => {}),
		appendOutput: () => write(() => {}),
	};
}

interface KeptSession {
	context: ContextRow[];
	/** Whether anything was ever appended to the context: then opening finds the session. */
	hasContext: boolean;
	/** Whether it is there although nothing has happened in it. */
	isEstablished: boolean;
	readonly events: { readonly at: number; readonly message: MessageRecord }[];
	readonly agents: Map<string, KeptAgent>;
	readonly background: KeptBackground;
	readonly openCalls: UnfinishedCall[];
	used: SessionUse;
	state: SessionState;
	/** The number of the last append, counted over the store: the session written last is the newest. */
	writtenAt: number;
}

function createKeptSession(): KeptSession {
	return {
		context: [],
		hasContext: false,
		isEstablished: false,
		events: [],
		openCalls: [],
		used: nothingUsed,
		agents: new Map(),
		background: createKeptBackground(),
		state: initialState(),
		writtenAt: 0,
	};
}

/** Whether it is found by its id. */
function isFound(kept: KeptSession): boolean {
	return kept.hasContext || kept.events.length > 0;
}

function isEmpty(kept: KeptSession): boolean {
	return (
		kept.state.customTitle === null && kept.events.length === 0 && !kept.context.some((row) => row.type === "message")
	);
}

function titleOf(kept: KeptSession): string {
	if (kept.state.customTitle !== null) return kept.state.customTitle;
	for (const { message } of kept.events) {
		const record = fromRecord(message);
		if (record?.body.type !== "turn.started" || record.agentPath.length > 0) continue;
		const title = toTitle(record.body.input);
		if (title !== null) return title;
	}
	return untitled;
}

/** The rows after an append: a system prompt for a context that has rows but none such goes before them. */
function withRows(context: readonly ContextRow[], rows: readonly ContextRow[]): ContextRow[] {
	const [first, ...others] = rows;
	const lacksPrompt = context.length > 0 && !context.some((row) => row.type === "system-prompt");
	return lacksPrompt && first?.type === "system-prompt" ? [first, ...context, ...others] : [...context, ...rows];
}

/** An empty store; `directory` of its sessions is null. */
export function createMemoryStore(): SessionStore {
	const workDirs = new Map<string, Map<string, KeptSession>>();
	const lastSessions = new Map<string, string>();
	let appends = 0;

	const openKept = (workDir: string, id: string, found: KeptSession | null): StoredSession => {
		let kept = found ?? createKeptSession();
		// A session that starts afresh takes over the title alone.
		if (!kept.hasContext) kept.state = { ...initialState(), customTitle: kept.state.customTitle };
		let closed = false;

		const write = async (change: () => void): Promise<void> => {
			if (closed) throw new KernelError("closed", "The session is closed.");
			const sessions = workDirs.get(workDir) ?? new Map<string, KeptSession>();
			workDirs.set(workDir, sessions);
			kept = sessions.get(id) ?? kept;
			sessions.set(id, kept);
			change();
		};

		const append = (change: () => void): Promise<void> =>
			write(() => {
				appends += 1;
				kept.writtenAt = appends;
				change();
			});

		async function* events(): AsyncGenerator<AgentEvent> {
			for (const { at, message } of kept.events.slice()) {
				const record = fromRecord(message);
				if (record !== null) yield { sessionId: id, turnId: null, at, ...record };
			}
		}

		return {
			id,
			workDir,
			directory: null,
			existed: kept.hasContext,
			contextRows: kept.context,
			unfinishedCalls: [...kept.openCalls],
			used: kept.used,
			state: () => kept.state,
			updateState: (change) =>
				write(() => {
					kept.state = { ...kept.state, ...change };
				}),
			appendContext: (rows) =>
				append(() => {
					kept.context = withRows(kept.context, rows);
					kept.hasContext ||= rows.length > 0;
				}),
			replaceContext: (rows) =>
				append(() => {
					kept.context = [...rows];
					kept.hasContext ||= rows.length > 0;
				}),
			appendEvents: (batch) =>
				append(() => {
					for (const event of batch) {
						const message = toRecord(event);
						// A copy, as a file would hold: what its maker does with the event later is not in the log.
						if (message !== null) kept.events.push({ at: event.at, message: structuredClone(message) });
					}
				}),
			appendCalls: (records) =>
				write(() => {
					for (const record of records) {
						noteCall(kept.openCalls, record);
						kept.used = noteUse(kept.used, record);
					}
				}),
			createAgent: async (description) => openKeptAgent(kept.agents, description, write),
			async openAgent(agentId) {
				const agent = kept.agents.get(agentId);
				return agent === undefined ? null : openKeptAgent(kept.agents, agent.description, write);
			},
			...openKeptBackground(kept.background, write),
			sync: async () => {},
			events,
			async markStarted() {
				if (closed) throw new KernelError("closed", "The session is closed.");
				lastSessions.set(workDir, id);
			},
			establish: () =>
				write(() => {
					kept.hasContext = true;
					kept.isEstablished = true;
				}),
			async close({ becomesLast = true } = {}) {
				if (closed) return;
				closed = true;
				if (!isEmpty(kept)) {
					if (becomesLast) lastSessions.set(workDir, id);
					return;
				}
				if (kept.isEstablished) return;
				workDirs.get(workDir)?.delete(id);
				if (lastSessions.get(workDir) === id) lastSessions.delete(workDir);
			},
		};
	};

	const find = (workDir: string, id: string): KeptSession | null => workDirs.get(workDir)?.get(id) ?? null;

	return {
		async openOrCreate(spelled, id) {
			const workDir = toWorkDir(spelled);
			checkSessionId(id);
			return openKept(workDir, id, find(workDir, id));
		},
		async open(spelled, id) {
			const workDir = toWorkDir(spelled);
			checkSessionId(id);
			const kept = find(workDir, id);
			return kept !== null && isFound(kept) ? openKept(workDir, id, kept) : null;
		},
		async readContext(spelled, id) {
			const workDir = toWorkDir(spelled);
			checkSessionId(id);
			const kept = find(workDir, id);
			return kept?.hasContext === true ? kept.context : null;
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
			const kept = [...(workDirs.get(workDir) ?? [])].filter(([, session]) => !isEmpty(session));
			kept.sort(([, one], [, other]) => other.writtenAt - one.writtenAt);
			return kept.map(([id, session]): SessionSummary => ({ id, workDir, title: titleOf(session) }));
		},
	};
}
