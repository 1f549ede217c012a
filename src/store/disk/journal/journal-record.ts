// The records of a session's journal, `journal.jsonl`, and their lines: an event with its number, a change of the
// context or of the state, and a summary of everything before it. The first line is a header.
import * as v from "valibot";
import { isRecord } from "../../../base/json.ts";
import { type LineText, toLineText } from "../../../base/long-text.ts";
import { todoSchema } from "../../../events/content.ts";
import type { ContextChange } from "../../../events/conversation.ts";
import { type AgentEvent, readEventBody } from "../../../events/event.ts";
import { fromLine, toLine } from "../../context-row.ts";
import type { JournalSummary, SessionState } from "../../session-store.ts";

/** The version of the format, in the header. */
export const journalVersion = 1;

export interface JournalHeader {
	/** The name of the history that the numbers count in. */
	readonly epoch: string;
	/** What is in `wire.jsonl` and not in the journal: its first bytes, and the events in them, numbered from 1. */
	readonly history: { readonly wire: number; readonly events: number };
}

/** Sizes in bytes of the other logs; null for one whose content is not known to agree with the journal. */
export interface LogSizes {
	readonly wire: number | null;
	readonly context: number | null;
	readonly calls: number;
}

/** What is true of everything before the record. */
export interface SummaryRecord extends JournalSummary {
	/** The number of the last event. */
	readonly seq: number;
	readonly sizes: LogSizes;
	/** Whether the state of the session is in the journal. */
	readonly hasState: boolean;
	/** Whether the session was closed then. */
	readonly clean: boolean;
}

export type JournalRecord =
	| { readonly kind: "event"; readonly event: AgentEvent }
	| { readonly kind: "context"; readonly change: ContextChange }
	| { readonly kind: "state"; readonly state: Partial<SessionState> }
	| { readonly kind: "summary"; readonly summary: SummaryRecord };

/** A record as it was read; the number of an unreadable event stays taken. */
export type ReadRecord = JournalRecord | { readonly kind: "unreadable"; readonly seq: number | null };

const count = v.pipe(v.number(), v.integer(), v.minValue(0));
/** Greater numbers are damage: the ones after them could not be distinguished. */
const greatestSeq = 2 ** 48;
const lastSeq = v.pipe(count, v.maxValue(greatestSeq));
const amount = v.pipe(v.number(), v.minValue(0));
const agentSchema = v.object({
	parentToolCallId: v.nullable(v.string()),
	agentId: v.nullable(v.string()),
	subagentType: v.nullable(v.string()),
});
const headerSchema = v.object({
	journal: v.number(),
	epoch: v.pipe(v.string(), v.minLength(1)),
	history: v.object({ wire: count, events: lastSeq }),
});
const eventSchema = v.object({
	seq: v.pipe(lastSeq, v.minValue(1)),
	at: v.number(),
	turn: v.nullable(v.string()),
	log: v.optional(v.boolean(), false),
	agents: v.optional(v.array(agentSchema), () => []),
	event: v.unknown(),
});
const contextSchema = v.object({ context: v.picklist(["append", "replace"]), rows: v.array(v.unknown()) });
const approval = v.object({ yolo: v.boolean(), afk: v.boolean(), autoApproveActions: v.array(v.string()) });
const stateSchema = v.object({
	approval: v.exactOptional(approval),
	additionalDirs: v.exactOptional(v.array(v.string())),
	customTitle: v.exactOptional(v.nullable(v.string())),
	planMode: v.exactOptional(v.boolean()),
	planSessionId: v.exactOptional(v.nullable(v.string())),
	planSlug: v.exactOptional(v.nullable(v.string())),
	todos: v.exactOptional(v.array(todoSchema)),
	archivedAt: v.exactOptional(v.nullable(v.number())),
	creationOptions: v.exactOptional(v.unknown()),
	forkedFrom: v.exactOptional(v.nullable(v.string())),
});
const summarySchema = v.object({
	seq: lastSeq,
	clean: v.boolean(),
	hasState: v.boolean(),
	sizes: v.object({ wire: v.nullable(count), context: v.nullable(count), calls: count }),
	used: v.object({ tokens: amount, milliseconds: amount, toolCalls: amount }),
	unfinishedCalls: v.array(
		v.object({ toolCallId: v.string(), name: v.string(), arguments: v.nullable(v.string()), isRecovered: v.boolean() }),
	),
	unretained: v.array(v.unknown()),
	isInStep: v.optional(v.boolean(), false),
	openTurn: v.optional(v.nullable(v.string()), null),
	keyedTurns: v.optional(v.array(v.object({ key: v.string(), turnId: v.string(), digest: v.string() })), () => []),
});

/** The first line of a journal. */
export function toHeaderLine({ epoch, history }: JournalHeader): string {
	return JSON.stringify({ journal: journalVersion, epoch, history });
}

/** The header in a line and the version of its format; null when the line has none. */
export function fromHeaderLine(value: unknown): (JournalHeader & { readonly version: number }) | null {
	const parsed = v.safeParse(headerSchema, value);
	if (!parsed.success) return null;
	const { journal: version, epoch, history } = parsed.output;
	return { version, epoch, history };
}

/** The lines of records that belong together: all but the last say that more follows. */
export function toGroupLines(records: readonly JournalRecord[]): LineText[] {
	return records.map((record, index) => toRecordLine(record, index < records.length - 1));
}

function toRecordLine(record: JournalRecord, hasMore: boolean): LineText {
	const more = hasMore ? { more: true } : {};
	switch (record.kind) {
		case "event":
			return toLineText({ ...toEventValue(record.event), ...more });
		case "context":
			return toContextLine(record.change, hasMore);
		case "state":
			return toLineText({ state: record.state, ...more });
		case "summary": {
			const { unretained, openTurn, keyedTurns, ...summary } = record.summary;
			const turns = {
				...(openTurn === null ? {} : { openTurn }),
				...(keyedTurns.length === 0 ? {} : { keyedTurns }),
			};
			return toLineText({ summary: { ...summary, unretained: unretained.map(toEventValue), ...turns }, ...more });
		}
	}
}

function toEventValue({ seq, at, turnId, isFromLog, agentPath, body }: AgentEvent): object {
	const agents = agentPath.length === 0 ? {} : { agents: agentPath };
	return { seq, at, turn: turnId, ...(isFromLog === true ? { log: true } : {}), ...agents, event: body };
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

/** Whether the record of the line is followed by others that belong to it. */
export function hasMore(line: Record<string, unknown> | null): boolean {
	return line?.["more"] === true;
}

/** The record of a line; `origin` completes its events. */
export function fromRecordLine(line: Record<string, unknown> | null, origin: RecordOrigin): ReadRecord {
	if (line === null) return { kind: "unreadable", seq: null };
	if ("event" in line) {
		const event = toEvent(line, origin);
		if (event !== null) return { kind: "event", event };
		const { seq } = line;
		return { kind: "unreadable", seq: v.is(lastSeq, seq) ? seq : null };
	}
	return toContext(line) ?? toState(line) ?? toSummary(line, origin) ?? { kind: "unreadable", seq: null };
}

/** What the events of a journal have in common. */
export interface RecordOrigin {
	readonly sessionId: string;
	readonly epoch: string;
}

function toEvent(line: unknown, { sessionId, epoch }: RecordOrigin): AgentEvent | null {
	const parsed = v.safeParse(eventSchema, line);
	if (!parsed.success) return null;
	const { seq, at, turn, log, agents, event } = parsed.output;
	const body = readEventBody(event);
	if (body === null) return null;
	const read = { sessionId, turnId: turn, agentPath: agents, at, seq, epoch, body };
	return log ? { ...read, isFromLog: true } : read;
}

function toContext(line: unknown): JournalRecord | null {
	const parsed = v.safeParse(contextSchema, line);
	if (!parsed.success) return null;
	const rows = parsed.output.rows.flatMap((row) => (isRecord(row) ? (fromLine(row) ?? []) : []));
	return { kind: "context", change: { kind: parsed.output.context, rows } };
}

function toState(line: Record<string, unknown>): JournalRecord | null {
	const parsed = v.safeParse(stateSchema, line["state"]);
	return parsed.success ? { kind: "state", state: parsed.output } : null;
}

function toSummary(line: Record<string, unknown>, origin: RecordOrigin): JournalRecord | null {
	const parsed = v.safeParse(summarySchema, line["summary"]);
	if (!parsed.success) return null;
	const unretained = parsed.output.unretained.flatMap((value) => toEvent(value, origin) ?? []);
	return { kind: "summary", summary: { ...parsed.output, unretained } };
}
