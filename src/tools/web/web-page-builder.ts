// Builds a document from the tags and texts of a page as they are read: elements that Markdown has a word for, and
// whatever the page is, no more than so many of them, so much text, and so deep.
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

/** What is enough to fill any answer. With more, finding the main text would take too long. */
const limits = {
	/** Elements of the page that are open at the same time. */
	open: 2000,
	/** Elements that are taken over, and how many of them lie in each other; deeper ones are taken as their text. */
	elements: 12_000,
	nesting: 60,
	/** Characters of text, with those of addresses. */
	text: 500_000,
};

/** What a character that has to be escaped counts more than others: it splits the text when it is read again. */
const markupCost = 20;

export interface PageBuilder {
	open(name: string, attributes: Attributes): void;
	close(): void;
	addText(text: string): void;
	/** Whether nothing more is taken. */
	isFull(): boolean;
	/** Ends the document; gives its title. */
	finish(): string | null;
}

/** An element of the page that is open. */
interface OpenElement {
	readonly name: string;
	/** Where its content goes: itself, or what it lies in. */
	readonly element: PageElement;
	/** Whether `element` is its own. */
	readonly isPersisted: boolean;
	/** The programming language it names. */
	readonly language: string | null;
	/** The number of its last item. */
	itemNumber: number;
	/** Whether anything in it is to be seen. */
	hasContent: boolean;
}

/** Elements that are something without content; a line break only between what is. */
const voidNames: ReadonlySet<string> = new Set(["br", "hr", "img", "task", "td", "th"]);

/** `url` is where the page was found; addresses are relative to it. */
export function createPageBuilder(document: PageDocument, url: string): PageBuilder {
	const root = openElement("", document.body, true, null, 0);
	const opened: OpenElement[] = [];
	let base = isAddress(url) ? url : undefined;
	let hasOwnBase = false;
	/** How many elements are open in one that is left out, itself included. */
	let dropped = 0;
	let text = "";
	let textLength = 0;
	let elements = 0;
	let nesting = 0;
	/** How many headings are open. */
	let headings = 0;
	/** The code block that is open; its markup is left out. */
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
		const fitting = plain.slice(0, room);
		const length = fitting.length + markupCost * (fitting.match(/[<>&]/g)?.length ?? 0);
		text += length > room ? fitting.slice(0, room / (1 + markupCost)) : fitting;
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
		// Headings often lead to themselves.
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

	/** Within a code block only text counts, and where its lines end. */
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
			// What unfolds a section may be its heading.
			const treatment = name === "button" && headings > 0 ? "opened" : treatmentOf(spelledName, attributes);
			if (treatment === "dropped" || (codeBlock !== null && isLineNumbers(attributes))) dropped = 1;
			else if (codeBlock !== null) openInCode(codeBlock, name, attributes);
			else if (treatment === "kept") keep(name, attributes);
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
			// Kinds of space are told apart only by those who print; soft hyphens not even by them.
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

/** Whether it can be made an address; no page needs one as long as those that are not. */
function isAddress(text: string, base?: string): boolean {
	return text.length <= addressLength && URL.canParse(text, base);
}

/** Whether a link is a mark beside a heading, by which one gets its address. */
function isMark(link: PageElement): boolean {
	return /^[#¶§\s]*$/.test(link.textContent) && link.querySelectorAll("img").length === 0;
}

/** Long runs of space are cut: code has no use for them, and what follows would take its time over them. */
function tidyCode(text: string): string {
	return text
		.replace(/\s{100,}/g, (run) => run.slice(0, 100))
		.replace(/^\n/, "")
		.trimEnd();
}
