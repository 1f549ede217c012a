// Reads a journal's header and, from its last summary on, the session's current content and the expected content of the other logs.
import { randomBytes } from "node:crypto";
import type { ContextChange, ContextRow } from "../../../../api/values/conversation.ts";
import type { Log } from "../../../../base/log.ts";
import type { FileReader } from "../../../files/port.ts";
import { RunningSummary } from "../../journal-summary.ts";
import type { RecordOrigin } from "../../record.ts";
import type { JournalSummary, SessionState } from "../../session-store.ts";
import { type FileRange, findLastSummary, readHeader, readRecords } from "./journal-file.ts";
import type { JournalHeader, LogSizes } from "./journal-record.ts";

export function newEpoch(): string {
	return randomBytes(16).toString("hex");
}

/** A section of the expected context log: rows from this position on; null if the position is unknown. */
export interface ContextStage {
	readonly base: number | null;
	readonly rows: readonly ContextRow[];
}

export interface OpenedJournal {
	readonly kind: "opened";
	readonly header: JournalHeader;
	/** Its records; an incomplete group may follow in the file. */
	readonly range: FileRange;
	readonly lastSeq: number;
	readonly summary: JournalSummary;
	readonly hasState: boolean;
	readonly tail: FileRange;
	/** The sizes of the other logs before the tail. */
	readonly sizes: LogSizes;
	/** The tail's effect on the context log: one stage, plus one per replacement. */
	readonly stages: readonly ContextStage[];
	readonly state: Partial<SessionState> | null;
	/** Whether the session was closed cleanly: nothing written before is missing. */
	readonly isClosed: boolean;
}

/** `damaged`: unreadable header; `none`: no complete group. */
export type JournalOpening = OpenedJournal | { readonly kind: "none" } | { readonly kind: "damaged" };

export interface JournalSource {
	readonly files: FileReader;
	readonly log: Log;
	readonly path: string;
	readonly sessionId: string;
}

export async function openJournal(source: JournalSource): Promise<JournalOpening> {
	const { files, log, path } = source;
	const size = (await files.status(path))?.size ?? 0;
	if (size === 0) return { kind: "none" };
	const found = await readHeader(files, path);
	if (found === null) {
		// A crash during the first write leaves a partial first line.
		const start = (await files.readRange(path, 0, 64 * 1024)) ?? Buffer.alloc(0);
		return { kind: start.includes(0x0a) ? "damaged" : "none" };
	}
	const { header, end: start } = found;
	const origin: RecordOrigin = { sessionId: source.sessionId, epoch: header.epoch };
	const last = await findLastSummary(files, path, { start, end: size }, origin);
	const running = new RunningSummary(last?.summary);
	const sizes = last?.summary.sizes ?? { wire: header.history.wire, context: 0, calls: 0 };
	const stages = createStages(sizes.context);
	const tail = { start: last?.start ?? start, end: size };
	let lastSeq = last?.summary.seq ?? header.history.events;
	let state: Partial<SessionState> | null = null;
	let skipped = 0;
	let end = tail.start;
	let isClosed = false;
	for await (const { record, groupEnd } of readRecords(files, path, tail, origin)) {
		end = groupEnd;
		isClosed = record.kind === "summary" && record.summary.clean;
		switch (record.kind) {
			case "event":
				running.addEvent(record.event);
				lastSeq = Math.max(lastSeq, record.event.seq ?? 0);
				break;
			case "context":
				running.addContext(record.change);
				stages.add(record.change);
				break;
			case "state":
				state = { ...(state ?? {}), ...record.state };
				break;
			case "unreadable":
				skipped += 1;
				lastSeq = Math.max(lastSeq + (record.seq === null ? 1 : 0), record.seq ?? 0);
				break;
			case "summary":
		}
	}
	if (skipped > 0) log.warn("lines of the journal could not be read", { path, skipped });
	if (end < size) log.warn("the end of the journal was written in part and is ignored", { path, offset: end, size });
	if (end === start) return { kind: "none" };
	return {
		kind: "opened",
		header,
		range: { start, end },
		lastSeq,
		summary: running.current,
		hasState: state !== null || last?.summary.hasState === true,
		tail: { start: tail.start, end },
		sizes,
		stages: stages.all,
		state,
		isClosed,
	};
}

function createStages(base: number | null): {
	readonly all: readonly ContextStage[];
	add(change: ContextChange): void;
} {
	const all: { readonly base: number | null; readonly rows: ContextRow[] }[] = [{ base, rows: [] }];
	return {
		all,
		add({ kind, rows }) {
			if (kind === "replace") all.push({ base: 0, rows: [...rows] });
			else for (const row of rows) all.at(-1)?.rows.push(row);
		},
	};
}

export async function readJournalContext(
	{ files, path }: JournalSource,
	range: FileRange,
): Promise<readonly ContextRow[]> {
	let rows: ContextRow[] = [];
	for await (const { record } of readRecords(files, path, range, { sessionId: "", epoch: "" })) {
		if (record.kind !== "context") continue;
		if (record.change.kind === "replace") rows = [];
		for (const row of record.change.rows) rows.push(row);
	}
	return rows;
}

export async function readJournalState(
	{ files, path }: JournalSource,
	range: FileRange,
): Promise<Partial<SessionState> | null> {
	let state: Partial<SessionState> | null = null;
	for await (const { record } of readRecords(files, path, range, { sessionId: "", epoch: "" })) {
		if (record.kind === "state") state = { ...(state ?? {}), ...record.state };
	}
	return state;
}
