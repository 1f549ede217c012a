// The statement that stores a group of commits, and changes nothing unless this process may write the session.
import type { Placement } from "../../../api/session-list.ts";
import { toLineText, wholeText } from "../../../base/text/long-text.ts";
import { toLine } from "../context-row.ts";
import { toEventRecord, toSummaryRecord } from "../record.ts";
import type { SessionState } from "../session-store.ts";
import type { Change } from "./commit-change.ts";
import type { Database } from "./database.ts";
import type { SessionRight } from "./process-lease.ts";
import { toColumn } from "./sessions/session-row.ts";

export interface WrittenSession extends SessionRight, Placement {
	readonly workDir: string;
	readonly epoch: string;
	readonly isStaged: boolean;
}

export interface CommittedRow extends WrittenSession {
	readonly version: number;
	readonly isStateStale: boolean;
}

/** The statement text: `first` creates the row. Returns a row if it changed something. */
export function commitStatements(schema: string): { readonly first: string; readonly later: string } {
	return { first: typed(textOf(schema, true)), later: typed(textOf(schema, false)) };
}

/** The first commit creates the row, unless another process did. */
function headOf(schema: string, isFirst: boolean): string {
	const isLive = `exists (select from ${schema}.process where id = $3 and lease_until > now())`;
	return isFirst
		? `insert into ${schema}.session (id, work_dir, owner, needs, epoch, holder, term, version, last_seq, state, custom_title,
			archived_at, first_title, running_turn, summary, summary_seq, answered_seq, context_generation, has_context,
			has_message, is_established, is_staged)
		select $1, $24, $25, $26, $27, $3, $2, $4 + 1, $5, $11, case when $12 then $13 end, case when $14 then $15 end, $19,
			$20, $21, coalesce($22, 0), $23, $8, $16, $17,
			$18, $28 where ${isLive}
		on conflict (id) do nothing returning id`
		: `update ${schema}.session set version = version + 1, last_seq = $5, context_generation = $8,
			state = coalesce($11, state), custom_title = case when $12 then $13 else custom_title end,
			archived_at = case when $14 then $15 else archived_at end, has_context = $16, has_message = $17,
			is_established = is_established or $18, first_title = $19,
			running_turn = $20, summary = coalesce($21, summary), summary_seq = coalesce($22, summary_seq), answered_seq = $23, updated_at = date_trunc('milliseconds', now())
		where id = $1 and term = $2 and holder = $3 and version = $4 and ${isLive} returning id`;
}

function textOf(schema: string, isFirst: boolean): string {
	return `with head as (${headOf(schema, isFirst)}), events as (
			insert into ${schema}.event (session_id, seq, term, body)
			select head.id, e.seq, $2, e.body from head, unnest($6::bigint[], $7::text[]) as e(seq, body)
		), rows as (
			insert into ${schema}.context_row (session_id, agent_id, generation, n, body)
			select head.id, '', $8, r.n, r.body from head, unnest($9::bigint[], $10::text[]) as r(n, body)
		) select id from head`;
}

export function commitValues(row: CommittedRow, change: Change, isFirst: boolean): unknown[] {
	const { state, summary } = change;
	const values: unknown[] = [
		row.sessionId,
		row.term,
		row.holder,
		row.version,
		change.lastSeq,
		change.events.map(({ seq }) => seq),
		change.events.map((event) => wholeText(toLineText(toEventRecord(event)))),
		change.generation,
		change.rows.map(({ n }) => n),
		change.rows.map(({ row }) => wholeText(toLine(row))),
		change.changesState || row.isStateStale || isFirst ? toStateText(state) : null,
		change.changesTitle,
		state.customTitle === null ? null : toColumn(state.customTitle),
		change.changesArchive || row.isStateStale,
		state.archivedAt,
		change.hasContext,
		change.hasMessage,
		change.isEstablished,
		change.firstTitle === null ? null : toColumn(change.firstTitle),
		summary.current.openTurn,
		change.storesSummary ? JSON.stringify(toSummaryRecord(summary.current)) : null,
		change.storesSummary ? change.lastSeq : null,
		change.answeredSeq,
	];
	if (isFirst) values.push(row.workDir, row.owner, row.needs, row.epoch, row.isStaged);
	return values;
}

/** Whether a statement whose response was lost is in the database. */
export async function isStored({ query, schema }: Database, row: CommittedRow, change: Change): Promise<boolean> {
	const [found] = await query(
		`select (select count(*) from ${schema}.event e join unnest($5::bigint[], $6::text[]) as sent(seq, body)
			on e.session_id = $1 and e.seq = sent.seq and e.term = $2 and e.body = sent.body) as events
		from ${schema}.session where id = $1 and epoch = $4 and ((term = $2 and version = $3) or cardinality($5::bigint[]) > 0)`,
		[
			row.sessionId,
			row.term,
			row.version + 1,
			row.epoch,
			change.events.map(({ seq }) => seq),
			change.events.map((event) => wholeText(toLineText(toEventRecord(event)))),
		],
	);
	return found !== undefined && Number(found["events"]) === change.events.length;
}

function toStateText({ customTitle: _, archivedAt: __, ...state }: SessionState): string {
	return JSON.stringify(state);
}

/** Adds parameter types that the server cannot infer. */
function typed(text: string): string {
	const types: Readonly<Record<number, string>> = {
		1: "text",
		2: "bigint",
		3: "text",
		4: "bigint",
		5: "bigint",
		8: "bigint",
		11: "text",
		12: "boolean",
		13: "text",
		14: "boolean",
		15: "double precision",
		16: "boolean",
		17: "boolean",
		18: "boolean",
		19: "text",
		20: "text",
		21: "text",
		22: "bigint",
		23: "bigint",
		24: "text",
		25: "text",
		26: "text[]",
		27: "text",
		28: "boolean",
	};
	return text.replaceAll(/\$(\d+)(?!\d*::)/g, (all, number: string) => {
		const type = types[Number(number)];
		return type === undefined ? all : `${all}::${type}`;
	});
}
