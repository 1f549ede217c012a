// What the journal of a session has, one line for each event: for whoever looks into a finding.
import { isRecord } from "../../../src/base/json.ts";
import type { Database } from "../../../src/ports/store/postgres/database.ts";

/** Events that are shown of one session. */
const most = 80;
const idPattern = /\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/;

/** The ends of the journals of the sessions that the first findings name. */
export async function traceSessions(database: Database, findings: readonly string[]): Promise<string[]> {
	const ids = new Set(findings.flatMap((text) => idPattern.exec(text)?.[0] ?? []));
	const traces: string[] = [];
	for (const id of [...ids].slice(0, 3)) {
		const rows = await database.query(
			`select seq, term, body from ${database.schema}.event where session_id = $1 order by seq desc limit ${most}`,
			[id],
		);
		const tenures = await database.query(
			`select term, holder, at from ${database.schema}.tenure where session_id = $1 order by at`,
			[id],
		);
		traces.push(
			[
				`journal of ${id}`,
				...tenures.map(({ term, holder, at }) => `term ${String(term)} ${String(holder)} ${toTime(at)}`),
				...[...rows]
					.reverse()
					.map(({ seq, term, body }) => `${String(seq)} in term ${String(term)}: ${toLine(String(body))}`),
			].join("\n  "),
		);
	}
	return traces;
}

function toTime(at: unknown): string {
	return at instanceof Date ? at.toISOString() : String(at);
}

function toLine(body: string): string {
	const record: unknown = JSON.parse(body);
	if (!isRecord(record) || !isRecord(record["event"])) return body.slice(0, 100);
	const { type, ...members } = record["event"];
	const at = new Date(Number(record["at"])).toISOString();
	return `${at} ${String(type)} of ${String(record["turn"]).slice(0, 8)} ${JSON.stringify(members).slice(0, 160)}`;
}
