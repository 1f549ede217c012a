// Sessions in memory, or with records in the embedding program's store. Data outlives the session object, which can be reopened.
import { KernelError } from "../../../base/errors.ts";
import { checkSessionId, toWorkDir } from "../disk/work-dir.ts";
import { toPage } from "../session-page.ts";
import type { SessionRecords } from "../session-records.ts";
import { refusePlacement, type SessionStore, type StoredSession } from "../session-store.ts";
import { isFound, type MemorySession } from "./memory-data.ts";
import { openMemory } from "./memory-session.ts";
import { MemoryData } from "./memory-sessions.ts";
import { holdChanges } from "./record-log.ts";

async function createMemory(
	data: MemoryData,
	workDir: string,
	id: string,
	fill: (session: StoredSession) => Promise<void>,
): Promise<void> {
	const refuseKnown = (known: MemorySession | null) => {
		if (known !== null) throw new KernelError("busy", `There is a session ${id} already: choose another id.`);
	};
	refuseKnown(await data.find(workDir, id));
	// Hidden until complete.
	const created = data.create(workDir, id);
	const release = holdChanges(created);
	const session = openMemory(data, created, { workDir, id, places: new Map() });
	try {
		await fill(session);
		await session.establish();
	} finally {
		await session.close({ becomesLast: false });
	}
	// Another creation may have come first.
	await release().catch(async (thrown: unknown) => {
		refuseKnown(await data.find(workDir, id));
		throw thrown;
	});
	refuseKnown(data.workDirs.get(workDir)?.get(id) ?? null);
	data.keep(workDir, id, created);
}

/** Creates a store with the sessions of `records`; without, an empty one. `directory` of its sessions is null. */
export function createMemoryStore(records: SessionRecords | null = null): SessionStore {
	const data = new MemoryData(records);
	const find = async (spelled: string, id: string) => {
		const workDir = toWorkDir(spelled);
		checkSessionId(id);
		const session = await data.find(workDir, id);
		return { workDir, id, session, places: data.workDirs };
	};
	return {
		async openOrCreate(spelled, id, placement) {
			refusePlacement(placement);
			const { session, ...place } = await find(spelled, id);
			return openMemory(data, session ?? data.create(place.workDir, id), place);
		},
		async create(spelled, id, fill) {
			checkSessionId(id);
			await createMemory(data, toWorkDir(spelled), id, fill);
		},
		async open(spelled, id) {
			const { session, ...place } = await find(spelled, id);
			return session !== null && isFound(session) ? openMemory(data, session, place) : null;
		},
		async view(spelled, id) {
			const { session, ...place } = await find(spelled, id);
			if (session === null || !isFound(session)) return null;
			const { changes } = session;
			const isCurrent = async () => (await data.find(place.workDir, id))?.changes === changes;
			return { ...openMemory(data, session, { ...place, isView: true }), isCurrent };
		},
		// There are no other processes.
		owner: async () => null,
		async readContext(spelled, id) {
			const { session } = await find(spelled, id);
			return session?.hasContext === true ? session.context : null;
		},
		async *readEvents(spelled, id) {
			const { session } = await find(spelled, id);
			yield structuredClone(session?.events ?? []);
		},
		async workDirOf(id) {
			checkSessionId(id);
			return await data.workDirOf(id);
		},
		async lastSessionId(spelled) {
			const workDir = toWorkDir(spelled);
			const id = data.lastSessions.get(workDir);
			return id !== undefined && (await data.find(workDir, id))?.hasContext === true ? id : null;
		},
		async delete(spelled, id) {
			const { workDir, session } = await find(spelled, id);
			if ((data.openings.get(`${workDir}/${id}`) ?? 0) > 0)
				throw new KernelError("busy", `The session ${id} cannot be deleted, because it is open: close it first.`);
			data.workDirs.get(workDir)?.delete(id);
			if (data.lastSessions.get(workDir) === id) data.lastSessions.delete(workDir);
			await session?.log?.delete();
		},
		async list({ workDir, withUnused = false, ...page }) {
			const within = workDir === undefined ? null : toWorkDir(workDir);
			return toPage(await data.list(within, withUnused), page);
		},
		async close() {},
	};
}
