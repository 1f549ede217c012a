import { isRecord, isTextNestedWithin } from "../../../../base/json.ts";
import { createLineSplitter, type Line } from "../../../../base/text/lines.ts";
import type { FileReader } from "../../../files/port.ts";

/** Maximum line length in bytes: the longest wire line plus its envelope. */
export const lineLimit = 128 * 1024 * 1024;
const tailPiece = 64 * 1024;
const newline = 0x0a;
/** Maximum nesting of a long line: the platform's parser is slow for megabytes of nested brackets. */
const lineDepth = 1000;
const longLine = 64 * 1024;

/** Whether the text may be a JSON object, judged by its first and last characters. */
function mayBeObject(text: string): boolean {
	const first = text.charCodeAt(0);
	if (first === 0x7b) {
		const next = text.charCodeAt(1);
		// A quotation mark, the end of the object, or whitespace.
		if (next !== 0x22 && next !== 0x7d && next > 0x20) return false;
	} else if (first > 0x20 && first < 0x7f) return false;
	return text.trimEnd().endsWith("}");
}

export function parseLine(text: string): Record<string, unknown> | null {
	// The ends reveal most damage: an exception for each line of a damaged file would take seconds.
	if (!mayBeObject(text)) return null;
	if (text.length > longLine && !isTextNestedWithin(text, lineDepth)) return null;
	try {
		const value: unknown = JSON.parse(text);
		return isRecord(value) ? value : null;
	} catch {
		return null;
	}
}

type ParsedLine = Record<string, unknown> | null;

function isBlank(text: string): boolean {
	const first = text.charCodeAt(0);
	const isText = first > 0x20 && first < 0x7f;
	return !isText && text.trim() === "";
}

/** Larger batches of parsed lines would outlive the young generation of the heap. */
const parsedAtOnce = 128;

function* parseInGroups(lines: readonly Line[]): Generator<ParsedLine[]> {
	for (let start = 0; start < lines.length; start += parsedAtOnce) {
		yield parseAll(lines.slice(start, start + parsedAtOnce));
	}
}

function parseAll(lines: readonly Line[]): ParsedLine[] {
	const parsed: ParsedLine[] = [];
	for (const line of lines) {
		if (line.kind === "oversized") parsed.push(null);
		else if (!isBlank(line.text)) parsed.push(parseLine(line.text));
	}
	return parsed;
}

/** Maximum bytes decoded as a whole, which is much faster for many short lines. */
const wholeLimit = 8 * 1024 * 1024;

export function parseLines(bytes: Buffer): ParsedLine[] {
	if (bytes.length <= wholeLimit) {
		const texts = bytes.toString("utf8").split("\n");
		return texts.filter((text) => !isBlank(text)).map(parseLine);
	}
	const splitter = createLineSplitter(lineLimit);
	return [...parseAll(splitter.push(bytes)), ...parseAll(splitter.end())];
}

export interface LinesRead {
	/** Limits reading to the first bytes of the file. */
	readonly length?: number;
	/** Maximum bytes of a parsed line; a longer one is reported as invalid as soon as that is known. */
	readonly limit?: number;
}

export async function* readLineBatches(
	files: FileReader,
	path: string,
	{ length = Number.POSITIVE_INFINITY, limit = lineLimit }: LinesRead = {},
): AsyncGenerator<readonly ParsedLine[]> {
	const splitter = createLineSplitter(limit);
	let left = length;
	for await (const piece of files.readPieces(path)) {
		yield* parseInGroups(splitter.push(piece.subarray(0, left)));
		left -= piece.length;
		if (left <= 0) break;
	}
	yield parseAll(splitter.end());
}

export async function* readLines(files: FileReader, path: string, which?: LinesRead): AsyncGenerator<ParsedLine> {
	for await (const lines of readLineBatches(files, path, which)) yield* lines;
}

/** The bytes after the last newline of a file of `size` bytes, read from its end. */
export async function readTail(files: FileReader, path: string, size: number): Promise<Buffer> {
	const pieces: Buffer[] = [];
	for (let end = size; end > 0; ) {
		const start = Math.max(0, end - tailPiece);
		const piece = (await files.readRange(path, start, end - start)) ?? Buffer.alloc(0);
		const at = piece.lastIndexOf(newline);
		pieces.unshift(piece.subarray(at + 1));
		if (at !== -1) break;
		end = start;
	}
	return Buffer.concat(pieces);
}
