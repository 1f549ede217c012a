import { KernelError } from "../../../../base/errors.ts";
import type { Database } from "../database.ts";
import { sessionParts } from "../migrations.ts";

/** Deletes all parts atomically if the process still holds the session, or, without one, if no live process does. */
export async function deleteRows(
	database: Database,
	id: string,
	by: { readonly holder: string; readonly term: number } | null,
): Promise<boolean> {
	const { schema } = database;
	const condition =
		by === null
			? `(holder is null or not exists (select from ${schema}.process p where p.id = holder and p.lease_until > now()))`
			: "holder = $2 and term = $3";
	return await database.transaction(async (query) => {
		const values = by === null ? [id] : [id, by.holder, by.term];
		const gone = await query(`delete from ${schema}.session where id = $1 and ${condition} returning id`, values);
		if (gone.length === 0) return false;
		for (const table of sessionParts) await query(`delete from ${schema}.${table} where session_id = $1`, [id]);
		return true;
	});
}

/** Cleans up after processes that ended midway. */
export async function removeLeftovers(database: Database): Promise<void> {
	const { schema } = database;
	const dead = `not exists (select from ${schema}.process p where p.id = s.holder and p.lease_until > now())`;
	const staged = await database.query(`select id from ${schema}.session s where is_staged and ${dead} limit 100`);
	for (const { id } of staged) await deleteRows(database, String(id), null);
	await database.query(
		`delete from ${schema}.process p where lease_until < now() - interval '1 day'
			and not exists (select from ${schema}.session s where s.holder = p.id)`,
	);
}

/** Fails `busy` while a process holds it. */
export async function deleteSession(database: Database, id: string, workDir: string): Promise<void> {
	const { schema } = database;
	const [row] = await database.query(`select work_dir from ${schema}.session where id = $1 and not is_staged`, [id]);
	if (row === undefined || row["work_dir"] !== workDir) return;
	if (await deleteRows(database, id, null)) return;
	const [still] = await database.query(`select holder from ${schema}.session where id = $1`, [id]);
	if (still === undefined) return;
	throw new KernelError("busy", `The session ${id} cannot be deleted, because it is open: close it first.`, {
		data: { holder: still["holder"] },
	});
}
