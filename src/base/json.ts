import { withoutMark } from "./text/lines.ts";

export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

export function isRecord(value: unknown): value is Record<string, unknown> {
	return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Whether a parsed value nests at most `depth` levels: serializing deeper ones overflows the stack. */
export function isNestedWithin(value: unknown, depth: number): boolean {
	if (typeof value !== "object" || value === null) return true;
	return depth > 0 && Object.values(value).every((inner) => isNestedWithin(inner, depth - 1));
}

/** Total characters of all texts in a value. */
export function textSize(value: unknown): number {
	let size = 0;
	const left: unknown[] = [value];
	while (left.length > 0) {
		const each = left.pop();
		if (typeof each === "string") size += each.length;
		else if (typeof each === "object" && each !== null) for (const part of Object.values(each)) left.push(part);
	}
	return size;
}

const lineSeparators = /[\u2028\u2029]/g;

/** Escapes U+2028 and U+2029, which some readers treat as line ends. */
export function toJsonLine(value: unknown): string {
	const text = JSON.stringify(value);
	return text.includes("\u2028") || text.includes("\u2029")
		? text.replace(lineSeparators, (separator) => (separator === "\u2028" ? "\\u2028" : "\\u2029"))
		: text;
}

/** Characters that are, or may be, escaped in a line: half a surrogate pair is. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are escaped.
const escaped = /["\\\u0000-\u001f\u2028\u2029\ud800-\udfff]/;

/** Serializes a text like `toJsonLine`, in half the time for short texts without escapes. */
export function toJsonText(text: string): string {
	return escaped.test(text) ? toJsonLine(text) : `"${text}"`;
}

const fileDepth = 1000;

/** Throws a SyntaxError also above 1000 levels: the platform's parser takes seconds for megabytes of brackets. */
export function parseJsonFile(bytes: Buffer): unknown {
	const text = withoutMark(bytes.toString("utf8"));
	if (!isTextNestedWithin(text, fileDepth)) throw new SyntaxError(`The JSON nests more than ${fileDepth} levels deep.`);
	return JSON.parse(text);
}

/** Whether no brackets outside of strings are nested deeper than `depth`. The text need not be JSON. */
export function isTextNestedWithin(text: string, depth: number): boolean {
	let level = 0;
	for (let position = 0; position < text.length; position += 1) {
		const code = text.charCodeAt(position);
		if (code === quote) position = endOfJsonString(text, position);
		else if (code === openBracket || code === openBrace) level += 1;
		else if (code === closeBracket || code === closeBrace) level -= 1;
		if (level > depth) return false;
	}
	return true;
}

const [quote, openBracket, closeBracket, openBrace, closeBrace] = [0x22, 0x5b, 0x5d, 0x7b, 0x7d];

/** The position of the closing quote of the JSON string at `start`, or the end of the text if unterminated. */
export function endOfJsonString(text: string, start: number): number {
	for (let end = text.indexOf('"', start + 1); end >= 0; end = text.indexOf('"', end + 1)) {
		let backslashes = 0;
		while (text[end - 1 - backslashes] === "\\") backslashes += 1;
		if (backslashes % 2 === 0) return end;
	}
	return text.length;
}
