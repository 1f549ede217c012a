import type { SessionSummary } from "../../../api/session-list.ts";
import type { SessionRecords } from "../session-records.ts";
import { createMemorySession, isEmpty, isFound, type MemorySession, toSummary } from "./memory-data.ts";
import { createRecordLog, listSessions, readSession, readWorkDir } from "./record-log.ts";

export type Places = Map<string, Map<string, MemorySession>>;

export function toSessions(places: Places, workDir: string): Map<string, MemorySession> {
	const sessions = places.get(workDir) ?? new Map<string, MemorySession>();
	places.set(workDir, sessions);
	return sessions;
}

export class MemoryData {
	readonly workDirs: Places = new Map();
	readonly lastSessions = new Map<string, string>();
	readonly openings = new Map<string, number>();
	readonly #records: SessionRecords | null;
	#writtenLast = 0;

	constructor(records: SessionRecords | null) {
		this.#records = records;
	}

	async find(workDir: string, id: string): Promise<MemorySession | null> {
		const loaded = () => this.workDirs.get(workDir)?.get(id) ?? null;
		if (this.#records === null || loaded() !== null) return loaded();
		const read = await readSession(this.#records, id);
		if (read === null || read.workDir !== workDir) return null;
		this.#log(workDir, id, read.session);
		// Somebody else may have opened it in the meantime.
		return loaded() ?? read.session;
	}

	async workDirOf(id: string): Promise<string | null> {
		for (const [workDir, sessions] of this.workDirs) {
			const session = sessions.get(id);
			if (session !== undefined && isFound(session)) return workDir;
		}
		return this.#records === null ? null : await readWorkDir(this.#records, id);
	}

	async list(workDir: string | null, withUnused: boolean): Promise<readonly SessionSummary[]> {
		if (this.#records !== null) return await listSessions(this.#records, workDir, withUnused);
		const chosen = workDir === null ? [...this.workDirs.keys()] : [workDir];
		return chosen.flatMap((each) =>
			[...(this.workDirs.get(each) ?? [])]
				.filter(([, session]) => !isEmpty(session) || (withUnused && session.isEstablished))
				.map(([id, session]) => toSummary(each, id, session)),
		);
	}

	create(workDir: string, id: string): MemorySession {
		const session = createMemorySession();
		this.#log(workDir, id, session);
		return session;
	}

	/** Makes a session that was written elsewhere one of the store. */
	keep(workDir: string, id: string, session: MemorySession): void {
		if (this.#records === null) toSessions(this.workDirs, workDir).set(id, session);
	}

	writeTime(): number {
		this.#writtenLast = Math.max(Date.now(), this.#writtenLast + 1);
		return this.#writtenLast;
	}

	/** Forgets a session that is stored elsewhere too. */
	forget(workDir: string, id: string, session: MemorySession): void {
		const sessions = this.workDirs.get(workDir);
		if (session.log !== null && sessions?.get(id) === session) sessions.delete(id);
	}

	#log(workDir: string, id: string, session: MemorySession): void {
		if (this.#records === null) return;
		session.log = createRecordLog(this.#records, workDir, id, session);
		void session.log.lost.then(() => this.forget(workDir, id, session));
	}
}
