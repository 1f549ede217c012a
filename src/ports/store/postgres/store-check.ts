// Checks the tables for inconsistencies: orphaned rows, missing numbers, decreasing terms.
import type { Database, Row } from "./database.ts";
import { sessionParts } from "./migrations.ts";
import { schemaVersion } from "./schema-version.ts";

export interface StoreCheck {
	readonly database: string;
	readonly version: { readonly found: number; readonly needed: number };
	readonly sessions: {
		readonly total: number;
		readonly held: number;
		readonly staged: number;
		/** Sessions with a started turn and no living process. */
		readonly interrupted: number;
	};
	readonly processes: readonly {
		readonly id: string;
		readonly host: string;
		readonly pid: number;
		readonly address: string | null;
		/** Seconds until the lease expires; negative if expired. */
		readonly leaseSeconds: number;
		readonly sessions: number;
	}[];
	/** Bytes per table, including indexes. */
	readonly sizes: Readonly<Record<string, number>>;
	/** One sentence each. */
	readonly problems: readonly string[];
}

const most = 20;

export async function checkStore(database: Database): Promise<StoreCheck> {
	const { schema, name } = database;
	const version = await schemaVersion(database);
	const empty = { total: 0, held: 0, staged: 0, interrupted: 0 };
	if (version.found === 0) {
		const problems = ["There are no tables yet: run agentwire store migrate."];
		return { database: name, version, sessions: empty, processes: [], sizes: {}, problems };
	}
	const read = (text: string) => database.query(text, [], { timeout: 600_000 });
	const alive = `exists (select from ${schema}.process p where p.id = s.holder and p.lease_until > now())`;
	const [counts] = await read(`select count(*) as total, count(*) filter (where ${alive}) as held,
		count(*) filter (where is_staged) as staged,
		count(*) filter (where running_turn is not null and not ${alive}) as interrupted from ${schema}.session s`);
	const processes = await read(`select id, host, pid, address,
		round(extract(epoch from lease_until - now())) as lease,
		(select count(*) from ${schema}.session s where s.holder = p.id) as sessions
		from ${schema}.process p order by started_at`);
	const problems: string[] = [];
	if (version.found !== version.needed) {
		problems.push(`The tables have version ${version.found}; this program needs ${version.needed}.`);
	}
	for (const part of sessionParts) {
		const rows = await read(`select distinct session_id as id from ${schema}.${part} x
			where not exists (select from ${schema}.session s where s.id = x.session_id) limit ${most}`);
		for (const { id } of rows) problems.push(`The table ${part} has rows of ${String(id)}, which is not a session.`);
	}
	const gaps = await read(`select s.id, s.last_seq, count(e.seq) as events, coalesce(max(e.seq), 0) as newest
		from ${schema}.session s left join ${schema}.event e on e.session_id = s.id
		group by s.id, s.last_seq having count(e.seq) <> s.last_seq or coalesce(max(e.seq), 0) <> s.last_seq limit ${most}`);
	for (const { id, last_seq, events, newest } of gaps) {
		problems.push(
			`The session ${String(id)} ends with number ${String(last_seq)}, and has ${String(events)} events up to ${String(newest)}.`,
		);
	}
	const back = await read(`select distinct session_id as id from (
			select session_id, term < lag(term) over (partition by session_id order by seq) as goes_back from ${schema}.event
		) as each where goes_back limit ${most}`);
	for (const { id } of back) problems.push(`The session ${String(id)} was written by a process that had lost it.`);
	const number = (row: Row | undefined, key: string) => Number(row?.[key] ?? 0);
	const sizes: Record<string, number> = {};
	for (const table of ["process", "session", ...sessionParts]) {
		const [row] = await database.query("select pg_total_relation_size($1::regclass) as size", [`${schema}.${table}`]);
		sizes[table] = number(row, "size");
	}
	return {
		database: name,
		version,
		sessions: {
			total: number(counts, "total"),
			held: number(counts, "held"),
			staged: number(counts, "staged"),
			interrupted: number(counts, "interrupted"),
		},
		processes: processes.map((row) => ({
			id: String(row["id"]),
			host: String(row["host"]),
			pid: number(row, "pid"),
			address: row["address"] === null ? null : String(row["address"]),
			leaseSeconds: number(row, "lease"),
			sessions: number(row, "sessions"),
		})),
		sizes,
		problems,
	};
}
