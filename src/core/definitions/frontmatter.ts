// Our own parser reads plain frontmatter without loading the YAML library; both agree on it.
import { isRecord } from "../../base/json.ts";
import { parseYaml } from "./yaml-text.ts";

export interface FrontmatterText {
	readonly source: string | null;
	readonly body: string;
}

const opening = /^---[ \t]*(?:\r?\n|$)/;
const closing = /(?:^|\r?\n)---[ \t]*\r?(?:\n|$)/;

export function splitFrontmatter(text: string): FrontmatterText | null {
	const start = opening.exec(text)?.[0];
	if (start === undefined) return { source: null, body: text };
	const rest = text.slice(start.length);
	const end = closing.exec(rest);
	if (end === null) return null;
	return { source: rest.slice(0, end.index), body: rest.slice(end.index + end[0].length) };
}

export type Frontmatter =
	| { readonly ok: true; readonly fields: ReadonlyMap<string, unknown> }
	/** A clause without a full stop. */
	| { readonly ok: false; readonly reason: string };

const lengthLimit = 64 * 1024;

/** Every scalar is text as written. Tolerates unquoted colons and values that start with a special sign. */
export async function parseFrontmatter(source: string): Promise<Frontmatter> {
	if (source.length > lengthLimit) {
		return { ok: false, reason: `its frontmatter is longer than ${lengthLimit} characters` };
	}
	const plain = parsePlainFrontmatter(source);
	if (plain !== null) return { ok: true, fields: plain };
	const document = await parseYaml(source, "texts");
	const asWritten = parseAsWritten(source);
	if ("reason" in document) {
		return asWritten.size > 0 ? { ok: true, fields: asWritten } : { ok: false, reason: document.reason };
	}
	const content = document.content ?? {};
	if (!isRecord(content)) return { ok: false, reason: "its frontmatter is not a map of keys" };
	const fields = Object.entries(content).map(([key, value]): [string, unknown] => [
		key,
		toText(value, asWritten.get(key)),
	]);
	return { ok: true, fields: new Map(fields) };
}

/** A list or map on its key's line was meant as text; one on the lines below was not. */
function toText(value: unknown, asWritten: string | undefined): unknown {
	const isText = typeof value === "string" || asWritten === undefined || asWritten === "";
	return isText ? value : asWritten;
}

function parseAsWritten(source: string): ReadonlyMap<string, string> {
	const fields = new Map<string, string>();
	let key: string | null = null;
	for (const line of source.split(/\r?\n/)) {
		const [whole, found, rest = ""] = /^([A-Za-z][\w-]*)[ \t]*:(?:[ \t]+(.*))?$/.exec(line) ?? [];
		if (whole !== undefined && found !== undefined) {
			key = found;
			if (!fields.has(key)) fields.set(key, withoutQuotes(rest.trim()));
		} else if (key !== null && /^[ \t]+\S/.test(line) && fields.get(key) !== "") {
			fields.set(key, `${fields.get(key)} ${line.trim()}`);
		}
	}
	return fields;
}

function withoutQuotes(value: string): string {
	const [, double, single] = quotedText.exec(value) ?? [];
	return double ?? single ?? value.replace(/^[|>][+-]?$/, "");
}

const linePattern = /^([A-Za-z][\w-]*):(?: +(.*))?$/;
const blankLine = /^ *(?:#.*)?$/;
const quotedText = /^(?:"([^"\\]*)"|'([^']*)')$/;
// Blank space on which parsers disagree, and characters that YAML rejects.
const odd = /[^\S ]|[^\x20-\x7e\xa1-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/u;
// Signs with a YAML meaning at the start of a value or within it.
const marked = /^[-?:,[\]{}#&*!|>'"%@`]|:(?: |$)| #/;

/** The keys if every line is a key with a plain or simply quoted value; null if the YAML library is needed. */
export function parsePlainFrontmatter(source: string): ReadonlyMap<string, string> | null {
	const fields = new Map<string, string>();
	for (const line of source.split(/\r?\n/)) {
		if (odd.test(line)) return null;
		if (blankLine.test(line)) continue;
		const [whole, key, rest = ""] = linePattern.exec(line) ?? [];
		if (whole === undefined || key === undefined || fields.has(key)) return null;
		const value = rest.trim();
		const [, double, single] = quotedText.exec(value) ?? [];
		const quoted = double ?? single;
		if (quoted === undefined && marked.test(value)) return null;
		fields.set(key, quoted ?? value);
	}
	return fields;
}
