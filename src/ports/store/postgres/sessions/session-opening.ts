import type { ContextRow } from "../../../../api/values/conversation.ts";
import { parseLine } from "../../disk/logs/json-lines.ts";
import { initialState } from "../../disk/state-file.ts";
import { RunningSummary } from "../../journal-summary.ts";
import { fromSummaryRecord } from "../../record.ts";
import { firstRow } from "../commit-change.ts";
import { toContextRows } from "../context-rows.ts";
import { readEventPages } from "../event-pages.ts";
import type { SessionSurroundings } from "./session-parts.ts";
import { type SessionRow, toRowState } from "./session-row.ts";
import type { WriterStart } from "./session-writer.ts";

type Reading = Pick<SessionSurroundings, "database" | "log">;

/** Reads a session's current context in one statement, so that it never sees a partial replacement. */
export async function readOwnContext({ database, log }: Reading, id: string): ReturnType<typeof toContextRows> {
	const { schema } = database;
	const found = await database.query(
		`select r.n, r.body from ${schema}.session s join ${schema}.context_row r
			on r.session_id = s.id and r.agent_id = '' and r.generation = s.context_generation
		where s.id = $1 order by r.n`,
		[id],
	);
	return await toContextRows(found, log, id);
}

async function readSummary({ database, log }: Reading, row: SessionRow): Promise<RunningSummary> {
	const origin = { sessionId: row.id, epoch: row.epoch };
	const stored = row.summary === null ? null : fromSummaryRecord(parseLine(row.summary), origin);
	const summary = stored === null ? new RunningSummary() : new RunningSummary(stored);
	const from = stored === null ? 0 : row.summary_seq;
	// The answer entered the context right after the summary, before any other event.
	if (row.answered_seq <= from && row.answered_seq === row.summary_seq) summary.leaveStep();
	for await (const events of readEventPages(database, { origin, log }, from, row.last_seq)) {
		for (const event of events) {
			summary.addEvent(event);
			if (event.seq === row.answered_seq) summary.leaveStep();
		}
	}
	return summary;
}

export async function readOpening(
	reading: Reading,
	row: SessionRow | null,
): Promise<{ readonly contextRows: readonly ContextRow[]; readonly start: WriterStart }> {
	const { rows, last } = row === null ? { rows: [], last: 0 } : await readOwnContext(reading, row.id);
	const start: WriterStart = {
		isNew: row === null,
		version: row?.version ?? 0,
		lastSeq: row?.last_seq ?? 0,
		generation: row?.context_generation ?? 0,
		nextRow: Math.max(firstRow, last + 1),
		hasPrompt: rows.some((each) => each.type === "system-prompt"),
		hasContext: row?.has_context ?? false,
		hasMessage: row?.has_message ?? false,
		isEstablished: row?.is_established ?? false,
		firstTitle: row?.first_title ?? null,
		state: row === null ? initialState() : toRowState(row),
		isStateStale: row !== null && !row.has_context,
		summary: row === null ? new RunningSummary() : await readSummary(reading, row),
		summarySeq: row?.summary_seq ?? 0,
		answeredSeq: row?.answered_seq ?? 0,
	};
	return { contextRows: rows, start };
}
