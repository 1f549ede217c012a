import * as v from "valibot";
import type { ListQuery, SessionPage } from "../../../../api/session-list.ts";
import { toPlace } from "../../session-page.ts";
import { untitled } from "../../title.ts";
import type { Database } from "../database.ts";

const number = v.pipe(v.unknown(), v.transform(Number));
const rowSchema = v.object({
	id: v.string(),
	work_dir: v.string(),
	title: v.nullable(v.string()),
	updated_at: number,
	archived_at: v.nullable(v.number()),
});

const wholeListTimeout = 60_000;

export async function setLastSession(database: Database, workDir: string, id: string): Promise<void> {
	await database.query(
		`insert into ${database.schema}.last_session (work_dir, session_id) values ($1, $2)
		on conflict (work_dir) do update set session_id = excluded.session_id`,
		[workDir, id],
	);
}

export async function findLastSession({ query, schema }: Database, workDir: string): Promise<string | null> {
	const [row] = await query(
		`select s.id from ${schema}.last_session l join ${schema}.session s on s.id = l.session_id and s.work_dir = l.work_dir
		where l.work_dir = $1 and s.has_context and not s.is_staged`,
		[workDir],
	);
	return row === undefined ? null : String(row["id"]);
}

export async function listSessions(database: Database, query: ListQuery): Promise<SessionPage> {
	const { workDir, after, limit, withUnused = false } = query;
	const place = after === undefined ? null : toPlace(after);
	const rows = await database.query(
		`select id, work_dir, coalesce(custom_title, first_title) as title, archived_at,
			round(extract(epoch from updated_at) * 1000) as updated_at
		from ${database.schema}.session
		where not is_staged and (custom_title is not null or last_seq > 0 or has_message or (is_established and $5::boolean))
			and ($1::text is null or work_dir = $1)
			and ($2::float8 is null or updated_at < to_timestamp($2 / 1000.0) or (updated_at = to_timestamp($2 / 1000.0) and id > $3::text))
		order by session.updated_at desc, id limit $4::bigint`,
		[workDir ?? null, place?.updatedAt ?? null, place?.id ?? null, limit === undefined ? null : limit + 1, withUnused],
		// An unlimited list may be long.
		limit === undefined ? { timeout: wholeListTimeout } : {},
	);
	const found = rows.map((row) => {
		const { work_dir, title, updated_at, archived_at, id } = v.parse(rowSchema, row);
		return {
			id,
			workDir: work_dir,
			title: title ?? untitled,
			updatedAt: updated_at,
			archivedAt: archived_at === null ? null : archived_at * 1000,
		};
	});
	const sessions = found.slice(0, limit);
	const last = sessions.at(-1);
	const next = last === undefined || sessions.length === found.length ? null : `${last.updatedAt}:${last.id}`;
	return { sessions, next };
}
