// Expects `--null` and, for content, `--line-number` and `--column`. Yields, because the output may be megabytes.
import path from "node:path";
import { createPace } from "../../../base/pace.ts";
import { beginning, ending } from "../../../base/text/well-formed.ts";
import { isSensitiveFile, type SecretPaths } from "../../../ports/files/secret-paths.ts";
import { lineLimit } from "../output-builder.ts";

export type GrepMode = "files" | "content" | "counts";

/** One file's results: its path, or its lines without the path. */
export interface GrepEntry {
	/** As ripgrep printed it. */
	readonly path: string;
	readonly lines: readonly string[];
}

const groupSeparator = "--";

/** Parses the entries in order of first appearance. Drops a truncated last line. */
export async function parseGrepOutput(output: string, mode: GrepMode, isCut: boolean): Promise<GrepEntry[]> {
	if (mode === "files") {
		const paths = output.split("\0");
		// The text after the last NUL is empty or an incomplete path.
		return paths.slice(0, -1).map((found) => ({ path: found, lines: [] }));
	}
	const entries = new Map<string, string[]>();
	let current: string[] | null = null;
	let separated = false;
	const pace = createPace();
	for (let start = 0; start < output.length; ) {
		await pace.rest();
		const newline = output.indexOf("\n", start);
		if (newline === -1 && isCut) break;
		const line = output.slice(start, newline === -1 ? output.length : newline);
		start += line.length + 1;
		const end = line.indexOf("\0");
		if (end === -1) {
			separated ||= line === groupSeparator;
			continue;
		}
		const found = line.slice(0, end);
		const known = entries.get(found);
		const list: string[] = known ?? [];
		if (known === undefined) entries.set(found, list);
		// Keeps groups of one file separate; separators between files are added per page.
		if (separated && current === list) list.push(groupSeparator);
		list.push(line.slice(end + 1));
		current = list;
		separated = false;
	}
	return [...entries].map(([found, content]) => ({ path: found, lines: content }));
}

export interface RetainedEntries {
	readonly entries: readonly GrepEntry[];
	readonly isCut: boolean;
}

/** Secret files first, then the limit. Says nothing about removed secrets: a match itself would reveal content. */
export async function withoutSecrets(
	entries: readonly GrepEntry[],
	secrets: Pick<SecretPaths, "kindOf">,
	limit: number,
): Promise<RetainedEntries> {
	const retained: GrepEntry[] = [];
	let length = 0;
	for (const entry of entries) {
		// A path with a line break is split, so its file is unknown.
		if (!path.isAbsolute(entry.path) || isSensitiveFile(entry.path)) continue;
		if ((await secrets.kindOf(entry.path)) !== null) continue;
		length += Buffer.byteLength(entry.path) + entry.lines.reduce((sum, line) => sum + Buffer.byteLength(line) + 1, 0);
		if (length > limit && retained.length > 0) return { entries: retained, isCut: true };
		retained.push(entry);
	}
	return { entries: retained, isCut: length > limit };
}

/** A content line from ripgrep: a match with line number and column, or a context line with its number. */
interface ContentLine {
	readonly number: number;
	/** Zero-based byte offset of the match; null for a context line. */
	readonly column: number | null;
	readonly text: string;
	/** Start of the text in ripgrep's line. */
	readonly start: number;
}

export function contentLine(line: string): ContentLine | null {
	const [prefix, number, column] = /^(\d+)(?::(\d+):|-)/.exec(line) ?? [];
	if (prefix === undefined) return null;
	const text = line.slice(prefix.length).replace(/\r$/, "");
	return {
		number: Number(number),
		column: column === undefined ? null : Number(column) - 1,
		text,
		start: prefix.length,
	};
}

/** Characters shown before a match in a long line, and in total. */
const shownBefore = 300;
const shownLength = 1000;
const cutMark = "[...]";

function toContentLine(relative: string, line: string, withLineNumber: boolean): string {
	const parts = contentLine(line);
	if (parts === null) return `${relative}:${line}`;
	const separator = parts.column === null ? "-" : ":";
	const prefix = [relative, ...(withLineNumber ? [parts.number] : []), ""].join(separator);
	const { text, column } = parts;
	return (
		prefix + (text.length <= Math.max(shownLength, lineLimit - prefix.length) ? text : surroundings(text, column ?? 0))
	);
}

/** The part of a long line around the match at this byte offset. */
function surroundings(text: string, column: number): string {
	const at = Buffer.from(text).subarray(0, column).toString("utf8").length;
	const start = Math.max(0, Math.min(at - shownBefore, text.length - shownLength));
	const end = start + shownLength;
	const shown = ending(beginning(text, end), shownLength);
	return `${start > 0 ? cutMark : ""}${shown}${end < text.length ? cutMark : ""}`;
}

export async function toResultLines(
	entries: readonly GrepEntry[],
	base: string,
	mode: GrepMode,
	options: { readonly withLineNumbers: boolean; readonly withContext: boolean },
): Promise<string[]> {
	const lines: string[] = [];
	const pace = createPace();
	for (const entry of entries) {
		await pace.rest();
		const relative = path.relative(base, entry.path) || path.basename(entry.path);
		if (mode === "files") {
			lines.push(relative);
			continue;
		}
		if (mode === "content" && options.withContext && lines.length > 0) lines.push(groupSeparator);
		for (const line of entry.lines) {
			await pace.rest();
			if (mode === "counts") lines.push(`${relative}:${line}`);
			else lines.push(line === groupSeparator ? line : toContentLine(relative, line, options.withLineNumbers));
		}
	}
	return lines;
}

export function totalCount(entries: readonly GrepEntry[]): number {
	return entries.flatMap((entry) => entry.lines).reduce((sum, line) => sum + (Number.parseInt(line, 10) || 0), 0);
}
