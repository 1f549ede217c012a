import path from "node:path";
import type { ListQuery, Placement, SessionPage } from "../../../api/session-list.ts";
import type { ContextRow } from "../../../api/values/conversation.ts";
import type { AgentEvent } from "../../../api/values/event.ts";
import { OnFirstUse } from "../../../base/on-first-use.ts";
import { checkSessionId, toWorkDir } from "../disk/work-dir.ts";
import type { SessionOwner, SessionStore, SessionView, StoredSession } from "../session-store.ts";
import type { Database } from "./database.ts";
import { readEventPages } from "./event-pages.ts";
import { ProcessLease, type ProcessLeaseOptions } from "./process-lease.ts";
import { prepareSchema, whyUnfit } from "./schema-version.ts";
import { openPostgresSession, viewRight } from "./sessions/postgres-session.ts";
import { type Fill, SessionCreation } from "./sessions/session-creation.ts";
import { deleteSession } from "./sessions/session-deletion.ts";
import { findLastSession, listSessions } from "./sessions/session-list.ts";
import { readOwnContext } from "./sessions/session-opening.ts";
import type { SessionSurroundings } from "./sessions/session-parts.ts";
import { isFoundRow, readSessionRow, refuseElsewhere, type SessionRow } from "./sessions/session-row.ts";
import { SessionTaking } from "./sessions/session-taking.ts";

export interface PostgresStoreOptions extends Omit<SessionSurroundings, "lease"> {
	/** What to do if another process holds the session: "expired" fails `busy` until its lease has expired. */
	readonly takeOver?: "patient" | "expired";
	readonly lease?: Pick<ProcessLeaseOptions, "duration" | "interval" | "address" | "tags">;
}

/** Opens no connection before the first call. */
export class PostgresStore implements SessionStore {
	readonly database: Database;
	readonly #surroundings: SessionSurroundings;
	readonly #schema: OnFirstUse<void>;
	readonly #taking: SessionTaking;
	readonly #creation: SessionCreation;

	constructor({ takeOver = "patient", lease, ...options }: PostgresStoreOptions) {
		this.database = options.database;
		this.#surroundings = { ...options, lease: new ProcessLease({ ...options, ...lease }) };
		this.#schema = new OnFirstUse(() => prepareSchema(this.database));
		this.#taking = new SessionTaking(this.#surroundings, takeOver);
		this.#creation = new SessionCreation(this.#surroundings);
	}

	/** Why this program cannot use the tables; null if it can. Fails if the database does not respond. */
	whyUnfit(): Promise<string | null> {
		return whyUnfit(this.database);
	}

	async processId(): Promise<string> {
		await this.#schema.get();
		return await this.#surroundings.lease.current();
	}

	async openOrCreate(spelled: string, id: string, placement?: Placement): Promise<StoredSession> {
		const workDir = toWorkDir(spelled);
		const row = await this.#read(id);
		if (row?.is_staged === true) await this.#creation.removeStaged(id);
		else if (row !== null) {
			refuseElsewhere(row, workDir);
			const opened = await this.#taking.open(id, workDir);
			if (opened !== null) return opened;
		}
		const holder = await this.#surroundings.lease.current();
		return await openPostgresSession(
			this.#surroundings,
			{ sessionId: id, holder, term: 1, workDir, ...placement },
			null,
		);
	}

	async create(spelled: string, id: string, fill: Fill, like?: string): Promise<void> {
		const workDir = toWorkDir(spelled);
		checkSessionId(id);
		await this.#schema.get();
		await this.#creation.create(workDir, id, fill, like ?? null);
	}

	async open(spelled: string, id: string, from?: "ended" | "anyone"): Promise<StoredSession | null> {
		const row = await this.#find(spelled, id);
		return row === null ? null : await this.#taking.open(id, row.work_dir, from);
	}

	async view(spelled: string, id: string): Promise<SessionView | null> {
		const row = await this.#find(spelled, id);
		if (row === null) return null;
		const taken = { sessionId: id, ...viewRight, workDir: row.work_dir };
		const session = await openPostgresSession(this.#surroundings, taken, row);
		const isCurrent = async () => {
			const now = await readSessionRow(this.database, id);
			return now !== null && now.epoch === row.epoch && now.version === row.version;
		};
		return { ...session, isCurrent };
	}

	async owner(_workDir: string, id: string): Promise<SessionOwner | null> {
		checkSessionId(id);
		await this.#schema.get();
		const { query, schema } = this.database;
		const [row] = await query(
			`select p.host, p.pid from ${schema}.session s join ${schema}.process p on p.id = s.holder
			where s.id = $1 and p.lease_until > now()`,
			[id],
		);
		if (row === undefined) return null;
		return { name: `process ${String(row["pid"])} on ${String(row["host"])}`, pid: null };
	}

	async readContext(spelled: string, id: string): Promise<readonly ContextRow[] | null> {
		const row = await this.#find(spelled, id);
		return row?.has_context === true ? (await readOwnContext(this.#surroundings, id)).rows : null;
	}

	async *readEvents(spelled: string, id: string): AsyncGenerator<readonly AgentEvent[]> {
		const row = await this.#find(spelled, id);
		if (row === null) return;
		const origin = { sessionId: id, epoch: row.epoch };
		yield* readEventPages(this.database, { origin, log: this.#surroundings.log }, 0, row.last_seq);
	}

	async workDirOf(id: string): Promise<string | null> {
		const row = await this.#read(id);
		return row !== null && isFoundRow(row) ? row.work_dir : null;
	}

	async lastSessionId(spelled: string): Promise<string | null> {
		const workDir = toWorkDir(spelled);
		await this.#schema.get();
		return await findLastSession(this.database, workDir);
	}

	async delete(spelled: string, id: string): Promise<void> {
		const workDir = toWorkDir(spelled);
		checkSessionId(id);
		await this.#schema.get();
		await deleteSession(this.database, id, workDir);
		const { scratch } = this.#surroundings;
		await scratch?.files.remove(path.join(scratch.directory, id));
	}

	async list(query: ListQuery): Promise<SessionPage> {
		const workDir = query.workDir === undefined ? {} : { workDir: toWorkDir(query.workDir) };
		await this.#schema.get();
		return await listSessions(this.database, { ...query, ...workDir });
	}

	async close(): Promise<void> {
		await this.#surroundings.lease.close();
		await this.database.close();
	}

	async #read(id: string): Promise<SessionRow | null> {
		checkSessionId(id);
		await this.#schema.get();
		return await readSessionRow(this.database, id);
	}

	async #find(spelled: string, id: string): Promise<SessionRow | null> {
		const workDir = toWorkDir(spelled);
		const row = await this.#read(id);
		return row !== null && isFoundRow(row) && row.work_dir === workDir ? row : null;
	}
}
