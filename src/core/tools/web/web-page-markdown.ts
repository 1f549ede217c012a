// Our rules replace library rules that take more than linear time or cannot express the content.
import TurndownService from "turndown";
import type { PageElement } from "./web-page-dom.ts";
import { type CellTexts, toTable } from "./web-page-tables.ts";

type Replacement = (content: string, element: PageElement) => string;

export function writeMarkdown(root: PageElement): string {
	const cells: CellTexts = new WeakMap();
	const replacements: Readonly<Record<string, Replacement>> = {
		"h1,h2,h3,h4,h5,h6": (content, element) => {
			const line = toLine(content);
			const level = Number(element.getAttribute("data-level") ?? element.nodeName.slice(1));
			return line === "" ? "" : block(`${"#".repeat(level)} ${line}`);
		},
		pre: (_content, element) => block(codeBlock(element)),
		code: (_content, element) => inlineCode(element.textContent),
		li: (content, element) => listItem(content, element),
		task: (_content, element) => element.textContent,
		"em,i": (content) => marked(content, "*"),
		"strong,b,summary": (content) => marked(content, "**"),
		"del,s,strike": (content) => marked(content, "~~"),
		sup: (content, element) => raised(content, element),
		a: (content, element) => link(content, element.getAttribute("href")),
		"td,th": (content, element) => {
			cells.set(element, content);
			return "";
		},
		caption: () => "",
		table: (_content, element) => block(toTable(element, cells)),
	};
	const service = new TurndownService({
		headingStyle: "atx",
		hr: "---",
		bulletListMarker: "-",
		codeBlockStyle: "fenced",
		// Two trailing spaces would add nothing.
		br: "",
	});
	const escapeText = service.escape.bind(service);
	// An underscore within a word needs no escape.
	service.escape = (text) => escapeText(text).replace(/(?<=\w)\\_(?=\w)/g, "_");
	for (const [names, replacement] of Object.entries(replacements)) {
		const upper = new Set(names.toUpperCase().split(","));
		service.addRule(names, { filter: ({ nodeName }: PageElement) => upper.has(nodeName), replacement });
	}
	return service.turndown(root);
}

function block(text: string): string {
	return `\n\n${text}\n\n`;
}

/** Headings and links are single lines. */
function toLine(text: string): string {
	return text
		.split("\n")
		.map((line) => line.trim())
		.filter((line) => line !== "")
		.join(" ");
}

/** Emphasis does not span paragraphs. */
function marked(content: string, mark: string): string {
	if (content.trim() === "") return "";
	return content.includes("\n") ? content : `${mark}${content}${mark}`;
}

/** An exponent; a footnote number stays a plain link. */
function raised(content: string, element: PageElement): string {
	const text = element.textContent.trim();
	if (!/^[\w+\-−–.,]{1,20}$/.test(text) || element.querySelectorAll("a").length > 0) return content;
	return text.length === 1 ? `^${text}` : `^(${text})`;
}

function link(content: string, href: string | null): string {
	const text = toLine(content.replace(/^#{1,6} /gm, ""));
	if (href === null || text === "") return href === null ? content : "";
	return `[${text}](${href.replaceAll("(", "%28").replaceAll(")", "%29")})`;
}

function longestRun(text: string, pattern: RegExp): number {
	let longest = 0;
	for (const [run] of text.matchAll(pattern)) longest = Math.max(longest, run.length);
	return longest;
}

function codeBlock(element: PageElement): string {
	const code = element.textContent;
	const language = element.getAttribute("class")?.replace(/^language-/, "") ?? "";
	const fence = "`".repeat(Math.max(3, longestRun(code, /^`{3,}/gm) + 1));
	return `${fence}${language}\n${code}\n${fence}`;
}

function inlineCode(text: string): string {
	const code = text.replace(/\s+/g, " ");
	if (code.trim() === "") return code;
	const mark = "`".repeat(longestRun(code, /`+/g) + 1);
	const space = code.startsWith("`") || code.endsWith("`") ? " " : "";
	return `${mark}${space}${code}${space}${mark}`;
}

function listItem(content: string, element: PageElement): string {
	const number = element.getAttribute("value");
	const prefix = number === null ? "- " : `${number}. `;
	const lines = content.replace(/^\n+/, "").split("\n");
	while (lines.at(-1)?.trim() === "") lines.pop();
	const indent = " ".repeat(prefix.length);
	const text = lines.map((line, index) => (index === 0 || line === "" ? line : indent + line)).join("\n");
	return `${prefix}${text}${element.nextSibling === null ? "" : "\n"}`;
}
