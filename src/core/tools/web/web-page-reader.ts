import { setImmediate as nextTurn } from "node:timers/promises";
import { Parser } from "htmlparser2";
import { parseHTML } from "linkedom";
import { PageBuilder } from "./web-page-builder.ts";
import type { PageDocument } from "./web-page-dom.ts";

/** Maximum tags to parse, including those of scripts and dropped elements. */
const maximumTags = 300_000;

/** Characters to parse before yielding. */
const pieceLength = 16_384;

export interface ReadPage {
	readonly document: PageDocument;
	readonly title: string | null;
}

export async function readPage(html: string, url: string): Promise<ReadPage> {
	const { document }: { readonly document: PageDocument } = parseHTML("<html><head></head><body></body></html>");
	const builder = new PageBuilder(document, url);
	const parser = new Parser({
		onopentag: (name, attributes) => builder.open(name, attributes),
		onclosetag: () => builder.close(),
		ontext: (text) => builder.addText(text),
	});
	const end = lengthOfTags(html, maximumTags);
	for (let start = 0; start < end && !builder.isFull(); start += pieceLength) {
		parser.write(html.slice(start, Math.min(end, start + pieceLength)));
		await nextTurn();
	}
	if (!builder.isFull()) parser.end();
	const title = builder.finish();
	if (title !== null) {
		const element = document.createElement("title");
		element.textContent = title;
		document.head.appendChild(element);
	}
	return { document, title };
}

function lengthOfTags(html: string, maximum: number): number {
	let at = -1;
	for (let count = 0; count <= maximum; count += 1) {
		at = html.indexOf("<", at + 1);
		if (at === -1) return html.length;
	}
	return at;
}
