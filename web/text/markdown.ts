// Markdown as models write it, as a tree: headings, paragraphs, lists, quotes, code, tables, rules; emphasis, code and links
// in lines. What is not understood stays text: nothing of it ever becomes HTML.

export type Inline =
	| { readonly kind: "text"; readonly text: string }
	| { readonly kind: "code"; readonly text: string }
	| { readonly kind: "strong" | "emphasis" | "deleted"; readonly content: readonly Inline[] }
	| { readonly kind: "link"; readonly address: string; readonly content: readonly Inline[] };

export type MarkdownBlock =
	| { readonly kind: "heading"; readonly level: number; readonly content: readonly Inline[] }
	| { readonly kind: "paragraph"; readonly content: readonly Inline[] }
	| { readonly kind: "code"; readonly language: string; readonly text: string }
	| { readonly kind: "list"; readonly start: number | null; readonly items: readonly (readonly MarkdownBlock[])[] }
	| { readonly kind: "quote"; readonly content: readonly MarkdownBlock[] }
	| {
			readonly kind: "table";
			readonly head: readonly (readonly Inline[])[];
			readonly rows: readonly (readonly (readonly Inline[])[])[];
	  }
	| { readonly kind: "rule" };

/** Levels of quotes and lists; deeper ones are text. */
const deepest = 12;

export function parseMarkdown(text: string): readonly MarkdownBlock[] {
	return parseLines(text.replaceAll("\r\n", "\n").split("\n"), 0);
}

const fence = /^ {0,3}(`{3,}|~{3,})\s*([\w+#.-]*)/;
const heading = /^ {0,3}(#{1,6})\s+(.*?)\s*#*$/;
const rule = /^ {0,3}([-*_])(?:\s*\1){2,}\s*$/;
const bullet = /^( {0,3})([-*+]|\d{1,9}[.)])\s+/;
const divider = /^\s*\|?\s*:?-+:?\s*(\|\s*:?-+:?\s*)*\|?\s*$/;

function parseLines(lines: readonly string[], depth: number): readonly MarkdownBlock[] {
	const blocks: MarkdownBlock[] = [];
	let paragraph: string[] = [];
	const flush = () => {
		if (paragraph.length > 0) blocks.push({ kind: "paragraph", content: parseInline(paragraph.join("\n").trim()) });
		paragraph = [];
	};
	for (let at = 0; at < lines.length; ) {
		const line = lines[at] ?? "";
		const [, marks, language = ""] = fence.exec(line) ?? [];
		if (marks !== undefined) {
			flush();
			const end = lines.findIndex(
				(each, index) =>
					index > at &&
					each.trimStart().startsWith(marks) &&
					each.trim() === each.trim()[0]?.repeat(each.trim().length),
			);
			const last = end === -1 ? lines.length : end;
			blocks.push({ kind: "code", language, text: lines.slice(at + 1, last).join("\n") });
			at = last + 1;
			continue;
		}
		const [, hashes, title = ""] = heading.exec(line) ?? [];
		if (hashes !== undefined) {
			flush();
			blocks.push({ kind: "heading", level: hashes.length, content: parseInline(title) });
			at += 1;
			continue;
		}
		if (rule.test(line)) {
			flush();
			blocks.push({ kind: "rule" });
			at += 1;
			continue;
		}
		if (depth < deepest && /^ {0,3}>/.test(line)) {
			flush();
			const end = endOf(lines, at, (each) => /^ {0,3}>/.test(each));
			const inner = lines.slice(at, end).map((each) => each.replace(/^ {0,3}> ?/, ""));
			blocks.push({ kind: "quote", content: parseLines(inner, depth + 1) });
			at = end;
			continue;
		}
		if (depth < deepest && bullet.test(line)) {
			flush();
			const { block, end } = parseList(lines, at, depth);
			blocks.push(block);
			at = end;
			continue;
		}
		if (line.includes("|") && divider.test(lines[at + 1] ?? "") && (lines[at + 1] ?? "").includes("-")) {
			flush();
			const end = endOf(lines, at + 2, (each) => each.includes("|"));
			const rows = lines.slice(at + 2, end).map(toCells);
			blocks.push({ kind: "table", head: toCells(line), rows });
			at = end;
			continue;
		}
		if (line.trim() === "") flush();
		else paragraph.push(line);
		at += 1;
	}
	flush();
	return blocks;
}

function endOf(lines: readonly string[], from: number, belongs: (line: string) => boolean): number {
	let end = from;
	while (end < lines.length && belongs(lines[end] ?? "")) end += 1;
	return end;
}

function parseList(
	lines: readonly string[],
	from: number,
	depth: number,
): { readonly block: MarkdownBlock; readonly end: number } {
	const [, , first = "-"] = bullet.exec(lines[from] ?? "") ?? [];
	const isOrdered = /\d/.test(first);
	const items: string[][] = [];
	let at = from;
	let width = 2;
	for (; at < lines.length; at += 1) {
		const line = lines[at] ?? "";
		const [whole, , mark = ""] = bullet.exec(line) ?? [];
		if (whole !== undefined && /\d/.test(mark) === isOrdered) {
			width = whole.length;
			items.push([line.slice(width)]);
		} else if (line.trim() === "") {
			const next = lines[at + 1] ?? "";
			if (!bullet.test(next) && !next.startsWith(" ".repeat(2))) break;
			items.at(-1)?.push("");
		} else if (line.startsWith(" ".repeat(Math.min(width, 2)))) {
			items.at(-1)?.push(line.slice(Math.min(width, line.length - line.trimStart().length)));
		} else if (whole !== undefined || fence.test(line) || heading.test(line)) break;
		else items.at(-1)?.push(line);
	}
	const start = isOrdered ? Number.parseInt(first, 10) : null;
	return { block: { kind: "list", start, items: items.map((item) => parseLines(item, depth + 1)) }, end: at };
}

function toCells(line: string): readonly (readonly Inline[])[] {
	const trimmed = line.trim().replace(/^\|/, "").replace(/\|$/, "");
	return trimmed.split(/(?<!\\)\|/).map((cell) => parseInline(cell.trim().replaceAll("\\|", "|")));
}

/** In the order in which they are looked for. */
const inlineForms: readonly {
	readonly form: RegExp;
	readonly make: (match: RegExpExecArray, depth: number) => Inline;
}[] = [
	{
		form: /(`+)([^`]|[^`][\s\S]{0,2000}?[^`])\1(?!`)/y,
		make: ([, , text = ""]) => ({ kind: "code", text: text.trim() || text }),
	},
	{
		form: /\[([^[\]\n]{0,500})\]\(([^()\s]{1,2000})(?:\s+"[^"\n]{0,200}")?\)/y,
		make: ([, label = "", address = ""], depth) => toLink(address, parseInline(label, depth + 1)),
	},
	{
		form: /https?:\/\/[^\s<>()[\]"'`]{1,2000}[^\s<>()[\]"'`.,;:!?]/y,
		make: ([address]) => toLink(address, [{ kind: "text", text: address }]),
	},
	{
		form: /\*\*(?=\S)([^\n]{0,2000}?\S)\*\*/y,
		make: ([, text = ""], depth) => ({ kind: "strong", content: parseInline(text, depth + 1) }),
	},
	{
		form: /~~(?=\S)([^\n]{0,2000}?\S)~~/y,
		make: ([, text = ""], depth) => ({ kind: "deleted", content: parseInline(text, depth + 1) }),
	},
	{
		form: /\*(?=[^\s*])([^\n*]{1,2000})(?<=[^\s*])\*/y,
		make: ([, text = ""], depth) => ({ kind: "emphasis", content: parseInline(text, depth + 1) }),
	},
	{
		form: /(?<![\w])_(?=[^\s_])([^\n_]{1,2000})(?<=[^\s_])_(?!\w)/y,
		make: ([, text = ""], depth) => ({ kind: "emphasis", content: parseInline(text, depth + 1) }),
	},
];

/** Characters with which a form can begin. */
const openings = /[`[h*~_\\]/g;

export function parseInline(text: string, depth = 0): readonly Inline[] {
	const found: Inline[] = [];
	let plain = "";
	const flush = () => {
		if (plain !== "") found.push({ kind: "text", text: plain });
		plain = "";
	};
	for (let at = 0; at < text.length; ) {
		openings.lastIndex = at;
		const next = openings.exec(text)?.index ?? text.length;
		plain += text.slice(at, next);
		at = next;
		if (at >= text.length) break;
		if (text[at] === "\\") {
			plain += /[!-/:-@[-`{-~]/.test(text[at + 1] ?? "") ? (text[at + 1] ?? "") : `\\${text[at + 1] ?? ""}`;
			at += 2;
			continue;
		}
		const match = depth >= deepest ? null : findForm(text, at, depth);
		if (match === null) {
			plain += text[at];
			at += 1;
			continue;
		}
		flush();
		found.push(match.inline);
		at += match.length;
	}
	flush();
	return found;
}

function findForm(
	text: string,
	at: number,
	depth: number,
): { readonly inline: Inline; readonly length: number } | null {
	for (const { form, make } of inlineForms) {
		form.lastIndex = at;
		const match = form.exec(text);
		if (match !== null) return { inline: make(match, depth), length: match[0].length };
	}
	return null;
}

/** Only addresses of the web and of mail are links; any other, such as of a script, stays text. */
function toLink(address: string, content: readonly Inline[]): Inline {
	return /^(https?:\/\/|mailto:)/i.test(address) ? { kind: "link", address, content } : { kind: "emphasis", content };
}
