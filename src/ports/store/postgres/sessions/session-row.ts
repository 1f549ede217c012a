import * as v from "valibot";
import { KernelError } from "../../../../base/errors.ts";
import { initialState, withoutContext } from "../../disk/state-file.ts";
import { fromStateRecord } from "../../record.ts";
import type { SessionState } from "../../session-store.ts";
import type { Database } from "../database.ts";
import { takenChannel } from "../process-lease.ts";

/** 64-bit numbers arrive as text. */
export const integer = v.pipe(v.unknown(), v.transform(Number), v.integer());

const rowSchema = v.object({
	id: v.string(),
	work_dir: v.string(),
	epoch: v.string(),
	holder: v.nullable(v.string()),
	is_held: v.boolean(),
	term: integer,
	version: integer,
	last_seq: integer,
	state: v.nullable(v.string()),
	custom_title: v.nullable(v.string()),
	archived_at: v.nullable(v.number()),
	first_title: v.nullable(v.string()),
	summary: v.nullable(v.string()),
	summary_seq: integer,
	answered_seq: integer,
	context_generation: integer,
	has_context: v.boolean(),
	has_message: v.boolean(),
	is_established: v.boolean(),
	is_staged: v.boolean(),
});
export type SessionRow = v.InferOutput<typeof rowSchema>;

export async function readSessionRow(database: Database, id: string): Promise<SessionRow | null> {
	const { schema } = database;
	const [row] = await database.query(
		`select s.*, exists (select from ${schema}.process p where p.id = s.holder and p.lease_until > now()) as is_held
		from ${schema}.session s where s.id = $1`,
		[id],
	);
	return row === undefined ? null : v.parse(rowSchema, row);
}

/** Whether it can be found by id: not while it is being created, nor before it has any activity. */
export function isFoundRow(row: SessionRow): boolean {
	return !row.is_staged && (row.has_context || row.last_seq > 0);
}

/** Returns the next term; null while another process holds the session, unless `isForced`. Notifies the holder. */
export async function takeSession(
	database: Database,
	id: string,
	holder: string,
	isForced: boolean,
): Promise<{ readonly term: number } | { readonly holder: string } | null> {
	const { schema } = database;
	const [row] = await database.query(
		`with old as (
			select id, holder, term from ${schema}.session where id = $1 and not is_staged for update
		), taken as (
			update ${schema}.session s set term = s.term + 1, holder = $2 from old
			where s.id = old.id and ($3 or old.holder is null
				or not exists (select from ${schema}.process p where p.id = old.holder and p.lease_until > now()))
			returning s.term
		), loss as (
			update ${schema}.process p set losses = p.losses + 1 from old, taken where p.id = old.holder and p.id <> $2
		), stale as (
			-- No subagent outlives the process that runs it.
			update ${schema}.agent a set status = 'failed' from taken
			where a.session_id = $1 and a.status in ('running_foreground', 'running_background')
		), told as (
			select pg_notify($4, old.term || ' ' || old.id) from old, taken where old.holder is not null
		)
		select old.holder, (select term from taken) as term, (select count(*) from told) as told from old`,
		[id, holder, isForced, takenChannel(schema)],
	);
	if (row === undefined) return null;
	const found = v.parse(v.object({ holder: v.nullable(v.string()), term: v.nullable(integer) }), row);
	if (row["term"] !== null && found.term !== null) return { term: found.term };
	return { holder: found.holder ?? "" };
}

export function toRowState(row: SessionRow): SessionState {
	const columns = { customTitle: row.custom_title, archivedAt: row.archived_at };
	const stored = { ...initialState(), ...parseState(row.state), ...columns };
	return row.has_context ? stored : withoutContext(stored);
}

function parseState(text: string | null): Partial<SessionState> {
	if (text === null) return {};
	try {
		return fromStateRecord(JSON.parse(text)) ?? {};
	} catch {
		return {};
	}
}

/** Replaces the NUL character, which a text column cannot hold. */
export function toColumn(text: string): string {
	return text.replaceAll("\0", "\ufffd");
}

export function refuseElsewhere(row: SessionRow, workDir: string): void {
	if (row.work_dir === workDir) return;
	throw new KernelError(
		"busy",
		`There is a session ${row.id} already, of the work directory ${row.work_dir}: choose another id.`,
	);
}
