// Limits in the reader and builder bound most pages; a deadline (page-reader.ts) bounds the rest.
import { isUtf8 } from "node:buffer";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { Readability } from "@mozilla/readability";
import { beginning } from "../../../base/text/well-formed.ts";
import type { PageSource, PageText } from "./page-text.ts";
import type { PageElement } from "./web-page-dom.ts";

/** Maximum characters of a page's text; an answer shows less. */
const textLimit = 500_000;

/** Title and main text of a page; null if there is no text. A hostile page may take any time. */
export async function readPageText({ body, contentType, url }: PageSource): Promise<PageText | null> {
	const page = await toMarkdown(decodeHtml(body, contentType), url);
	return page === null ? null : { ...page, markdown: beginning(page.markdown, textLimit) };
}

/** Null if there is no text. Falls back to the whole page; uses only the beginning of an oversized one. */
export async function toMarkdown(html: string, url: string): Promise<PageText | null> {
	const [{ readPage }, { Readability }, { writeMarkdown }] = await Promise.all([
		import("./web-page-reader.ts"),
		import("@mozilla/readability"),
		import("./web-page-markdown.ts"),
	]);
	const { document, title } = await readPage(html, url);
	// Finding the main text modifies the page.
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

/** The main text; null if not found, or if the page is too complex for the library. */
function findArticle(reader: Readability<PageElement>): PageElement | null {
	try {
		return reader.parse()?.content ?? null;
	} catch {
		return null;
	}
}

/** Bytes in which a page must declare its encoding. */
const declarationLength = 4096;

/** By byte order mark, `contentType`, declared encoding, UTF-8, or windows-1252, in that order. */
export function decodeHtml(bytes: Uint8Array, contentType: string | null): string {
	const fallback = isUtf8(bytes) ? "utf-8" : "windows-1252";
	for (const encoding of [markedEncoding(bytes), headerEncoding(contentType), declaredEncoding(bytes), fallback]) {
		const text = encoding === null ? null : decodeAs(bytes, encoding);
		if (text !== null) return text;
	}
	return "";
}

function decodeAs(bytes: Uint8Array, encoding: string): string | null {
	try {
		const decoder = new TextDecoder(encoding);
		const text = decoder.decode(bytes);
		// Some Node versions decode it as ISO 8859-1, which has control characters there.
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
	// A declaration found as ASCII cannot be in a UTF-16 document.
	return encoding !== null && /^utf-?16/i.test(encoding) ? "utf-8" : encoding;
}
