// Reads a session's `journal.jsonl`: complete record groups, events after a number, and the last summary, searched from the end.
import { KernelError } from "../../../../base/errors.ts";
import { createLineSplitter, type Line } from "../../../../base/text/lines.ts";
import type { FileReader } from "../../../files/port.ts";
import type { RecordOrigin } from "../../record.ts";
import { lineLimit, parseLine } from "../logs/json-lines.ts";
import {
	fromHeaderLine,
	fromRecordLine,
	hasMore,
	type JournalHeader,
	journalVersion,
	type ReadRecord,
	type SummaryRecord,
} from "./journal-record.ts";

const newline = 0x0a;
const pieceLength = 64 * 1024;
const longestHeader = 4096;

export interface FileRange {
	readonly start: number;
	readonly end: number;
}

export interface RawLine {
	readonly start: number;
	readonly end: number;
	/** Without its newline; null if the line is too long to read. */
	readonly bytes: Buffer | null;
}

async function* readBytes(
	files: FileReader,
	path: string,
	{ start, end }: FileRange,
	atOnce = pieceLength,
): AsyncGenerator<Buffer> {
	if (start === 0) {
		let left = end;
		if (left <= 0) return;
		for await (const piece of files.readPieces(path)) {
			yield piece.subarray(0, left);
			left -= piece.length;
			if (left <= 0) return;
		}
		return;
	}
	for (let at = start; at < end; ) {
		const piece = await files.readRange(path, at, Math.min(atOnce, end - at));
		if (piece === null || piece.length === 0) return;
		yield piece;
		at += piece.length;
	}
}

/** Lines with their positions, batched by read; their bytes are valid until the next batch. */
async function* readRawBatches(files: FileReader, path: string, range: FileRange): AsyncGenerator<readonly RawLine[]> {
	let start = range.start;
	let length = 0;
	let pieces: Buffer[] = [];
	const take = (bytes: Buffer): void => {
		length += bytes.length;
		if (length <= lineLimit) pieces.push(bytes);
		else pieces = [];
	};
	const complete = (hasNewline: boolean): RawLine => {
		const [only] = pieces;
		const joined = only !== undefined && pieces.length === 1 ? only : Buffer.concat(pieces, length);
		const bytes = length <= lineLimit ? joined : null;
		const end = start + length + (hasNewline ? 1 : 0);
		const line = { start, end, bytes };
		start = end;
		length = 0;
		pieces = [];
		return line;
	};
	for await (const piece of readBytes(files, path, range)) {
		const lines: RawLine[] = [];
		let from = 0;
		for (let at = piece.indexOf(newline); at !== -1; at = piece.indexOf(newline, from)) {
			take(piece.subarray(from, at));
			lines.push(complete(true));
			from = at + 1;
		}
		take(piece.subarray(from));
		yield lines;
	}
	if (length > 0) yield [complete(false)];
}

export async function* readRawLines(files: FileReader, path: string, range: FileRange): AsyncGenerator<RawLine> {
	for await (const lines of readRawBatches(files, path, range)) yield* lines;
}

export function parseRawLine({ bytes }: RawLine): Record<string, unknown> | null {
	return bytes === null ? null : parseLine(bytes.toString("utf8"));
}

function isBlank({ bytes }: RawLine): boolean {
	return bytes !== null && bytes.toString("latin1", 0, 64).trim() === "" && bytes.toString("utf8").trim() === "";
}

export async function readHeader(
	files: FileReader,
	path: string,
): Promise<{ readonly header: JournalHeader; readonly end: number } | null> {
	const bytes = (await files.readRange(path, 0, longestHeader)) ?? Buffer.alloc(0);
	const at = bytes.indexOf(newline);
	const found = at === -1 ? null : fromHeaderLine(parseLine(bytes.toString("utf8", 0, at)));
	if (found === null) return null;
	const { version, ...header } = found;
	if (version !== journalVersion) {
		throw new KernelError(
			"storage-failed",
			`${path} was written by a newer version of the program (format ${version}). Open the session with that version.`,
		);
	}
	return { header, end: at + 1 };
}

export interface PlacedRecord {
	readonly record: ReadRecord;
	readonly start: number;
	readonly groupEnd: number;
}

export async function* readRecords(
	files: FileReader,
	path: string,
	range: FileRange,
	origin: RecordOrigin,
): AsyncGenerator<PlacedRecord> {
	let open: { readonly record: ReadRecord; readonly start: number }[] = [];
	for await (const lines of readRawBatches(files, path, range)) {
		for (const raw of lines) {
			if (isBlank(raw)) continue;
			const line = parseRawLine(raw);
			// An unreadable last line without a newline is a partial write.
			const isTorn = line === null && raw.bytes !== null && raw.end - raw.start === raw.bytes.length;
			if (isTorn) return;
			open.push({ record: fromRecordLine(line, origin), start: raw.start });
			if (hasMore(line) || (line === null && open.length > 1)) continue;
			for (const { record, start } of open) yield { record, start, groupEnd: raw.end };
			open = [];
		}
	}
}

const eventLine = '{"seq":';
const eventMark = Buffer.from(`\n${eventLine}`);
const longestNumber = 16;
const zero = 0x30;

/** The event number, read from the first characters of a line; null for other records. */
function numberOf(text: string): number | null {
	if (!text.startsWith(eventLine)) return null;
	let seq: number | null = null;
	for (let at = eventLine.length; at < text.length; at += 1) {
		const digit = text.charCodeAt(at) - zero;
		if (digit < 0 || digit > 9) break;
		seq = (seq ?? 0) * 10 + digit;
	}
	return seq !== null && Number.isSafeInteger(seq) ? seq : null;
}

type StoredEvent = Extract<ReadRecord, { kind: "event" }>["event"];

/** Larger batches of objects would outlive the young generation of the heap. */
const readAtOnce = 128;

export async function* readJournalEvents(
	files: FileReader,
	path: string,
	range: FileRange,
	origin: RecordOrigin,
	after: number,
	onUnreadable: () => void,
): AsyncGenerator<readonly StoredEvent[]> {
	const toEvent = (line: Line, last: number): StoredEvent | null => {
		const text = line.kind === "line" ? line.text : null;
		const seq = text === null ? null : numberOf(text);
		if (text === null || seq === null) {
			if (text === null || (!text.startsWith("{") && text.trim() !== "")) onUnreadable();
			return null;
		}
		if (seq <= last) return null;
		const record = fromRecordLine(parseLine(text), origin);
		if (record.kind === "event") return record.event;
		onUnreadable();
		return null;
	};
	function* inGroups(lines: readonly Line[], last: number): Generator<readonly StoredEvent[]> {
		for (let start = 0; start < lines.length; start += readAtOnce) {
			const group = lines.slice(start, start + readAtOnce);
			const events = group.map((line) => toEvent(line, last)).filter((event) => event !== null);
			if (events.length > 0) yield events;
		}
	}
	async function* read(start: number, last: number): AsyncGenerator<readonly StoredEvent[]> {
		const splitter = createLineSplitter(lineLimit);
		const atOnce = start === range.start ? pieceLength : searchedLength;
		for await (const piece of readBytes(files, path, { start, end: range.end }, atOnce))
			yield* inGroups(splitter.push(piece), last);
		yield* inGroups(splitter.end(), last);
	}
	const start = after > 0 ? await findBefore(files, path, range, after) : range.start;
	if (start === range.start) return yield* read(start, after);
	let last = after;
	for await (const events of read(start, after)) {
		const expected = last + 1;
		// A gap: lines that a process wrote late, after it had lost the session, or one that cannot be read.
		if (!events.every(({ seq }, index) => seq === expected + index)) return yield* read(range.start, last);
		yield events;
		last += events.length;
	}
	if (last === after) yield* read(range.start, after);
}

/** Bytes that are read without a search for a better start. */
const searchedLength = 4 * pieceLength;

/** The start of a line with no event after number `after` before it. Numbers grow, so most of the file is not read. */
async function findBefore(files: FileReader, path: string, range: FileRange, after: number): Promise<number> {
	let { start, end } = range;
	while (end - start > searchedLength) {
		const middle = start + Math.floor((end - start) / 2);
		const event = await findEvent(files, path, { start: middle, end });
		if (event !== null && event.seq <= after) start = event.start;
		else end = middle;
	}
	return start;
}

/** The first line of an event in the range; null without any, or if its number cannot be read. */
async function findEvent(
	files: FileReader,
	path: string,
	{ start, end }: FileRange,
): Promise<{ readonly start: number; readonly seq: number } | null> {
	for (let from = start; from < end; from += pieceLength) {
		// A match may continue in the next piece.
		const bytes =
			(await files.readRange(path, from, pieceLength + eventMark.length + longestNumber)) ?? Buffer.alloc(0);
		const at = bytes.indexOf(eventMark);
		if (at === -1 || at >= pieceLength) continue;
		if (from + at + 1 >= end) return null;
		const seq = numberOf(bytes.toString("latin1", at + 1, at + eventMark.length + longestNumber));
		return seq === null ? null : { start: from + at + 1, seq };
	}
	return null;
}

const summaryMark = Buffer.from('\n{"summary":');

export async function findLastSummary(
	files: FileReader,
	path: string,
	range: FileRange,
	origin: RecordOrigin,
): Promise<{ readonly summary: SummaryRecord; readonly start: number } | null> {
	// The search pattern includes the preceding newline; for the first record that is the header's.
	const first = range.start - 1;
	for (let end = range.end; end > first; ) {
		const start = Math.max(first, end - pieceLength);
		// A match may continue in the next piece.
		const length = Math.min(range.end, end + summaryMark.length - 1) - start;
		const bytes = (await files.readRange(path, start, length)) ?? Buffer.alloc(0);
		for (
			let at = bytes.lastIndexOf(summaryMark);
			at !== -1;
			at = at === 0 ? -1 : bytes.lastIndexOf(summaryMark, at - 1)
		) {
			const from = at + 1;
			const to = bytes.indexOf(newline, from);
			// Read a journal with many unreadable summaries only once: only the last line of a piece is read again.
			const line =
				to === -1
					? await readFirstLine(files, path, { start: start + from, end: range.end })
					: parseLine(bytes.toString("utf8", from, to));
			const record = fromRecordLine(line, origin);
			if (record.kind === "summary") return { summary: record.summary, start: start + from };
		}
		end = start;
	}
	return null;
}

async function readFirstLine(
	files: FileReader,
	path: string,
	range: FileRange,
): Promise<Record<string, unknown> | null> {
	for await (const raw of readRawLines(files, path, range)) return parseRawLine(raw);
	return null;
}
