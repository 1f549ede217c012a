// Lines of `journal.jsonl`: a header, then numbered events, changes to context or state, and summaries of everything before them.
import * as v from "valibot";
import type { ContextChange } from "../../../../api/values/conversation.ts";
import type { AgentEvent } from "../../../../api/values/event.ts";
import { isRecord } from "../../../../base/json.ts";
import { type LineText, toLineText } from "../../../../base/text/long-text.ts";
import { fromLine, toLine } from "../../context-row.ts";
import {
	count,
	fromEventRecord,
	fromStateRecord,
	lastSeq,
	type RecordOrigin,
	summaryEntries,
	toEventRecord,
	toEvents,
	toSummaryRecord,
} from "../../record.ts";
import type { JournalSummary, SessionState } from "../../session-store.ts";

export const journalVersion = 1;

export interface JournalHeader {
	readonly epoch: string;
	/** The part of `wire.jsonl` that precedes the journal: its length in bytes, and the number of its events, numbered from 1. */
	readonly history: { readonly wire: number; readonly events: number };
}

/** Sizes of the other logs in bytes; null if a log may differ from the journal. */
export interface LogSizes {
	readonly wire: number | null;
	readonly context: number | null;
	readonly calls: number;
}

export interface SummaryRecord extends JournalSummary {
	readonly seq: number;
	readonly sizes: LogSizes;
	readonly hasState: boolean;
	/** Whether the session was closed at this point. */
	readonly clean: boolean;
}

export type JournalRecord =
	| { readonly kind: "event"; readonly event: AgentEvent }
	| { readonly kind: "context"; readonly change: ContextChange }
	| { readonly kind: "state"; readonly state: Partial<SessionState> }
	| { readonly kind: "summary"; readonly summary: SummaryRecord };

/** A parsed record; an unreadable event keeps its number. */
export type ReadRecord = JournalRecord | { readonly kind: "unreadable"; readonly seq: number | null };

const headerSchema = v.object({
	journal: v.number(),
	epoch: v.pipe(v.string(), v.minLength(1)),
	history: v.object({ wire: count, events: lastSeq }),
});
const contextSchema = v.object({ context: v.picklist(["append", "replace"]), rows: v.array(v.unknown()) });
const summarySchema = v.object({
	seq: lastSeq,
	clean: v.boolean(),
	hasState: v.boolean(),
	sizes: v.object({ wire: v.nullable(count), context: v.nullable(count), calls: count }),
	...summaryEntries,
});

export function toHeaderLine({ epoch, history }: JournalHeader): string {
	return JSON.stringify({ journal: journalVersion, epoch, history });
}

export function fromHeaderLine(value: unknown): (JournalHeader & { readonly version: number }) | null {
	const parsed = v.safeParse(headerSchema, value);
	if (!parsed.success) return null;
	const { journal: version, epoch, history } = parsed.output;
	return { version, epoch, history };
}

/** The lines of a record group: all but the last are marked as continued. */
export function toGroupLines(records: readonly JournalRecord[]): LineText[] {
	return records.map((record, index) => toRecordLine(record, index < records.length - 1));
}

function toRecordLine(record: JournalRecord, hasMore: boolean): LineText {
	const more = hasMore ? { more: true } : {};
	switch (record.kind) {
		case "event":
			return toLineText({ ...toEventRecord(record.event), ...more });
		case "context":
			return toContextLine(record.change, hasMore);
		case "state":
			return toLineText({ state: record.state, ...more });
		case "summary":
			return toLineText({ summary: toSummaryRecord(record.summary), ...more });
	}
}

function toContextLine({ kind, rows }: ContextChange, hasMore: boolean): LineText {
	const parts: LineText[] = [`{"context":"${kind}","rows":[`];
	for (const [index, row] of rows.entries()) parts.push(index === 0 ? "" : ",", toLine(row));
	parts.push(hasMore ? '],"more":true}' : "]}");
	return concatenate(parts);
}

/** Characters above which a text is written in pieces. */
const longLength = 1024 * 1024;

function concatenate(parts: readonly LineText[]): LineText {
	const length = parts.reduce((sum, part) => sum + part.length, 0);
	if (length <= longLength && parts.every((part) => typeof part === "string")) return parts.join("");
	return {
		length,
		*[Symbol.iterator]() {
			for (const part of parts) {
				if (typeof part === "string") yield part;
				else yield* part;
			}
		},
	};
}

export function hasMore(line: Record<string, unknown> | null): boolean {
	return line?.["more"] === true;
}

export function fromRecordLine(line: Record<string, unknown> | null, origin: RecordOrigin): ReadRecord {
	if (line === null) return { kind: "unreadable", seq: null };
	if ("event" in line) {
		const event = fromEventRecord(line, origin);
		if (event !== null) return { kind: "event", event };
		const { seq } = line;
		return { kind: "unreadable", seq: v.is(lastSeq, seq) ? seq : null };
	}
	return toContext(line) ?? toState(line) ?? toSummary(line, origin) ?? { kind: "unreadable", seq: null };
}

function toContext(line: unknown): JournalRecord | null {
	const parsed = v.safeParse(contextSchema, line);
	if (!parsed.success) return null;
	const rows = parsed.output.rows.flatMap((row) => (isRecord(row) ? (fromLine(row) ?? []) : []));
	return { kind: "context", change: { kind: parsed.output.context, rows } };
}

function toState(line: Record<string, unknown>): JournalRecord | null {
	const state = fromStateRecord(line["state"]);
	return state === null ? null : { kind: "state", state };
}

function toSummary(line: Record<string, unknown>, origin: RecordOrigin): JournalRecord | null {
	const parsed = v.safeParse(summarySchema, line["summary"]);
	if (!parsed.success) return null;
	return { kind: "summary", summary: { ...parsed.output, unretained: toEvents(parsed.output.unretained, origin) } };
}
