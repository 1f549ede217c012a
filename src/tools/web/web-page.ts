// Web pages as a model reads them: bytes decoded, and the main text of a page as Markdown. The limits that keep most pages
// from taking long are in web-page-reader.ts and web-page-builder.ts; that of the rest is a deadline (page-reader.ts).
import { isUtf8 } from "node:buffer";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { Readability } from "@mozilla/readability";
import { beginning } from "../text-limits.ts";
import type { PageElement } from "./web-page-dom.ts";

export interface PageText {
	readonly title: string | null;
	readonly markdown: string;
}

/** A page as it came. */
export interface PageSource {
	readonly body: Uint8Array;
	/** As the server spelled it; null when it said nothing. */
	readonly contentType: string | null;
	/** Where it was found. */
	readonly url: string;
}

/** Characters of a page's text; an answer shows less. */
const textLimit = 500_000;

/** Title and main text of a page; null when there is no text. Takes the time that the page asks for. */
export async function readPageText({ body, contentType, url }: PageSource): Promise<PageText | null> {
	const page = await toMarkdown(decodeHtml(body, contentType), url);
	return page === null ? null : { ...page, markdown: beginning(page.markdown, textLimit) };
}

/**
 * The main text of a page as Markdown, with addresses made absolute by `url`; null when there is no text. Where no main
 * text can be told from the rest, the whole page counts. Of a page beyond all bounds, the beginning is taken.
 */
export async function toMarkdown(html: string, url: string): Promise<PageText | null> {
	const [{ readPage }, { Readability }, { writeMarkdown }] = await Promise.all([
		import("./web-page-reader.ts"),
		import("@mozilla/readability"),
		import("./web-page-markdown.ts"),
	]);
	const { document, title } = await readPage(html, url);
	// Looking for the main text takes the page apart.
	const whole = document.body.cloneNode(true);
	const article = findArticle(
		new Readability<PageElement>(document, {
			serializer: (element: PageElement) => element,
			keepClasses: true,
			disableJSONLD: true,
		}),
	);
	await nextTurn();
	const markdown = (article === null ? "" : writeMarkdown(article)) || writeMarkdown(whole);
	return markdown === "" ? null : { title, markdown };
}

/** The main text; null when there is none, and for a page that is more than the library can take. */
function findArticle(reader: Readability<PageElement>): PageElement | null {
	try {
		return reader.parse()?.content ?? null;
	} catch {
		return null;
	}
}

/** Bytes in which a page must name its encoding. */
const declarationLength = 4096;

/**
 * The text of a page. Its encoding is that of its byte order mark, else the one the server named in `contentType`, else
 * the one the page itself names; without any it is UTF-8, or windows-1252 where it is not valid as that.
 */
export function decodeHtml(bytes: Uint8Array, contentType: string | null): string {
	const fallback = isUtf8(bytes) ? "utf-8" : "windows-1252";
	for (const encoding of [markedEncoding(bytes), headerEncoding(contentType), declaredEncoding(bytes), fallback]) {
		const text = encoding === null ? null : decodeAs(bytes, encoding);
		if (text !== null) return text;
	}
	return "";
}

/** Null for a name that is no encoding. */
function decodeAs(bytes: Uint8Array, encoding: string): string | null {
	try {
		const decoder = new TextDecoder(encoding);
		const text = decoder.decode(bytes);
		// Versions of Node take it for ISO 8859-1, which has control characters there.
		return decoder.encoding === "windows-1252" ? text.replace(/[\x80-\x9f]/g, toWindowsCharacter) : text;
	} catch {
		return null;
	}
}

const windowsCharacters = "€\x81‚ƒ„…†‡ˆ‰Š‹Œ\x8dŽ\x8f\x90‘’“”•–—˜™š›œ\x9džŸ";

function toWindowsCharacter(control: string): string {
	return windowsCharacters.charAt(control.charCodeAt(0) - 0x80);
}

function markedEncoding([first, second, third]: Uint8Array): string | null {
	if (first === 0xef && second === 0xbb && third === 0xbf) return "utf-8";
	if (first === 0xfe && second === 0xff) return "utf-16be";
	return first === 0xff && second === 0xfe ? "utf-16le" : null;
}

function headerEncoding(contentType: string | null): string | null {
	return /;\s*charset\s*=\s*["']?([^\s"';]+)/i.exec(contentType ?? "")?.[1] ?? null;
}

function declaredEncoding(bytes: Uint8Array): string | null {
	const start = Buffer.from(bytes.subarray(0, declarationLength))
		.toString("latin1")
		.replace(/<!--.*?-->/gs, "");
	const declaration =
		/<meta\s[^>]*charset\s*=\s*["']?([^\s"'/>;]+)/i.exec(start) ??
		/^<\?xml\s[^>]*encoding\s*=\s*["']([^"']+)/.exec(start);
	const encoding = declaration?.[1] ?? null;
	// What could be read to find this out is not in pieces of two bytes.
	return encoding !== null && /^utf-?16/i.test(encoding) ? "utf-8" : encoding;
}
