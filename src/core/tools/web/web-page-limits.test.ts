// Pages of the maximal size that were found to take too long somewhere on the way to Markdown.
import { expect, it } from "vitest";
import { toMarkdown } from "./web-page.ts";

const url = "https://example.com/docs/page.html";

/** Ten mebibytes of something. */
function much(piece: string): string {
	return piece.repeat(Math.ceil((10 * 1024 * 1024) / piece.length));
}

// Each was found to take much longer than its size explains, or more of the stack than there is, somewhere on the way.
it.each([
	["nested elements", () => much("<div>text, text")],
	["nested formatting", () => much("<b>text")],
	["nested drawings", () => `<p>text</p>${much("<svg>")}`],
	["nested lists", () => much("<ul><li>text")],
	["nested tables", () => much("<table><tr><td>a<td>b")],
	["deep and wide", () => "<div>text, text".repeat(58) + much("<p></p>")],
	["end tags without start tags", () => `<p>text</p>${"<i>".repeat(1900)}${much("</x>")}`],
	["rows", () => much("<table><thead><tr><th>a<th>b")],
	["columns", () => `<table><tr>${much("<th>a")}`],
	["cells with a large span", () => `<table>${much("<tr><td colspan=1000000000 rowspan=1000000000>a")}`],
	["items", () => `<ol>${much("<li>a")}`],
	["breaks", () => `text${much("<br><i></i>")}`],
	["code with much space", () => `<pre>a${" ".repeat(300_000)}\u00a0${" ".repeat(190_000)}b</pre>`],
	["inline code", () => `<code> ${much("a ")}</code>`],
	["backticks", () => `<code>${much("` ")}</code>`],
	["attributes", () => `<p ${Array.from({ length: 500_000 }, (_, index) => `a${index}=1`).join(" ")}>text</p>`],
	["class names", () => `<p class="${much("a b ")}">text</p>`],
	["sets of image sources", () => `<p>text<img src=/a srcset="${much("a")} b">`],
	["a title", () => `<title>${much("a - ")}</title>text`],
	["links in a heading", () => `<h1>${"<i>".repeat(1900)}${much("<a href=#a>x</a>")}`],
	["text too deep for elements", () => `${"<div>".repeat(60)}${much("<p>x</p>")}`],
	["images without a source", () => much("x<img src=data:,a>")],
	["a long base", () => `<base href="http://example.org/${"a".repeat(5_000_000)}">${much("<a href=b>x</a>")}`],
	["ampersands", () => much("&amp;")],
	["brackets", () => `text${much("<")}`],
])("is converted in bounded time: %s", async (_name, make) => {
	expect((await toMarkdown(make(), url))?.markdown).toMatch(/\S/);
});
