// Sessions in memory, for tests and for servers that must leave no trace. Stored data outlives the session object, so that a
// session can be reopened from the same store.
import { KernelError } from "../../../base/errors.ts";
import { checkSessionId, toWorkDir } from "../disk/work-dir.ts";
import { toPage } from "../session-page.ts";
import { refusePlacement, type SessionStore, type SessionSummary, type StoredSession } from "../session-store.ts";
import { toTitle, untitled } from "../title.ts";
import { isEmpty, MemoryData, type MemorySession, openMemory, type Places } from "./memory-session.ts";

function isFound(persisted: MemorySession): boolean {
	return persisted.hasContext || persisted.events.length > 0;
}

function isFoundIn(sessions: ReadonlyMap<string, MemorySession>, id: string): boolean {
	const persisted = sessions.get(id);
	return persisted !== undefined && isFound(persisted);
}

function titleOf(persisted: MemorySession): string {
	if (persisted.state.customTitle !== null) return persisted.state.customTitle;
	for (const { body, agentPath } of persisted.events) {
		if (body.type !== "turn.started" || agentPath.length > 0) continue;
		const title = toTitle(body.input);
		if (title !== null) return title;
	}
	return untitled;
}

function toSummary(workDir: string, id: string, persisted: MemorySession): SessionSummary {
	const { state, writtenAt: updatedAt } = persisted;
	const archivedAt = state.archivedAt === null ? null : state.archivedAt * 1000;
	return { id, workDir, title: titleOf(persisted), updatedAt, archivedAt };
}

async function createMemory(
	data: MemoryData,
	workDir: string,
	id: string,
	fill: (session: StoredSession) => Promise<void>,
): Promise<void> {
	const refuseKnown = () => {
		if (data.find(workDir, id) === null) return;
		throw new KernelError("busy", `There is a session ${id} already: choose another id.`);
	};
	refuseKnown();
	// Hidden until complete.
	const staged: Places = new Map();
	const session = openMemory(data, workDir, id, staged);
	try {
		await fill(session);
		await session.establish();
	} finally {
		await session.close({ becomesLast: false });
	}
	refuseKnown();
	const sessions = data.workDirs.get(workDir) ?? new Map<string, MemorySession>();
	for (const [key, written] of staged.get(workDir) ?? []) sessions.set(key, written);
	data.workDirs.set(workDir, sessions);
}

/** Creates an empty store; `directory` of its sessions is null. */
export function createMemoryStore(): SessionStore {
	const data = new MemoryData();
	return {
		async openOrCreate(spelled, id, placement) {
			refusePlacement(placement);
			const workDir = toWorkDir(spelled);
			checkSessionId(id);
			return openMemory(data, workDir, id);
		},
		async create(spelled, id, fill) {
			checkSessionId(id);
			await createMemory(data, toWorkDir(spelled), id, fill);
		},
		async open(spelled, id) {
			const workDir = toWorkDir(spelled);
			checkSessionId(id);
			const persisted = data.find(workDir, id);
			return persisted !== null && isFound(persisted) ? openMemory(data, workDir, id) : null;
		},
		async view(spelled, id) {
			const workDir = toWorkDir(spelled);
			checkSessionId(id);
			const persisted = data.find(workDir, id);
			if (persisted === null || !isFound(persisted)) return null;
			const session = openMemory(data, workDir, id);
			await session.close({ becomesLast: false });
			const { length } = persisted.events;
			const { state, context } = persisted;
			const isCurrent = async () =>
				persisted.events.length === length && persisted.state === state && persisted.context === context;
			return { ...session, isCurrent };
		},
		// There are no other processes.
		owner: async () => null,
		async readContext(spelled, id) {
			const workDir = toWorkDir(spelled);
			checkSessionId(id);
			const persisted = data.find(workDir, id);
			return persisted?.hasContext === true ? persisted.context : null;
		},
		async *readEvents(spelled, id) {
			checkSessionId(id);
			yield structuredClone(data.find(toWorkDir(spelled), id)?.events ?? []);
		},
		async workDirOf(id) {
			checkSessionId(id);
			const found = [...data.workDirs].find(([, sessions]) => isFoundIn(sessions, id));
			return found?.[0] ?? null;
		},
		async lastSessionId(spelled) {
			const workDir = toWorkDir(spelled);
			const id = data.lastSessions.get(workDir);
			return id !== undefined && data.find(workDir, id)?.hasContext === true ? id : null;
		},
		async delete(spelled, id) {
			const workDir = toWorkDir(spelled);
			checkSessionId(id);
			if ((data.openings.get(`${workDir}/${id}`) ?? 0) > 0)
				throw new KernelError("busy", `The session ${id} cannot be deleted, because it is open: close it first.`);
			data.workDirs.get(workDir)?.delete(id);
			if (data.lastSessions.get(workDir) === id) data.lastSessions.delete(workDir);
		},
		async list(query) {
			const chosen = query.workDir === undefined ? [...data.workDirs.keys()] : [toWorkDir(query.workDir)];
			const summaries = chosen.flatMap((workDir) =>
				[...(data.workDirs.get(workDir) ?? [])]
					.filter(([, session]) => !isEmpty(session) || (query.withUnused === true && session.isEstablished))
					.map(([id, session]) => toSummary(workDir, id, session)),
			);
			return toPage(summaries, query);
		},
		async close() {},
	};
}
