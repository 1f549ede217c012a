import { randomUUID } from "node:crypto";
import path from "node:path";
import type { Placement } from "../../../api/session-list.ts";
import { never } from "../../../base/abort.ts";
import { type Clock, sleep } from "../../../base/clock.ts";
import { errorText, KernelError } from "../../../base/errors.ts";
import { type Log, undo } from "../../../base/log.ts";
import { OnFirstUse } from "../../../base/on-first-use.ts";
import { checkSessionId, toWorkDir } from "../disk/work-dir.ts";
import type { SessionStore, StoredSession } from "../session-store.ts";
import { type Database, isTransient } from "./database.ts";
import { readEventPages } from "./event-pages.ts";
import { ProcessLease, type ProcessLeaseOptions } from "./process-lease.ts";
import { prepareSchema, whyUnfit } from "./schema-version.ts";
import { openPostgresSession, readOwnContext, type Scratch } from "./sessions/postgres-session.ts";
import { deleteRows, deleteSession } from "./sessions/session-deletion.ts";
import { listSessions } from "./sessions/session-list.ts";
import { isFoundRow, readSessionRow, refuseElsewhere, type SessionRow, takeSession } from "./sessions/session-row.ts";

export interface PostgresStoreOptions {
	readonly database: Database;
	readonly log: Log;
	readonly clock: Clock;
	/** What to do if another process holds the session: "expired" fails `busy` until its lease has expired. */
	readonly takeOver?: "patient" | "expired";
	/** The owner of new sessions; a process needs the same owner to run them. */
	readonly owner?: string;
	readonly needs?: readonly string[];
	readonly scratch?: Scratch;
	readonly lease?: Pick<ProcessLeaseOptions, "duration" | "interval" | "address" | "tags">;
}

export interface PostgresStore extends SessionStore {
	readonly database: Database;
	/** Why this program cannot use the tables; null if it can. Fails if the database does not respond. */
	whyUnfit(): Promise<string | null>;
	processId(): Promise<string>;
}

/** Milliseconds a newcomer gives the holder to release the session. */
const patience = 3_000;
const pollInterval = 50;
/** Milliseconds between attempts to give a session back. */
const giveBackAgain = 1_000;

function refuseKnown(id: string): KernelError {
	return new KernelError("busy", `There is a session ${id} already: choose another id.`);
}

function refuseMaking(id: string, how: string): KernelError {
	return new KernelError("busy", `The session ${id} is being made ${how}: choose another id.`);
}

/** Opens no connection before the first call. */
export function createPostgresStore(options: PostgresStoreOptions): PostgresStore {
	const { database, log, clock, takeOver = "patient" } = options;
	const { schema } = database;
	const lease = new ProcessLease({ database, log, clock, ...options.lease });
	const schemaReady = new OnFirstUse(() => prepareSchema(database));
	const ready = () => schemaReady.get();
	let isSwept = false;
	/** Once per process: cleans up after processes that ended midway. */
	const sweep = async (): Promise<void> => {
		if (isSwept) return;
		isSwept = true;
		const dead = `not exists (select from ${schema}.process p where p.id = s.holder and p.lease_until > now())`;
		const staged = await database.query(`select id from ${schema}.session s where is_staged and ${dead} limit 100`);
		for (const { id } of staged) await deleteRows(database, String(id), null);
		await database.query(
			`delete from ${schema}.process p where lease_until < now() - interval '1 day'
				and not exists (select from ${schema}.session s where s.holder = p.id)`,
		);
	};
	const current = async (): Promise<string> => {
		const id = await lease.current();
		void sweep().catch((thrown: unknown) => log.info("leftovers were not removed", { cause: errorText(thrown) }));
		return id;
	};

	const toSession = (
		id: string,
		workDir: string,
		row: SessionRow | null,
		taken: {
			readonly holder: string;
			readonly term: number;
			readonly isStaged?: boolean;
			readonly isView?: boolean;
		} & Partial<Placement>,
	): Promise<StoredSession> =>
		openPostgresSession(
			{
				database,
				clock,
				log,
				lease,
				id,
				workDir,
				owner: options.owner ?? "",
				needs: options.needs ?? [],
				isStaged: false,
				newEpoch: randomUUID(),
				scratch: options.scratch ?? null,
				...taken,
			},
			row,
		);

	const refuseHeld = (id: string, holder: string): KernelError =>
		new KernelError("busy", `The session ${id} is open in another process, ${holder}.`, { data: { holder } });

	/** Null if the session was deleted meanwhile. */
	const take = async (
		id: string,
		from?: "ended" | "anyone",
	): Promise<{ readonly holder: string; readonly term: number } | null> => {
		const isRefused = takeOver === "expired" || from === "ended";
		// Counted in pauses, because the system clock may change.
		for (let waited = 0; ; waited += pollInterval) {
			const holder = await current();
			const isForced = waited >= patience || (!isRefused && from === "anyone");
			const taken = await takeSession(database, id, holder, isForced);
			if (taken === null) return null;
			if ("term" in taken) return { holder, term: taken.term };
			// A session still open in this process is being closed.
			if (isRefused && taken.holder !== holder) throw refuseHeld(id, taken.holder);
			await sleep(clock, pollInterval, never);
		}
	};

	/** Removes the session if a dead process was creating it. Fails `busy` while a living process is. */
	const removeStaged = async (row: SessionRow): Promise<void> => {
		if (await deleteRows(database, row.id, null)) return;
		throw refuseMaking(row.id, "by another process");
	};

	/** Ids of sessions this process is creating: the later of two concurrent openings would take the session from the first. */
	const making = new Set<string>();
	const alone = async (id: string, work: () => Promise<void>): Promise<void> => {
		if (making.has(id)) throw refuseMaking(id, "already");
		making.add(id);
		try {
			await work();
		} finally {
			making.delete(id);
		}
	};

	/** Removes the stored parts of a session that could not be created. Returns the reason. */
	const abandonStaged = async (id: string, epoch: string, thrown: unknown): Promise<unknown> => {
		try {
			const row = await readSessionRow(database, id);
			if (row === null) return thrown;
			if (row.epoch !== epoch) return refuseKnown(id);
			if (row.is_staged) await deleteRows(database, id, null);
		} catch (error) {
			log.info("a session that could not be made was not removed", { id, cause: errorText(error) });
		}
		return thrown;
	};

	const makeStaged = async (
		workDir: string,
		id: string,
		fill: (session: StoredSession) => Promise<void>,
		like: string | null,
	): Promise<void> => {
		const found = await readSessionRow(database, id);
		if (found?.is_staged === true) await removeStaged(found);
		else if (found !== null) throw refuseKnown(id);
		const holder = await current();
		const session = await toSession(id, workDir, null, { holder, term: 1, isStaged: true });
		try {
			await fill(session);
			await session.establish();
			const [done] = await database.query(
				`update ${schema}.session s set is_staged = false,
					owner = coalesce((select owner from ${schema}.session where id = $3), s.owner),
					needs = coalesce((select needs from ${schema}.session where id = $3), s.needs)
				where id = $1 and holder = $2 and term = 1 and is_staged returning id`,
				[id, holder, like],
			);
			if (done === undefined) throw await session.lost;
		} catch (thrown) {
			const release = () => session.close({ becomesLast: false });
			await undo(release, "a session that could not be made was not closed", log);
			throw await abandonStaged(id, session.cursor().epoch, thrown);
		}
		await session.close({ becomesLast: false });
	};

	/** Gives back a session that could not be opened: no other process would take it while this one lives. */
	const giveBack = async (id: string, { holder, term }: { readonly holder: string; readonly term: number }) => {
		try {
			await database.query(`update ${schema}.session set holder = null where id = $1 and holder = $2 and term = $3`, [
				id,
				holder,
				term,
			]);
		} catch (thrown) {
			log.info("a session that could not be opened was not given back", { id, cause: errorText(thrown) });
			if (isTransient(thrown)) clock.after(giveBackAgain, () => void giveBack(id, { holder, term }), true);
		}
	};

	const openRow = async (id: string, workDir: string, from?: "ended" | "anyone"): Promise<StoredSession | null> => {
		const taken = await take(id, from);
		if (taken === null) return null;
		try {
			const row = await readSessionRow(database, id);
			return row === null ? null : await toSession(id, workDir, row, taken);
		} catch (thrown) {
			await giveBack(id, taken);
			throw thrown;
		}
	};

	return {
		database,
		whyUnfit: () => whyUnfit(database),
		async processId() {
			await ready();
			return await current();
		},
		async view(spelled, id) {
			const workDir = toWorkDir(spelled);
			checkSessionId(id);
			await ready();
			const row = await readSessionRow(database, id);
			if (row === null || !isFoundRow(row) || row.work_dir !== workDir) return null;
			// No process has an empty id, and no session a term of 0.
			const session = await toSession(id, row.work_dir, row, { holder: "", term: 0, isView: true });
			const isCurrent = async () => {
				const now = await readSessionRow(database, id);
				return now !== null && now.epoch === row.epoch && now.version === row.version;
			};
			return { ...session, isCurrent };
		},
		async owner(_workDir, id) {
			checkSessionId(id);
			await ready();
			const [row] = await database.query(
				`select p.host, p.pid from ${schema}.session s join ${schema}.process p on p.id = s.holder
				where s.id = $1 and p.lease_until > now()`,
				[id],
			);
			if (row === undefined) return null;
			return { name: `process ${String(row["pid"])} on ${String(row["host"])}`, pid: null };
		},
		async openOrCreate(spelled, id, placement) {
			const workDir = toWorkDir(spelled);
			checkSessionId(id);
			await ready();
			const row = await readSessionRow(database, id);
			if (row?.is_staged === true) await removeStaged(row);
			else if (row !== null) {
				refuseElsewhere(row, workDir);
				const opened = await openRow(id, workDir);
				if (opened !== null) return opened;
			}
			return await toSession(id, workDir, null, { holder: await current(), term: 1, ...placement });
		},
		async create(spelled, id, fill, like) {
			const workDir = toWorkDir(spelled);
			checkSessionId(id);
			await ready();
			await alone(id, () => makeStaged(workDir, id, fill, like ?? null));
		},
		async open(spelled, id, from) {
			const workDir = toWorkDir(spelled);
			checkSessionId(id);
			await ready();
			const row = await readSessionRow(database, id);
			if (row === null || !isFoundRow(row) || row.work_dir !== workDir) return null;
			return await openRow(id, workDir, from);
		},
		async readContext(spelled, id) {
			const workDir = toWorkDir(spelled);
			checkSessionId(id);
			await ready();
			const row = await readSessionRow(database, id);
			if (row === null || row.is_staged || !row.has_context || row.work_dir !== workDir) return null;
			return (await readOwnContext({ database, log }, id)).rows;
		},
		async *readEvents(spelled, id) {
			const workDir = toWorkDir(spelled);
			checkSessionId(id);
			await ready();
			const row = await readSessionRow(database, id);
			if (row === null || row.is_staged || row.work_dir !== workDir) return;
			yield* readEventPages(database, { origin: { sessionId: id, epoch: row.epoch }, log }, 0, row.last_seq);
		},
		async workDirOf(id) {
			checkSessionId(id);
			await ready();
			const row = await readSessionRow(database, id);
			return row !== null && isFoundRow(row) ? row.work_dir : null;
		},
		async lastSessionId(spelled) {
			const workDir = toWorkDir(spelled);
			await ready();
			const [row] = await database.query(
				`select s.id from ${schema}.last_session l join ${schema}.session s on s.id = l.session_id and s.work_dir = l.work_dir
				where l.work_dir = $1 and s.has_context and not s.is_staged`,
				[workDir],
			);
			return row === undefined ? null : String(row["id"]);
		},
		async delete(spelled, id) {
			const workDir = toWorkDir(spelled);
			checkSessionId(id);
			await ready();
			await deleteSession(database, id, workDir);
			const { scratch } = options;
			if (scratch !== undefined) await scratch.files.remove(path.join(scratch.directory, id));
		},
		async list(query) {
			const workDir = query.workDir === undefined ? {} : { workDir: toWorkDir(query.workDir) };
			await ready();
			return await listSessions(database, { ...query, ...workDir });
		},
		async close() {
			await lease.close();
			await database.close();
		},
	};
}
