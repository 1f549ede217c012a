// Reads the rows of a context from the database.
import * as v from "valibot";
import type { Log } from "../../base/log.ts";
import { createPace } from "../../base/pace.ts";
import type { ContextRow } from "../../events/conversation.ts";
import { fromLine } from "../context-row.ts";
import { parseLine } from "../disk/logs/json-lines.ts";
import type { Row } from "./database.ts";

const rowSchema = v.object({ n: v.pipe(v.unknown(), v.transform(Number), v.integer()), body: v.string() });
const pace = createPace();

/** The rows, in their order, and the place of the last one; invalid ones are skipped and logged. */
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
