// The journal of a session as the judges of the crash campaigns read it: its whole groups, the events, and what they say
// of tool calls and the context.

import type { ContextRow } from "../../../src/api/values/conversation.ts";
import type { AgentEvent } from "../../../src/api/values/event.ts";
import { isRecord } from "../../../src/base/json.ts";
import { wholeText } from "../../../src/base/text/long-text.ts";
import { toLine } from "../../../src/ports/store/context-row.ts";
import {
	fromHeaderLine,
	fromRecordLine,
	type ReadRecord,
} from "../../../src/ports/store/disk/journal/journal-record.ts";

export interface Journal {
	/** What is in the event log and not in the journal. */
	readonly history: { readonly wire: number; readonly events: number };
	readonly records: readonly ReadRecord[];
	/** Where the last whole group ends. */
	readonly end: number;
	readonly faults: readonly string[];
}

/** Every line of a whole group has to be readable; half a group at the end is what a crash leaves. */
export function readJournal(bytes: Buffer): Journal {
	const faults: string[] = [];
	const records: ReadRecord[] = [];
	let history = { wire: 0, events: 0 };
	let epoch = "";
	let group: ReadRecord[] = [];
	let start = 0;
	let end = 0;
	while (start < bytes.length) {
		const newline = bytes.indexOf(10, start);
		const value = parseObject(bytes.toString("utf8", start, newline === -1 ? bytes.length : newline));
		// A whole last line that lacks but its newline is there.
		if (newline === -1 && value === null) break;
		const isHeader = start === 0;
		start = newline === -1 ? bytes.length : newline + 1;
		if (isHeader) {
			const header = fromHeaderLine(value);
			if (header === null) faults.push("journal: no header");
			else ({ history, epoch } = header);
			continue;
		}
		const record = fromRecordLine(value, { sessionId: "", epoch });
		if (record.kind === "unreadable") faults.push(`journal: a line that cannot be read, ${JSON.stringify(value)}`);
		group.push(record);
		if (value?.["more"] === true) continue;
		records.push(...group);
		group = [];
		end = start;
	}
	return { history, records, end, faults };
}

/** The JSON object of a line; null when it has none. */
export function parseObject(line: string): Record<string, unknown> | null {
	try {
		const value: unknown = JSON.parse(line);
		return isRecord(value) ? value : null;
	} catch {
		return null;
	}
}

export const eventsOf = ({ records }: Pick<Journal, "records">): readonly AgentEvent[] =>
	records.flatMap((record) => (record.kind === "event" ? [record.event] : []));

/** A call with an effect that was started and is not over. */
export interface OpenCall {
	readonly id: string;
	/** Whether it was recorded that the context says that its outcome is unknown. */
	recovered: boolean;
}

/** The calls that are not over, and not reported to the person. */
export function openCalls(bytes: Buffer): readonly OpenCall[] {
	let open: OpenCall[] = [];
	for (const { body } of eventsOf(readJournal(bytes))) {
		switch (body.type) {
			case "tool.started":
				if (body.has_effect) open.push({ id: body.toolCallId, recovered: false });
				break;
			case "tool.result":
			case "tool.ended": {
				const at = open.findIndex(({ id }) => id === body.toolCallId);
				if (at !== -1) open.splice(at, 1);
				break;
			}
			case "tool.outcome-unknown": {
				const found = open.find(({ id, recovered }) => id === body.toolCallId && !recovered);
				if (found !== undefined) found.recovered = true;
				break;
			}
			case "recovery.reported":
				open = open.filter(({ recovered }) => !recovered);
				break;
			default:
		}
	}
	return open;
}

/** The rows of the context as the records have them. */
export function contextRowsOf({ records }: Pick<Journal, "records">): readonly ContextRow[] {
	let rows: ContextRow[] = [];
	for (const record of records) {
		if (record.kind !== "context") continue;
		if (record.change.kind === "replace") rows = [];
		rows.push(...record.change.rows);
	}
	return rows;
}

/** The same as the bytes of a context log. */
export function contextOf(journal: Pick<Journal, "records">): Buffer {
	return toContextLog(contextRowsOf(journal));
}

/** The bytes of a context log with every row that the context has ever had, also those that were replaced. */
export function everyContextOf(journal: Pick<Journal, "records">): Buffer {
	return toContextLog(everyRowOf(journal));
}

/** Every row that the context has ever had, also those that were replaced. */
export function everyRowOf({ records }: Pick<Journal, "records">): readonly ContextRow[] {
	const rows: ContextRow[] = [];
	let stage: ContextRow[] = [];
	for (const record of records) {
		if (record.kind !== "context") continue;
		const { kind, rows: own } = record.change;
		const known = new Set(kind === "replace" ? stage.map((row) => JSON.stringify(row)) : []);
		rows.push(...own.filter((row) => !known.has(JSON.stringify(row))));
		stage = kind === "replace" ? [...own] : [...stage, ...own];
	}
	return rows;
}

function toContextLog(rows: readonly ContextRow[]): Buffer {
	return Buffer.from(rows.map((row) => `${wholeText(toLine(row))}\n`).join(""));
}
