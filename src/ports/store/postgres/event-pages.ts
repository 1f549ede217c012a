import * as v from "valibot";
import type { AgentEvent } from "../../../api/values/event.ts";
import type { Log } from "../../../base/log.ts";
import { parseLine } from "../disk/logs/json-lines.ts";
import { fromEventRecord, type RecordOrigin } from "../record.ts";
import type { Database } from "./database.ts";
import { integer } from "./sessions/session-row.ts";

const longestPage = 256;
/** Page size limit in bytes; a single event may exceed it. */
const largestPage = 4 * 1024 * 1024;

const rowSchema = v.object({ seq: integer, body: v.string() });

/** The events between two numbers, excluding the first. Skips and logs unreadable ones; their numbers stay taken. */
export async function* readEventPages(
	database: Database,
	{ origin, log }: { readonly origin: RecordOrigin; readonly log: Log },
	after: number,
	end: number,
): AsyncGenerator<readonly AgentEvent[]> {
	const { sessionId } = origin;
	let last = after;
	let skipped = 0;
	while (last < end) {
		const rows = await database.query(
			`select seq, body from (
				select seq, body, sum(octet_length(body)) over (order by seq) - octet_length(body) as before
				from (select seq, body from ${database.schema}.event
					where session_id = $1 and seq > $2 and seq <= $3 order by seq limit ${longestPage}) as page
			) as sized where before < ${largestPage} order by seq`,
			[sessionId, last, end],
		);
		if (rows.length === 0) break;
		const events: AgentEvent[] = [];
		for (const row of rows) {
			const { seq, body } = v.parse(rowSchema, row);
			last = seq;
			const event = fromEventRecord(parseLine(body), origin);
			if (event === null) skipped += 1;
			else events.push(event);
		}
		yield events;
	}
	if (skipped > 0) log.warn("events of a session could not be read", { sessionId, skipped });
}
