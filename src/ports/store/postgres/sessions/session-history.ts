// The file history of a session, saved for a process on another machine that continues it.
import * as v from "valibot";
import type { HistoryPlace } from "../../../workspace/history-place.ts";
import type { SessionParts } from "./session-parts.ts";
import { integer } from "./session-row.ts";

const bytes = v.instance(Uint8Array);
const savedSchema = v.object({ version: v.string(), records: bytes });
const sizeSchema = v.object({ id: v.string(), size: integer });

export function createHistoryPlace({ database, sessionId, writes, whileOpen }: SessionParts): HistoryPlace {
	const { schema } = database;
	return {
		async read() {
			const query = `select version, records from ${schema}.file_history where session_id = $1`;
			const [row] = await database.query(query, [sessionId]);
			if (row === undefined) return null;
			const sizes = await database.query(
				`select id, length(bytes) as size from ${schema}.file_content where session_id = $1`,
				[sessionId],
			);
			const contents = new Map(sizes.map((each) => v.parse(sizeSchema, each)).map(({ id, size }) => [id, size]));
			return { ...v.parse(savedSchema, row), contents };
		},
		async content(id) {
			const query = `select bytes from ${schema}.file_content where session_id = $1 and id = $2`;
			const [row] = await database.query(query, [sessionId, id]);
			return row === undefined ? null : v.parse(bytes, row["bytes"]);
		},
		put: (id, packed) =>
			whileOpen(() =>
				writes.write(
					`insert into ${schema}.file_content (session_id, id, bytes) select id, $4, $5::bytea from head on conflict do nothing`,
					[id, packed],
				),
			),
		replace: ({ version, records, contents }) =>
			whileOpen(async () => {
				await writes.write(
					`insert into ${schema}.file_history (session_id, version, records) select id, $4, $5::bytea from head
					on conflict (session_id) do update set version = excluded.version, records = excluded.records`,
					[version, records],
				);
				await writes.write(
					`delete from ${schema}.file_content c using head where c.session_id = head.id and c.id <> all($4::text[])`,
					[[...contents.keys()]],
				);
			}),
	};
}
