// Compares the shared `wire.jsonl` and `context.jsonl` with the journal: rewrites what is missing, imports what other programs changed.

import type { ContextRow } from "../../../../api/values/conversation.ts";
import type { AgentEvent } from "../../../../api/values/event.ts";
import { wholeText } from "../../../../base/text/long-text.ts";
import { fromLine, toLine } from "../../context-row.ts";
import { parseContext } from "../logs/context-log.ts";
import { countEvents, readLogLine, toEvent, toEventLine } from "../logs/event-log.ts";
import { type FileRange, parseRawLine, type RawLine, readRawLines, readRecords } from "./journal-file.ts";
import { type JournalSource, type OpenedJournal, readJournalContext } from "./journal-opening.ts";
import type { JournalHeader } from "./journal-record.ts";

/** How to update a log: not at all, by appending, or by rewriting it. */
export type Repair<Missing> =
	| { readonly kind: "none" }
	| { readonly kind: "append"; readonly missing: Missing }
	| { readonly kind: "rewrite" };

export interface WireRecovery {
	/** Includes the number of events in the journal's tail whose lines are present. */
	readonly repair: Repair<number>;
	readonly imported: readonly AgentEvent[];
	/** The remaining history before the journal. */
	readonly history: JournalHeader["history"];
}

export interface ContextRecovery {
	readonly repair: Repair<readonly ContextRow[]>;
	/** Null if the file has them. */
	readonly rows: readonly ContextRow[] | null;
	/** Whether another program changed the file: its content then wins. */
	readonly isForeign: boolean;
}

interface Comparison {
	readonly found: number;
	readonly isMissingSome: boolean;
}

const none = { kind: "none" } as const;

/** Searches for the expected lines in order; other programs may have written lines between them. */
async function compareLines(
	{ files }: JournalSource,
	path: string,
	range: FileRange,
	expected: AsyncIterator<string>,
	onOther: (raw: RawLine) => void,
): Promise<Comparison> {
	let found = 0;
	let next = await expected.next();
	for await (const raw of readRawLines(files, path, range)) {
		if (raw.bytes?.length === 0) continue;
		if (next.done !== true && raw.bytes?.toString("utf8") === next.value) {
			found += 1;
			next = await expected.next();
		} else onOther(raw);
	}
	return { found, isMissingSome: next.done !== true };
}

async function* wireLines({ files, path, sessionId }: JournalSource, range: FileRange): AsyncGenerator<string> {
	for await (const { record } of readRecords(files, path, range, { sessionId, epoch: "" })) {
		const line = record.kind === "event" ? toEventLine(record.event) : null;
		if (line !== null) yield wholeText(line);
	}
}

async function* contextLines(rows: readonly ContextRow[]): AsyncGenerator<string> {
	for (const row of rows) yield wholeText(toLine(row));
}

async function* everyContextLine({ files, path, sessionId }: JournalSource, range: FileRange): AsyncGenerator<string> {
	for await (const { record } of readRecords(files, path, range, { sessionId, epoch: "" })) {
		if (record.kind === "context") yield* contextLines(record.change.rows);
	}
}

/** A process that had lost the session may have written wanted lines late, elsewhere in the file. */
async function findLines(lines: AsyncIterable<string>, wanted: ReadonlySet<string>): Promise<ReadonlySet<string>> {
	const found = new Set<string>();
	if (wanted.size === 0) return found;
	for await (const line of lines) if (wanted.has(line)) found.add(line);
	return found;
}

function isTorn(raw: RawLine, size: number): boolean {
	return raw.end === size && raw.bytes !== null && raw.end - raw.start === raw.bytes.length;
}

export async function recoverWire(
	source: JournalSource,
	journal: OpenedJournal,
	log: { readonly path: string; readonly size: number },
): Promise<WireRecovery> {
	const { history } = journal.header;
	const base = journal.sizes.wire;
	if (base !== null && log.size >= base) {
		const range = { start: base, end: log.size };
		return compareWire(source, journal, journal.tail, { ...log, range });
	}
	if (log.size >= history.wire) {
		const range = { start: history.wire, end: log.size };
		return compareWire(source, journal, journal.range, { ...log, range }, true);
	}
	// Part of the content that only this file had is lost.
	const left = { wire: log.size, events: await countEvents(source.files, log.path, log.size) };
	return { repair: { kind: "rewrite" }, imported: [], history: left };
}

async function compareWire(
	source: JournalSource,
	{ range, header: { history } }: OpenedJournal,
	part: FileRange,
	log: { readonly path: string; readonly size: number; readonly range: FileRange },
	isWhole = false,
): Promise<WireRecovery> {
	const others: { readonly text: string; readonly event: AgentEvent }[] = [];
	let isDamaged = false;
	const onOther = (raw: RawLine): void => {
		const line = readLogLine(parseRawLine(raw));
		if (line.kind === "record") {
			others.push({ text: raw.bytes?.toString("utf8") ?? "", event: toEvent(line.record, source.sessionId) });
		}
		if (line.kind === "unreadable" && !isTorn(raw, log.size)) isDamaged = true;
	};
	const expected = wireLines(source, part);
	const { found, isMissingSome } = await compareLines(source, log.path, log.range, expected, onOther);
	const repeated = await findLines(wireLines(source, range), new Set(others.map(({ text }) => text)));
	const imported = others.filter(({ text }) => !repeated.has(text)).map(({ event }) => event);
	if (!isMissingSome && repeated.size === 0) return { repair: none, imported, history };
	const canAppend = others.length === 0 && !isDamaged && !isWhole;
	return { repair: canAppend ? { kind: "append", missing: found } : { kind: "rewrite" }, imported, history };
}

export async function missingWireLines(
	source: JournalSource,
	journal: OpenedJournal,
	found: number,
): Promise<readonly string[]> {
	const lines: string[] = [];
	let count = 0;
	for await (const line of wireLines(source, journal.tail)) {
		if (count >= found) lines.push(line);
		count += 1;
	}
	return lines;
}

export async function recoverContext(
	source: JournalSource,
	journal: OpenedJournal,
	log: { readonly path: string; readonly size: number | null; readonly isNewer: boolean },
): Promise<ContextRecovery> {
	const { stages } = journal;
	const last = stages.at(-1) ?? { base: 0, rows: [] };
	const rewrite = async (): Promise<ContextRecovery> => {
		const rows = await readJournalContext(source, journal.range);
		return { repair: { kind: "rewrite" }, rows, isForeign: false };
	};
	const asItIs: ContextRecovery = { repair: none, rows: null, isForeign: true };
	const size = log.size ?? 0;
	if (size === 0) {
		if (last.base === 0 && last.rows.length === 0) return { repair: none, rows: null, isForeign: false };
		return rewrite();
	}
	if (last.base === null) return rewrite();
	if (size < last.base) {
		const end = await source.files.readRange(log.path, size - 1, 1);
		return end?.[0] === 0x0a && log.isNewer ? asItIs : rewrite();
	}
	const { found, isMissingSome, others } = await compareContext(source, log.path, size, last.base, last.rows);
	if (!isMissingSome && others.rows.size === 0) return { repair: none, rows: null, isForeign: false };
	if (others.rows.size === 0) {
		if (others.isDamaged) return rewrite();
		const missing = last.rows.slice(found);
		const bytes = (await source.files.read(log.path)) ?? Buffer.alloc(0);
		const rows = [...parseContext(bytes, log.path, source.log), ...missing];
		return { repair: { kind: "append", missing }, rows, isForeign: false };
	}
	if (await isOfEarlierStage(source, journal, log.path, size)) return rewrite();
	const recovered = await rewrite();
	// Another program starts with a checkpoint. From the tail alone, earlier rows are known only if their position is.
	const isPlaced = stages.slice(0, -1).every(({ base }) => base !== null);
	const ours = isPlaced ? contextLines(recovered.rows ?? []) : everyContextLine(source, journal.range);
	const repeated = await findLines(ours, others.rows);
	return repeated.size === others.rows.size ? recovered : asItIs;
}

interface OtherLines {
	readonly rows: ReadonlySet<string>;
	readonly isDamaged: boolean;
}

async function compareContext(
	source: JournalSource,
	path: string,
	size: number,
	base: number,
	rows: readonly ContextRow[],
): Promise<Comparison & { readonly others: OtherLines }> {
	const others = new Set<string>();
	let isDamaged = false;
	const onOther = (raw: RawLine): void => {
		if (fromLine(parseRawLine(raw)) !== null) others.add(raw.bytes?.toString("utf8") ?? "");
		else if (!isTorn(raw, size)) isDamaged = true;
	};
	const comparison = await compareLines(source, path, { start: base, end: size }, contextLines(rows), onOther);
	return { ...comparison, others: { rows: others, isDamaged } };
}

async function isOfEarlierStage(
	source: JournalSource,
	{ stages }: OpenedJournal,
	path: string,
	size: number,
): Promise<boolean> {
	for (const { base, rows } of stages.slice(0, -1)) {
		if (base === null || size < base) continue;
		if ((await compareContext(source, path, size, base, rows)).others.rows.size === 0) return true;
	}
	return false;
}
