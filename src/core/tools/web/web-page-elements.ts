import { beginning } from "../../../base/text/well-formed.ts";
import type { PageElement } from "./web-page-dom.ts";

type Treatment =
	| "copied"
	/** Dropped with its content, because it is invisible or not part of the text. */
	| "dropped"
	| "opened";

const retainedNames: ReadonlySet<string> = new Set([
	...["address", "article", "aside", "blockquote", "caption", "dd", "details", "div", "dl", "dt", "figcaption"],
	...["figure", "footer", "h1", "h2", "h3", "h4", "h5", "h6", "header", "hgroup", "hr", "li", "main", "ol", "p", "pre"],
	...["section", "summary", "table", "tbody", "td", "tfoot", "th", "thead", "tr", "ul"],
	...["a", "b", "br", "code", "del", "em", "i", "img", "s", "strike", "strong", "sup", "task"],
]);

/** Elements treated like another element. */
const fallbackNames: ReadonlyMap<string, string> = new Map([
	...["center", "dir", "fieldset", "form"].map((name) => [name, "div"] as const),
	...["kbd", "samp", "tt"].map((name) => [name, "code"] as const),
	["input", "task"],
	["listing", "pre"],
	["menu", "ul"],
	["xmp", "pre"],
]);

const droppedNames: ReadonlySet<string> = new Set([
	...["annotation", "annotation-xml", "audio", "button", "canvas", "datalist", "dialog", "embed", "iframe", "map"],
	...["meter", "nav", "noembed", "noframes", "noscript", "object", "optgroup", "option", "progress", "rp", "script"],
	...["select", "style", "svg", "template", "textarea", "video"],
]);

const droppedRoles: ReadonlySet<string> = new Set(["alertdialog", "dialog", "menu", "menubar", "navigation"]);

export type Attributes = Readonly<Record<string, string>>;

/** Makes an address absolute; null for other schemes. */
export type ResolveAddress = (value: string | undefined, schemes: RegExp) => string | null;

/** Maximum characters of an attribute, and of an address. */
const attributeLength = 300;
export const addressLength = 2000;

export function fallbackName(name: string): string {
	return fallbackNames.get(name) ?? name;
}

export function treatmentOf(name: string, attributes: Attributes): Treatment {
	if (name === "html" || name === "body") return "opened";
	if (droppedNames.has(name) || isHidden(attributes)) return "dropped";
	if (name === "input" && attributes["type"]?.toLowerCase() !== "checkbox") return "dropped";
	return retainedNames.has(fallbackName(name)) ? "copied" : "opened";
}

function isHidden(attributes: Attributes): boolean {
	const { hidden, role, style } = attributes;
	if (hidden !== undefined && hidden !== "until-found") return true;
	if (role !== undefined && droppedRoles.has(role.toLowerCase())) return true;
	if (style !== undefined && /(?:^|;)\s?(?:display\s?:\s?none|visibility\s?:\s?hidden)/i.test(style.slice(0, 500))) {
		return true;
	}
	// Formulas are rendered twice; the fallback image, whose text is the formula, is marked as hidden.
	return attributes["aria-hidden"] === "true" && attributes["class"]?.includes("fallback-image") !== true;
}

export function copyAttributes(
	element: PageElement,
	name: string,
	attributes: Attributes,
	resolve: ResolveAddress,
): boolean {
	const set = (key: string, value: string | null | undefined) => {
		const text = value ?? "";
		if (text !== "") element.setAttribute(key, text);
	};
	const copy = (...keys: readonly string[]) => {
		for (const key of keys) set(key, shortText(attributes[key] ?? ""));
	};
	// Used by the main text library.
	copy("id", "class");
	switch (name) {
		case "a":
			set("href", resolve(attributes["href"], /^(?:https?|ftp|mailto|tel):$/));
			return true;
		case "img": {
			const source = imageAddress(attributes, resolve);
			set("src", source);
			copy("alt", "title");
			return source !== null;
		}
		case "td":
		case "th":
			copy("colspan", "rowspan");
			return true;
		case "h1":
			// The main text library turns it into a second-level heading.
			element.setAttribute("data-level", "1");
			return true;
		case "pre":
			element.setAttribute("class", "");
			return true;
		case "task":
			element.textContent = attributes["checked"] === undefined ? "[ ]" : "[x]";
			return true;
		default:
			return true;
	}
}

/** The image address, which lazy loading keeps in another attribute. Skips tracking pixels. */
function imageAddress(attributes: Attributes, resolve: ResolveAddress): string | null {
	const { width = "", height = "" } = attributes;
	if ([width, height].some((size) => /^[012](?:px)?$/.test(size))) return null;
	const firstOfSet = attributes["srcset"]?.slice(0, addressLength).trim().split(/[\s,]/, 1)[0];
	const candidates = [attributes["data-src"], attributes["data-original"], attributes["src"], firstOfSet];
	return candidates.map((value) => resolve(value, /^https?:$/)).find((found) => found !== null) ?? null;
}

export function shortText(text: string): string {
	return beginning(text, attributeLength).replace(/\s+/g, " ").trim();
}

/** A safe integer; null for anything else. */
export function integerOf(value: string | undefined): number | null {
	return value !== undefined && /^-?\d{1,7}$/.test(value.trim()) ? Number(value) : null;
}

const languageClass = /^(?:language|lang|highlight-source|highlight|src)-([\w+#.-]{1,30})$/;
const languageFollows: ReadonlySet<string> = new Set(["brush", "hljs", "prettyprint", "sourcecode"]);
const noLanguage: ReadonlySet<string> = new Set([
	"default",
	"none",
	"plain",
	"plaintext",
	"nohighlight",
	"notranslate",
]);

/** The programming language named by a code element; null if none. */
export function codeLanguage(attributes: Attributes): string | null {
	const named = attributes["data-lang"] ?? attributes["data-language"];
	if (named !== undefined && /^[\w+#.-]{1,30}$/.test(named)) return named.toLowerCase();
	const words = classWords(attributes);
	for (const [index, word] of words.entries()) {
		const language =
			languageClass.exec(word)?.[1] ?? (languageFollows.has(word.toLowerCase()) ? words[index + 1] : null);
		if (language && /^[\w+#.-]{1,30}$/.test(language) && !noLanguage.has(language) && !languageClass.test(language)) {
			return language.toLowerCase();
		}
	}
	return null;
}

export function isLineNumbers(attributes: Attributes): boolean {
	return classWords(attributes).some((word) => /^(?:linenos?|line-?numbers?(?:-rows)?|gutter|ln-num)$/.test(word));
}

function classWords(attributes: Attributes): string[] {
	const text = (attributes["class"] ?? "").slice(0, 300);
	return text === "" ? [] : text.split(/[\s:;]+/);
}
