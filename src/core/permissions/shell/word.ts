import type { Word } from "./script.ts";

interface Scan {
	text: string;
	/** Why the word is dynamic; null if it is literal. */
	why: string | null;
	/** Whether the shell may split it into several words, or none, unrelated to the preceding text. */
	splits: boolean;
}

const expansionStart = /^[A-Za-z0-9_@*#?$!({[-]/;

/** Decodes a word. `home` replaces a tilde; without `home`, a tilde makes the word dynamic. */
export function decodeWord(raw: string, home: string | null): Word {
	// The shell joins lines before it looks for expansions, so an expansion may span two lines.
	if (raw.includes("\\\n") && /[$~{]/.test(raw)) {
		return { kind: "dynamic", text: raw, why: "an expansion over two lines", mayBeOption: true };
	}
	const scan: Scan = { text: "", why: null, splits: false };
	let rest = raw;
	let start = "";
	if (rest.startsWith("~")) {
		if (home !== null && (rest === "~" || rest.startsWith("~/"))) {
			start = home === "/" ? "" : home;
			rest = rest.slice(1);
			if (rest === "" && start === "") start = "/";
		} else {
			return { kind: "dynamic", text: raw, why: "a tilde", mayBeOption: false };
		}
	}
	scanUnquoted(rest, scan);
	if (scan.why === null) return { kind: "literal", text: start + scan.text };
	const head = start + scan.text;
	const mayBeOption = scan.splits || head === "" || head.startsWith("-");
	return { kind: "dynamic", text: raw, why: scan.why, mayBeOption };
}

/** Scans to the end; after the first expansion only to learn whether the shell splits the word. */
function scanUnquoted(raw: string, scan: Scan): void {
	let index = 0;
	while (index < raw.length) {
		const character = raw.charAt(index);
		switch (character) {
			case "\\":
				if (raw.charAt(index + 1) !== "\n") add(scan, raw.charAt(index + 1));
				index += 2;
				break;
			case "'":
				index = scanSingleQuoted(raw, index + 1, scan);
				break;
			case '"':
				index = scanDoubleQuoted(raw, index + 1, scan);
				break;
			case "$":
				index = scanDollar(raw, index, scan);
				break;
			case "`":
				open(scan, "a command substitution", true);
				return;
			default:
				scanPlain(raw, index, scan);
				index += 1;
		}
		if (scan.splits) return;
	}
}

function scanPlain(raw: string, index: number, scan: Scan): void {
	const character = raw.charAt(index);
	const why = whyPlainOpens(raw, index);
	if (why === null) add(scan, character);
	// The text before a parenthesis may belong to a pattern, as in `@(-x)`.
	else open(scan, why, character === "(" || character === ")");
}

function whyPlainOpens(raw: string, index: number): string | null {
	const after = raw.slice(index + 1);
	switch (raw.charAt(index)) {
		case "*":
		case "?":
			return "a pattern for file names";
		case "[":
			return after.includes("]") ? "a pattern for file names" : null;
		case "{":
			return after.includes(",") || after.includes("..") ? "braces" : null;
		case "~":
			return index === 0 || "=:".includes(raw.charAt(index - 1)) ? "a tilde" : null;
		case "<":
		case ">":
		case "(":
		case ")":
		case "|":
		case "&":
		case ";":
			return "a list, a pattern or a process substitution";
		default:
			return null;
	}
}

/** Starts after the opening quote; returns the index after the closing one. */
function scanSingleQuoted(raw: string, start: number, scan: Scan): number {
	const end = raw.indexOf("'", start);
	if (end < 0) open(scan, "a quote that does not close", true);
	add(scan, raw.slice(start, end < 0 ? raw.length : end));
	return end < 0 ? raw.length : end + 1;
}

function scanDoubleQuoted(raw: string, start: number, scan: Scan): number {
	let index = start;
	while (index < raw.length) {
		const character = raw.charAt(index);
		if (character === '"') return index + 1;
		if (character === "\\") {
			const next = raw.charAt(index + 1);
			if (next === "\n") index += 2;
			else if ('$`"\\'.includes(next) && next !== "") {
				add(scan, next);
				index += 2;
			} else {
				add(scan, "\\");
				index += 1;
			}
		} else if (character === "`" || (character === "$" && expansionStart.test(raw.slice(index + 1)))) {
			// Any quoted word other than one plain expansion counts as split, because it may contain quotes.
			const simple = /^\$(?:[A-Za-z_]\w*|\{[A-Za-z_]\w*\})/.exec(raw.slice(index));
			open(scan, whyDollar(raw, index), simple === null);
			if (simple === null) return raw.length;
			index += simple[0].length;
		} else {
			add(scan, character);
			index += 1;
		}
	}
	open(scan, "a quote that does not close", true);
	return raw.length;
}

function scanDollar(raw: string, index: number, scan: Scan): number {
	const next = raw.charAt(index + 1);
	if (next === "'") return scanAnsiC(raw, index + 2, scan);
	if (next === '"') return scanDoubleQuoted(raw, index + 2, scan);
	if (!expansionStart.test(next)) {
		add(scan, "$");
		return index + 1;
	}
	open(scan, whyDollar(raw, index), true);
	return raw.length;
}

function whyDollar(raw: string, index: number): string {
	const after = raw.slice(index + 1);
	if (raw.charAt(index) === "`") return "a command substitution";
	if (after.startsWith("((") || after.startsWith("[")) return "arithmetic";
	return after.startsWith("(") ? "a command substitution" : "a variable";
}

const simpleEscapes: ReadonlyMap<string, string> = new Map(
	["a\x07", "b\b", "e\x1b", "E\x1b", "f\f", "n\n", "r\r", "t\t", "v\v", "\\\\", "''", '""', "??"].map(
		([from = "", to = ""]) => [from, to],
	),
);

function scanAnsiC(raw: string, start: number, scan: Scan): number {
	let index = start;
	let isCut = false;
	while (index < raw.length) {
		const character = raw.charAt(index);
		if (character === "'") return index + 1;
		if (character !== "\\") {
			if (!isCut) add(scan, character);
			index += 1;
			continue;
		}
		const decoded = readEscape(raw.slice(index + 1, index + 11));
		if (decoded === null) {
			open(scan, "an escape that stands for bytes", true);
			return raw.length;
		}
		// A zero byte ends the quoted text.
		if (decoded.text === "\0") isCut = true;
		if (!isCut) add(scan, decoded.text);
		index += 1 + decoded.length;
	}
	open(scan, "a quote that does not close", true);
	return raw.length;
}

function readEscape(after: string): { text: string; length: number } | null {
	const simple = simpleEscapes.get(after.charAt(0));
	if (simple !== undefined) return { text: simple, length: 1 };
	const number = /^(?:([0-7]{1,3})|x([0-9A-Fa-f]{1,2})|u([0-9A-Fa-f]{1,4})|U([0-9A-Fa-f]{1,8}))/.exec(after);
	if (number === null) return null;
	const [whole, octal, hexadecimal, short, long] = number;
	const code =
		octal !== undefined ? Number.parseInt(octal, 8) : Number.parseInt(hexadecimal ?? short ?? long ?? "", 16);
	// Shells use these two as internal markers and may insert them twice.
	if (code === 0x01 || code === 0x7f) return null;
	return code < 0x80 ? { text: String.fromCharCode(code), length: whole.length } : null;
}

function add(scan: Scan, text: string): void {
	if (scan.why === null) scan.text += text;
}

function open(scan: Scan, why: string, splits: boolean): void {
	scan.why ??= why;
	scan.splits ||= splits;
}
