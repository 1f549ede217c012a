// Keeps only elements with a Markdown equivalent, within limits on count, text and depth.
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

const limits = {
	/** Open page elements at once. */
	open: 2000,
	/** Document elements, and their maximum depth; deeper elements are reduced to their text. */
	elements: 12_000,
	nesting: 60,
	/** Text characters, including addresses. */
	text: 500_000,
};

/** Extra cost of an escaped character, which splits the text when it is parsed again. */
const markupCost = 20;

interface OpenElement {
	readonly name: string;
	/** The parent for its content: itself, or an outer element. */
	readonly element: PageElement;
	/** Whether it has its own element in the document. */
	readonly isPersisted: boolean;
	readonly language: string | null;
	/** The number of its last item. */
	itemNumber: number;
	hasContent: boolean;
}

/** Elements with meaning but no content; a line break only counts between content. */
const voidNames: ReadonlySet<string> = new Set(["br", "hr", "img", "task", "td", "th"]);

export class PageBuilder {
	readonly #document: PageDocument;
	readonly #root: OpenElement;
	readonly #opened: OpenElement[] = [];
	#base: string | undefined;
	#hasOwnBase = false;
	/** Depth within a dropped element, including it. */
	#dropped = 0;
	#text = "";
	#textLength = 0;
	#elements = 0;
	#nesting = 0;
	#headings = 0;
	/** The open code block, whose markup is dropped. */
	#codeBlock: PageElement | null = null;
	#hasCodeEnded = false;
	#title = "";
	#announcedTitle = "";
	#isInTitle = false;

	/** `url` is the page address, the base of relative addresses. */
	constructor(document: PageDocument, url: string) {
		this.#document = document;
		this.#root = openElement("", document.body, true, null, 0);
		this.#base = isAddress(url) ? url : undefined;
	}

	isFull(): boolean {
		return (
			this.#elements >= limits.elements ||
			this.#textLength >= limits.text ||
			this.#opened.length + this.#dropped >= limits.open
		);
	}

	open(spelledName: string, attributes: Attributes): void {
		if (this.#dropped > 0) {
			this.#dropped += 1;
			return;
		}
		const { href } = attributes;
		if (spelledName === "base" && !this.#hasOwnBase && href !== undefined) {
			if (isAddress(href, this.#base)) this.#base = new URL(href, this.#base).href;
			this.#hasOwnBase = true;
		}
		if (spelledName === "meta" && attributes["property"] === "og:title") {
			this.#announcedTitle ||= attributes["content"] ?? "";
		}
		this.#isInTitle = spelledName === "title";
		const name = fallbackName(spelledName);
		// A button that unfolds a section may contain its heading.
		const treatment = name === "button" && this.#headings > 0 ? "opened" : treatmentOf(spelledName, attributes);
		if (treatment === "dropped" || (this.#codeBlock !== null && isLineNumbers(attributes))) this.#dropped = 1;
		else if (this.#codeBlock !== null) this.#openInCode(this.#codeBlock, name, attributes);
		else if (treatment === "copied") this.#keep(name, attributes);
		else this.#pass(name);
	}

	close(): void {
		this.#isInTitle = false;
		if (this.#dropped > 0) {
			this.#dropped -= 1;
			return;
		}
		const closed = this.#opened.at(-1);
		this.#hasCodeEnded = closed?.name === "code";
		if (closed?.isPersisted === true) this.#closeRetained(closed);
		else this.#pop();
	}

	addText(content: string): void {
		if (this.#isInTitle) this.#title += content;
		if (this.#isInTitle || this.#dropped > 0) return;
		this.#hasCodeEnded = false;
		// Kinds of spaces only matter in print; soft hyphens not even there.
		const plain = content
			.replace(/\r\n?/g, "\n")
			.replace(/[^\S\n\t ]/g, " ")
			.replaceAll("\u00ad", "");
		this.#addPlain(plain);
	}

	finish(): string | null {
		this.#flush();
		return shortText(this.#announcedTitle || this.#title.trim()) || null;
	}

	#current(): OpenElement {
		return this.#opened.at(-1) ?? this.#root;
	}

	#currentRetained(): OpenElement {
		return this.#opened.findLast(({ isPersisted }) => isPersisted) ?? this.#root;
	}

	#isWithinLine(): boolean {
		return this.#text !== "" && !this.#text.endsWith("\n");
	}

	#push(open: OpenElement): void {
		this.#opened.push(open);
		if (isHeading(open.name)) this.#headings += 1;
	}

	#pop(): void {
		const closed = this.#opened.pop();
		if (closed !== undefined && isHeading(closed.name)) this.#headings -= 1;
	}

	#flush(): void {
		const content = this.#codeBlock === null ? this.#text.replace(/\s+/g, " ") : tidyCode(this.#text);
		this.#text = "";
		if (content === "") return;
		const { element } = this.#current();
		element.appendChild(this.#document.createTextNode(content));
		if (content.trim() !== "") this.#currentRetained().hasContent = true;
	}

	#addPlain(plain: string): void {
		const room = Math.max(0, limits.text - this.#textLength);
		const fitting = beginning(plain, room);
		const length = fitting.length + markupCost * (fitting.match(/[<>&]/g)?.length ?? 0);
		this.#text += length > room ? beginning(fitting, Math.floor(room / (1 + markupCost))) : fitting;
		this.#textLength += length;
	}

	#resolve(value: string | undefined, schemes: RegExp): string | null {
		const spelled = value?.trim() ?? "";
		if (spelled === "" || !isAddress(spelled, this.#base)) return null;
		const { href, protocol } = new URL(spelled, this.#base);
		if (!schemes.test(protocol)) return null;
		this.#textLength += href.length;
		return href;
	}

	#createElement(name: string, attributes: Attributes): PageElement | null {
		if (this.#nesting >= limits.nesting || this.#elements >= limits.elements) return null;
		this.#elements += 1;
		// Headings often link to themselves.
		const isOwnLink = name === "a" && attributes["href"]?.startsWith("#") === true && this.#headings > 0;
		const element = this.#document.createElement(name);
		const copied = isOwnLink ? {} : attributes;
		return copyAttributes(element, name, copied, (...link) => this.#resolve(...link)) ? element : null;
	}

	#numberItem(item: PageElement, attributes: Attributes): void {
		const list = this.#opened.findLast(({ name }) => name === "ol" || name === "ul");
		if (list?.name !== "ol") return;
		list.itemNumber = integerOf(attributes["value"]) ?? list.itemNumber + 1;
		item.setAttribute("value", String(list.itemNumber));
	}

	/** Sets the language of the block; the first one wins. */
	#setLanguage(block: PageElement, language: string | null): void {
		if (language !== null && block.getAttribute("class") === "") block.setAttribute("class", `language-${language}`);
	}

	#pass(name: string): void {
		this.#push(openElement(name, this.#current().element, false, null, 0));
	}

	#keep(name: string, attributes: Attributes): void {
		const element = this.#createElement(name, attributes);
		if (element === null) {
			this.#text += " ";
			this.#pass(name);
			return;
		}
		this.#flush();
		this.#current().element.appendChild(element);
		this.#nesting += 1;
		const language = ["div", "figure", "pre"].includes(name) ? codeLanguage(attributes) : null;
		if (name === "li") this.#numberItem(element, attributes);
		if (name === "pre") {
			this.#codeBlock = element;
			this.#hasCodeEnded = false;
			const outer = this.#opened.slice(-3).findLast((each) => each.language !== null);
			this.#setLanguage(element, language ?? outer?.language ?? null);
		}
		this.#push(openElement(name, element, true, language, (integerOf(attributes["start"]) ?? 1) - 1));
	}

	#closeRetained(closed: OpenElement): void {
		this.#flush();
		this.#pop();
		this.#nesting -= 1;
		if (closed.name === "pre") this.#codeBlock = null;
		const { name, element } = closed;
		if (name === "br") return;
		if (closed.hasContent ? name === "a" && isMark(element) : !voidNames.has(name)) {
			element.remove();
			this.#text += " ";
		} else this.#currentRetained().hasContent = true;
	}

	/** Within a code block only text and line breaks count. */
	#openInCode(block: PageElement, name: string, attributes: Attributes): void {
		if (name === "code") this.#setLanguage(block, codeLanguage(attributes));
		if (name === "code" && this.#hasCodeEnded) this.#text += "\n\n";
		else if (name === "br" || (/^(?:div|li|p|tr)$/.test(name) && this.#isWithinLine())) this.#text += "\n";
		this.#pass(name);
	}
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

function isAddress(text: string, base?: string): boolean {
	return text.length <= addressLength && URL.canParse(text, base);
}

/** Whether a link is a permalink mark next to a heading. */
function isMark(link: PageElement): boolean {
	return /^[#¶§\s]*$/.test(link.textContent) && link.querySelectorAll("img").length === 0;
}

/** Truncates long runs of spaces, which would slow down later steps. */
function tidyCode(text: string): string {
	return text
		.replace(/\s{100,}/g, (run) => run.slice(0, 100))
		.replace(/^\n/, "")
		.trimEnd();
}
