import path from "node:path";
import type { ContextRow } from "../../../../api/values/conversation.ts";
import type { AgentEvent } from "../../../../api/values/event.ts";
import type { Clock } from "../../../../base/clock.ts";
import { errorText, KernelError } from "../../../../base/errors.ts";
import type { Log } from "../../../../base/log.ts";
import type { Files } from "../../../files/port.ts";
import { parseLine } from "../../disk/logs/json-lines.ts";
import { initialState } from "../../disk/state-file.ts";
import { RunningSummary } from "../../journal-summary.ts";
import { fromSummaryRecord } from "../../record.ts";
import type { StoredSession } from "../../session-store.ts";
import { firstRow } from "../commit-change.ts";
import { toContextRows } from "../context-rows.ts";
import type { Database } from "../database.ts";
import { readEventPages } from "../event-pages.ts";
import { createFencedWrites } from "../fenced-writes.ts";
import type { ProcessLease } from "../process-lease.ts";
import { createAgent, openAgent } from "./session-agents.ts";
import { deleteRows } from "./session-deletion.ts";
import { createHistoryPlace } from "./session-history.ts";
import { SessionHold } from "./session-hold.ts";
import { createNotifications } from "./session-notifications.ts";
import { type SessionRow, toRowState } from "./session-row.ts";
import { createTasks } from "./session-tasks.ts";
import { SessionWriter, type WriterStart } from "./session-writer.ts";

export interface PostgresSessionOptions {
	readonly database: Database;
	readonly clock: Clock;
	readonly log: Log;
	readonly lease: ProcessLease;
	readonly id: string;
	readonly workDir: string;
	/** The process id under which it was taken, and the term. */
	readonly holder: string;
	readonly term: number;
	readonly owner: string;
	readonly needs: readonly string[];
	readonly isStaged: boolean;
	readonly newEpoch: string;
	readonly scratch: Scratch | null;
	readonly isView?: boolean;
}

/** A local directory for unstored data, with a subdirectory per session. */
export interface Scratch {
	readonly files: Files;
	readonly directory: string;
}

interface OpenedRows {
	readonly contextRows: readonly ContextRow[];
	readonly lastRow: number;
	readonly summary: RunningSummary;
}

/** Reads a session's current context in one statement, so that it never sees a partial replacement. */
export async function readOwnContext(
	{ database, log }: Pick<PostgresSessionOptions, "database" | "log">,
	id: string,
): Promise<{ readonly rows: readonly ContextRow[]; readonly last: number }> {
	const { schema } = database;
	const found = await database.query(
		`select r.n, r.body from ${schema}.session s join ${schema}.context_row r
			on r.session_id = s.id and r.agent_id = '' and r.generation = s.context_generation
		where s.id = $1 order by r.n`,
		[id],
	);
	return await toContextRows(found, log, id);
}

async function readOpened(options: PostgresSessionOptions, row: SessionRow): Promise<OpenedRows> {
	const { database, log, id } = options;
	const { rows: contextRows, last: lastRow } = await readOwnContext(options, id);
	const origin = { sessionId: id, epoch: row.epoch };
	const stored = row.summary === null ? null : fromSummaryRecord(parseLine(row.summary), origin);
	const summary = stored === null ? new RunningSummary() : new RunningSummary(stored);
	const from = stored === null ? 0 : row.summary_seq;
	// The answer entered the context right after the summary, before any other event.
	if (row.answered_seq <= from && row.answered_seq === row.summary_seq) summary.leaveStep();
	for await (const events of readEventPages(database, { origin, log }, from, row.last_seq)) {
		for (const event of events) {
			summary.addEvent(event);
			if (event.seq === row.answered_seq) summary.leaveStep();
		}
	}
	return { contextRows, lastRow, summary };
}

/** Opens a session that this process has taken; without a row, a new one that its first commit stores. */
export async function openPostgresSession(
	options: PostgresSessionOptions,
	row: SessionRow | null,
): Promise<StoredSession> {
	const { database, clock, log, lease, id, workDir, holder, term } = options;
	const { schema } = database;
	const opened: OpenedRows =
		row === null ? { contextRows: [], lastRow: 0, summary: new RunningSummary() } : await readOpened(options, row);
	const epoch = row?.epoch ?? options.newEpoch;
	const start: WriterStart = {
		isNew: row === null,
		version: row?.version ?? 0,
		lastSeq: row?.last_seq ?? 0,
		generation: row?.context_generation ?? 0,
		nextRow: Math.max(firstRow, opened.lastRow + 1),
		hasPrompt: opened.contextRows.some((each) => each.type === "system-prompt"),
		hasContext: row?.has_context ?? false,
		hasMessage: row?.has_message ?? false,
		firstTitle: row?.first_title ?? null,
		state: row === null ? initialState() : toRowState(row),
		isStateStale: row !== null && !row.has_context,
		summary: opened.summary,
		summarySeq: row?.summary_seq ?? 0,
		answeredSeq: row?.answered_seq ?? 0,
	};
	const written = { ...options, sessionId: id, epoch };
	const hold = new SessionHold(written);
	if (options.isView !== true) lease.hold(hold);
	const writer = new SessionWriter({ ...written, start, hold });
	const writes = createFencedWrites({ database, clock, hold, writer });
	let isEstablished = row?.is_established ?? false;
	let closed: Promise<void> | null = null;
	const whileOpen = <T>(work: () => Promise<T>): Promise<T> =>
		closed === null ? work() : Promise.reject(new KernelError("closed", "The session is closed."));
	const now = () => clock.now();
	const { scratch } = options;
	const directory = scratch === null ? null : path.join(scratch.directory, id);
	const local =
		scratch === null || directory === null ? null : { files: scratch.files, directory, log, now, whileOpen };
	const parts = { database, log, sessionId: id, writes, whileOpen, local, now };

	const setLast = async (): Promise<void> => {
		await database.query(
			`insert into ${schema}.last_session (work_dir, session_id) values ($1, $2)
			on conflict (work_dir) do update set session_id = excluded.session_id`,
			[workDir, id],
		);
	};

	const leave = async (becomesLast: boolean): Promise<void> => {
		if (!writer.exists) return;
		if (writer.isEmpty && !isEstablished) {
			await deleteRows(database, id, { holder, term });
			if (directory !== null) await scratch?.files.remove(directory);
			return;
		}
		const summary = writer.summaryColumns();
		const released = await database.query(
			`update ${schema}.session set holder = null, summary = coalesce($4, summary), summary_seq = coalesce($5::bigint, summary_seq)
			where id = $1 and term = $2 and holder = $3 returning id`,
			[id, term, holder, summary?.summary ?? null, summary?.seq ?? null],
		);
		if (released.length > 0 && becomesLast && !writer.isEmpty) await setLast();
	};
	const finish = async (becomesLast: boolean): Promise<void> => {
		try {
			await writer.settled();
			await writes.settled();
			if (!hold.over.aborted) await Promise.race([leave(becomesLast), hold.lost]);
		} finally {
			lease.release(hold);
		}
	};

	async function* events(after: number, end: number): AsyncGenerator<readonly AgentEvent[]> {
		yield* readEventPages(database, { origin: { sessionId: id, epoch }, log }, after, end);
	}

	return {
		id,
		workDir,
		directory,
		existed: row?.has_context ?? false,
		contextRows: opened.contextRows,
		summary: opened.summary.current,
		cursor: () => writer.cursor(),
		state: () => writer.state(),
		commit: (batch, { sync = false } = {}) => whileOpen(() => writer.commit(batch, { sync })),
		events: (after = 0) => events(after, writer.cursor().seq),
		lost: hold.lost,
		createAgent: (description) => createAgent(description, parts),
		openAgent: (agentId) => openAgent(agentId, parts),
		tasks: createTasks(parts),
		notifications: createNotifications(parts),
		historyPlace: createHistoryPlace(parts),
		markStarted: () => whileOpen(setLast),
		establish: () =>
			whileOpen(async () => {
				await writer.commit({}, { sync: true, establishes: true });
				isEstablished = true;
			}),
		close({ becomesLast = true } = {}) {
			closed ??= finish(becomesLast).catch((thrown: unknown) => {
				// There is nobody left to report it to, and everything committed is stored.
				log.warn("closing the session failed", { id, cause: errorText(thrown) });
			});
			return closed;
		},
	};
}
