// Web pages as a model reads them: bytes decoded, and the text of a page as Markdown.

export interface PageText {
	readonly title: string | null;
	readonly markdown: string;
}

/** The text of a page; null when there is none. */
export async function toMarkdown(html: string, _url: string): Promise<PageText | null> {
	const title = /<title[^>]*>([^<]*)<\/title>/i.exec(html)?.[1]?.trim() ?? "";
	const text = html
		.replace(/<(script|style|head)\b.*?<\/\1>/gis, " ")
		.replace(/<[^>]*>/g, " ")
		.replace(/\s+/g, " ")
		.trim();
	return text === "" ? null : { title: title === "" ? null : title, markdown: text };
}

/** The text of a page in the encoding that the server named in `contentType`, or UTF-8. */
export function decodeHtml(bytes: Uint8Array, contentType: string | null): string {
	const charset = /;\s*charset\s*=\s*["']?([^\s"';]+)/i.exec(contentType ?? "")?.[1];
	try {
		return new TextDecoder(charset).decode(bytes);
	} catch {
		return new TextDecoder().decode(bytes);
	}
}
