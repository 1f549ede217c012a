// Builds a document from the tags and texts of a page as they are parsed: only elements with a Markdown equivalent,
// with limits on their number, the text, and the depth.
import { beginning } from "../../../base/text/well-formed.ts";
import type { PageDocument, PageElement } from "./web-page-dom.ts";
import {
	type Attributes,
	addressLength,
	codeLanguage,
	copyAttributes,
	fallbackName,
	integerOf,
	isLineNumbers,
	shortText,
	treatmentOf,
} from "./web-page-elements.ts";

/** Enough for any answer. With more, finding the main text would take too long. */
const limits = {
	/** Elements of the page that are open at once. */
	open: 2000,
	/** Elements of the document, and their maximal depth; deeper ones are reduced to their text. */
	elements: 12_000,
	nesting: 60,
	/** Characters of text, including addresses. */
	text: 500_000,
};

/** The extra cost of a character that has to be escaped: it splits the text when it is parsed again. */
const markupCost = 20;

export interface PageBuilder {
	open(name: string, attributes: Attributes): void;
	close(): void;
	addText(text: string): void;
	/** Whether a limit is reached. */
	isFull(): boolean;
	/** Ends the document; returns its title. */
	finish(): string | null;
}

/** An open element of the page. */
interface OpenElement {
	readonly name: string;
	/** The parent for its content: itself, or an outer element. */
	readonly element: PageElement;
	/** Whether the document contains an element of its own for it. */
	readonly isPersisted: boolean;
	/** The programming language it names. */
	readonly language: string | null;
	/** The number of its last item. */
	itemNumber: number;
	/** Whether it has visible content. */
	hasContent: boolean;
}

/** Elements with a meaning without content; a line break only between content. */
const voidNames: ReadonlySet<string> = new Set(["br", "hr", "img", "task", "td", "th"]);

/** `url` is the page's address, to which addresses are relative. */
export function createPageBuilder(document: PageDocument, url: string): PageBuilder {
	const root = openElement("", document.body, true, null, 0);
	const opened: OpenElement[] = [];
	let base = isAddress(url) ? url : undefined;
	let hasOwnBase = false;
	/** The depth within a dropped element, itself included. */
	let dropped = 0;
	let text = "";
	let textLength = 0;
	let elements = 0;
	let nesting = 0;
	/** The number of open headings. */
	let headings = 0;
	/** The open code block; its markup is dropped. */
	let codeBlock: PageElement | null = null;
	let hasCodeEnded = false;
	let title = "";
	let announcedTitle = "";
	let isInTitle = false;

	const current = (): OpenElement => opened.at(-1) ?? root;
	const currentRetained = (): OpenElement => opened.findLast(({ isPersisted }) => isPersisted) ?? root;

	const push = (open: OpenElement): void => {
		opened.push(open);
		if (isHeading(open.name)) headings += 1;
	};

	const pop = (): void => {
		const closed = opened.pop();
		if (closed !== undefined && isHeading(closed.name)) headings -= 1;
	};

	const flush = (): void => {
		const content = codeBlock === null ? text.replace(/\s+/g, " ") : tidyCode(text);
		text = "";
		if (content === "") return;
		const { element } = current();
		element.appendChild(document.createTextNode(content));
		if (content.trim() !== "") currentRetained().hasContent = true;
	};

	const addPlain = (plain: string): void => {
		const room = Math.max(0, limits.text - textLength);
		const fitting = beginning(plain, room);
		const length = fitting.length + markupCost * (fitting.match(/[<>&]/g)?.length ?? 0);
		text += length > room ? beginning(fitting, Math.floor(room / (1 + markupCost))) : fitting;
		textLength += length;
	};

	const resolve = (value: string | undefined, schemes: RegExp): string | null => {
		const spelled = value?.trim() ?? "";
		if (spelled === "" || !isAddress(spelled, base)) return null;
		const { href, protocol } = new URL(spelled, base);
		if (!schemes.test(protocol)) return null;
		textLength += href.length;
		return href;
	};

	const createElement = (name: string, attributes: Attributes): PageElement | null => {
		if (nesting >= limits.nesting || elements >= limits.elements) return null;
		elements += 1;
		// Headings often link to themselves.
		const isOwnLink = name === "a" && attributes["href"]?.startsWith("#") === true && headings > 0;
		const element = document.createElement(name);
		return copyAttributes(element, name, isOwnLink ? {} : attributes, resolve) ? element : null;
	};

	/** Numbers the item of an ordered list. */
	const numberItem = (item: PageElement, attributes: Attributes): void => {
		const list = opened.findLast(({ name }) => name === "ol" || name === "ul");
		if (list?.name !== "ol") return;
		list.itemNumber = integerOf(attributes["value"]) ?? list.itemNumber + 1;
		item.setAttribute("value", String(list.itemNumber));
	};

	/** The first language that is named counts. */
	const setLanguage = (block: PageElement, language: string | null): void => {
		if (language !== null && block.getAttribute("class") === "") block.setAttribute("class", `language-${language}`);
	};

	const pass = (name: string): void => {
		push(openElement(name, current().element, false, null, 0));
	};

	const keep = (name: string, attributes: Attributes): void => {
		const element = createElement(name, attributes);
		if (element === null) {
			text += " ";
			pass(name);
			return;
		}
		flush();
		current().element.appendChild(element);
		nesting += 1;
		const language = ["div", "figure", "pre"].includes(name) ? codeLanguage(attributes) : null;
		if (name === "li") numberItem(element, attributes);
		if (name === "pre") {
			codeBlock = element;
			hasCodeEnded = false;
			setLanguage(element, language ?? opened.slice(-3).findLast((outer) => outer.language !== null)?.language ?? null);
		}
		push(openElement(name, element, true, language, (integerOf(attributes["start"]) ?? 1) - 1));
	};

	const closeRetained = (closed: OpenElement): void => {
		flush();
		pop();
		nesting -= 1;
		if (closed.name === "pre") codeBlock = null;
		const { name, element } = closed;
		if (name === "br") return;
		if (closed.hasContent ? name === "a" && isMark(element) : !voidNames.has(name)) {
			element.remove();
			text += " ";
		} else currentRetained().hasContent = true;
	};

	/** Within a code block only text and line ends count. */
	const openInCode = (block: PageElement, name: string, attributes: Attributes): void => {
		if (name === "code") setLanguage(block, codeLanguage(attributes));
		if (name === "code" && hasCodeEnded) text += "\n\n";
		else if (name === "br" || (/^(?:div|li|p|tr)$/.test(name) && text !== "" && !text.endsWith("\n"))) text += "\n";
		pass(name);
	};

	return {
		isFull: () => elements >= limits.elements || textLength >= limits.text || opened.length + dropped >= limits.open,
		open(spelledName, attributes) {
			if (dropped > 0) {
				dropped += 1;
				return;
			}
			const { href } = attributes;
			if (spelledName === "base" && !hasOwnBase && href !== undefined) {
				if (isAddress(href, base)) base = new URL(href, base).href;
				hasOwnBase = true;
			}
			if (spelledName === "meta" && attributes["property"] === "og:title")
				announcedTitle ||= attributes["content"] ?? "";
			isInTitle = spelledName === "title";
			const name = fallbackName(spelledName);
			// A button that unfolds a section may contain its heading.
			const treatment = name === "button" && headings > 0 ? "opened" : treatmentOf(spelledName, attributes);
			if (treatment === "dropped" || (codeBlock !== null && isLineNumbers(attributes))) dropped = 1;
			else if (codeBlock !== null) openInCode(codeBlock, name, attributes);
			else if (treatment === "copied") keep(name, attributes);
			else pass(name);
		},
		close() {
			isInTitle = false;
			if (dropped > 0) {
				dropped -= 1;
				return;
			}
			const closed = opened.at(-1);
			hasCodeEnded = closed?.name === "code";
			if (closed?.isPersisted === true) closeRetained(closed);
			else pop();
		},
		addText(content) {
			if (isInTitle) title += content;
			if (isInTitle || dropped > 0) return;
			hasCodeEnded = false;
			// Different kinds of spaces only matter in print; soft hyphens not even there.
			const plain = content
				.replace(/\r\n?/g, "\n")
				.replace(/[^\S\n\t ]/g, " ")
				.replaceAll("\u00ad", "");
			addPlain(plain);
		},
		finish() {
			flush();
			return shortText(announcedTitle || title.trim()) || null;
		},
	};
}

function openElement(
	name: string,
	element: PageElement,
	isPersisted: boolean,
	language: string | null,
	itemNumber: number,
): OpenElement {
	return { name, element, isPersisted, language, itemNumber, hasContent: false };
}

function isHeading(name: string): boolean {
	return name === "summary" || /^h[1-6]$/.test(name);
}

/** Whether it is a valid address of reasonable length. */
function isAddress(text: string, base?: string): boolean {
	return text.length <= addressLength && URL.canParse(text, base);
}

/** Whether a link is a mark next to a heading, for copying its address. */
function isMark(link: PageElement): boolean {
	return /^[#¶§\s]*$/.test(link.textContent) && link.querySelectorAll("img").length === 0;
}

/** Truncates long runs of space: code does not need them, and later steps would be slow on them. */
function tidyCode(text: string): string {
	return text
		.replace(/\s{100,}/g, (run) => run.slice(0, 100))
		.replace(/^\n/, "")
		.trimEnd();
}
