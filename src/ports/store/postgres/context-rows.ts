import * as v from "valibot";
import type { ContextRow } from "../../../api/values/conversation.ts";
import type { Log } from "../../../base/log.ts";
import { createPace } from "../../../base/pace.ts";
import { fromLine } from "../context-row.ts";
import { parseLine } from "../disk/logs/json-lines.ts";
import type { Database, Row } from "./database.ts";
import { integer } from "./sessions/session-row.ts";

const rowSchema = v.object({ n: integer, body: v.string() });
const pace = createPace();

/** Returns the rows in order, and the last position; skips and logs invalid rows. */
export async function toContextRows(
	found: readonly Row[],
	log: Log,
	sessionId: string,
): Promise<{ readonly rows: readonly ContextRow[]; readonly last: number }> {
	const rows: ContextRow[] = [];
	let [skipped, last] = [0, 0];
	for (const each of found) {
		const yielding = pace.rest();
		if (yielding !== undefined) await yielding;
		const { n, body } = v.parse(rowSchema, each);
		const row = fromLine(parseLine(body));
		if (row === null) skipped += 1;
		else rows.push(row);
		last = Math.max(last, n);
	}
	if (skipped > 0) log.warn("rows of a context could not be read", { sessionId, skipped });
	return { rows, last };
}

const removedTogether = 1_000;

export async function removeOldRows(
	{ query, schema }: Database,
	sessionId: string,
	agentId: string,
	generation: number,
): Promise<void> {
	let removed: number;
	do {
		const rows = await query(
			// Repeat the conditions: in a partitioned table, row positions are unique only per partition.
			`delete from ${schema}.context_row where session_id = $1 and agent_id = $2 and generation < $3 and ctid = any (array(
				select ctid from ${schema}.context_row
				where session_id = $1 and agent_id = $2 and generation < $3 limit ${removedTogether}
			)) returning 1`,
			[sessionId, agentId, generation],
		);
		removed = rows.length;
	} while (removed === removedTogether);
}
