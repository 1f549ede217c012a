// Triggers in the tables of the round, which see what no reader afterwards can: who held a session at the moment at which it
// was written, and every term that there was.
import type { Database } from "../../../src/ports/store/postgres/database.ts";
import { migrate } from "../../../src/ports/store/postgres/schema-version.ts";

/** Makes the tables, and the triggers. */
export async function createAudit(database: Database): Promise<void> {
	const { schema } = database;
	await migrate(database);
	await database.query(`create table ${schema}.tenure (
		session_id text not null, term bigint not null, holder text, at timestamptz not null default clock_timestamp())`);
	await database.query(
		`create table ${schema}.stale_write (session_id text not null, seq bigint not null, term bigint not null)`,
	);
	await database.query(`create function ${schema}.note_tenure() returns trigger language plpgsql as $$
		begin
			insert into ${schema}.tenure (session_id, term, holder) values (new.id, new.term, new.holder);
			return null;
		end $$`);
	await database.query(`create function ${schema}.note_write() returns trigger language plpgsql as $$
		begin
			if not exists (
				select from ${schema}.session s join ${schema}.process p on p.id = s.holder
				where s.id = new.session_id and s.term = new.term and p.lease_until > now()
			) then
				insert into ${schema}.stale_write values (new.session_id, new.seq, new.term);
			end if;
			return null;
		end $$`);
	await database.query(`create trigger note_tenure after insert or update of holder, term on ${schema}.session
		for each row execute function ${schema}.note_tenure()`);
	await database.query(`create trigger note_write after insert on ${schema}.event
		for each row execute function ${schema}.note_write()`);
}

/** One sentence for each thing that must not be. */
export async function readAudit(database: Database): Promise<string[]> {
	const { schema } = database;
	const stale = await database.query(`select session_id, seq, term from ${schema}.stale_write limit 10`);
	const shared = await database.query(`select session_id, term, count(distinct holder) as holders from ${schema}.tenure
		where holder is not null group by session_id, term having count(distinct holder) > 1 limit 10`);
	return [
		...stale.map(
			({ session_id, seq, term }) =>
				`event ${String(seq)} of ${String(session_id)} was written in term ${String(term)} by a process that did not hold the session`,
		),
		...shared.map(
			({ session_id, term, holders }) =>
				`the term ${String(term)} of ${String(session_id)} had ${String(holders)} holders`,
		),
	];
}

/** How often a session went from one process to another. */
export async function countTakeOvers(database: Database): Promise<number> {
	const [row] = await database.query(`select count(*) as changes from (
		select holder, lag(holder) over (partition by session_id order by term, at) as before
		from ${database.schema}.tenure where holder is not null) as each where before <> holder`);
	return Number(row?.["changes"] ?? 0);
}
