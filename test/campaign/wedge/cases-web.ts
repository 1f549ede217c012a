// Cases of the wedge campaign: pages of the web and answers of search services.
import { brotliCompressSync, gzipSync } from "node:zlib";
import type { Case, World } from "./case.ts";
import { calling } from "./cases-search.ts";
import { type Answer, give, pour } from "./loopback.ts";
import { fill, list, manyKeys, nest } from "./texts.ts";

const page = (
	name: string,
	make: (size: number, world: World) => Answer | string,
	reached = /FetchURL (ok|error)/,
): Case => ({
	area: "FetchURL",
	name,
	reached,
	set(world) {
		const made = make(world.size, world);
		world.loopback.route("/page", typeof made === "string" ? give(made) : made);
		return calling("FetchURL", { url: `${world.loopback.url}/page` });
	},
});

const article = (body: string) => `<!doctype html><title>t</title><body><article>${body}</article></body>`;
const html = "text/html; charset=utf-8";

const deepPages: readonly Case[] = [
	...["div", "b", "span", "blockquote", "ul><li", "table><tr><td", "a href=x", "font", "details", "svg", "p"].map(
		(tag) => page(`unclosed <${tag}> in each other`, (size) => article(fill(`<${tag}>x`, size))),
	),
	...["div", "em", "section", "pre", "h1", "button", "li", "q"].map((tag) =>
		page(`<${tag}> within <${tag}>`, (size) => article(nest(`<${tag}>`, `</${tag}>`, size, "x"))),
	),
	page("links and emphasis closed crosswise", (size) => article(fill("<a><b><i>x</a></b></i>", size))),
	page("formats that are opened again in every paragraph", (size) => article(fill("<p><b><i><u><font>x", size))),
	page("tables in cells in tables", (size) => article(nest("<table><tr><td>a<td>", "</table>", size, "x"))),
	page("lists in lists with text", (size) => article(nest("<ol><li>item ", "</li></ol>", size))),
	page("quotations in quotations with lines", (size) => article(nest("<blockquote>a<br>b", "</blockquote>", size))),
];

const longPages: readonly Case[] = [
	page("a table of a thousand columns", (size) =>
		article(`<table>${fill(`<tr>${"<td>x</td>".repeat(1000)}</tr>`, size)}</table>`),
	),
	page("a table of one long row", (size) => article(`<table><tr>${fill("<td>x", size)}</table>`)),
	page("a table of many rows", (size) => article(`<table>${fill("<tr><td>a<td>b", size)}</table>`)),
	page("cells that span thousand millions", (size) =>
		article(`<table>${fill("<tr><td colspan=999999999 rowspan=999999999>x", size)}`),
	),
	page("cells with bars and line breaks", (size) => article(`<table>${fill("<tr><td>|\\|<br><td>||", size)}`)),
	page("references without end", (size) => article(`<p>${fill("&amp;&lt;&#x41;&notit;&unknown;&#99999999;", size)}`)),
	page("ampersands", (size) => article(`<p>${fill("&", size)}`)),
	page("comments that do not close", (size) => article(fill("<!-- x <!--", size))),
	page("comments that nearly close", (size) => article(fill("<!-- x --!", size))),
	page("less-than signs", (size) => article(fill("<", size))),
	page("tags that do not close", (size) => article(fill("<a ", size))),
	page("an element with as many attributes", (size) => article(`<p ${list(size, (n) => `a${n}=${n}`, " ")}>x`)),
	page("an attribute of a megabyte", (size) => article(`<a href="${fill("x y", size)}">text</a>`)),
	page("classes of a megabyte", (size) =>
		article(fill(`<p class="${fill("article comment sidebar ", 1000)}">a, b, c`, size)),
	),
	page("a title of a megabyte", (size) => `<title>${fill("title | of - the : page » ", size)}</title><p>text`),
	page("a script of a megabyte", (size) => article(`<script>${fill("<!--<script>", size)}</script><p>x`)),
	page("data of the page as JSON", (size) =>
		article(`<script type="application/ld+json">${nest('{"@graph":[', "]}", size)}</script><p>x`),
	),
	page("many small paragraphs", (size) => article(fill("<p>a, b", size))),
	page("many small links", (size) => article(fill("<a href=/x>l</a> ", size))),
	page("many images", (size) => article(fill("<img src=x alt=y>", size))),
	page("many images of no use", (size) => article(fill('<img class="lazy" data-src="a.png 2x, b.jpg 3x">', size))),
	page("many line breaks", (size) => article(fill("<br>", size))),
	page("line breaks and blanks", (size) => article(fill("<br> &nbsp;\n", size))),
	page("many headings", (size) => article(fill("<h1>a<h2>b", size))),
	page("text without a blank", (size) => article(`<p>${fill("x", size)}`)),
	page("text of blanks", (size) => article(`<p>a${fill(" ", size)}b`)),
	page("text of line breaks and tabs", (size) => article(`<p>a${fill("\n\t", size)}b`)),
	page("commas", (size) => article(`<p>${fill(",", size)}`)),
	page("marks of Markdown", (size) => article(`<p>${fill("*_`[]()#+-.!\\~|>", size)}`)),
	page("backticks in code", (size) =>
		article(`<pre><code>${fill("```\n`", size)}</code></pre><code>${fill("`", size)}</code>`),
	),
	page("numbers with dots at the beginning of lines", (size) => article(fill("<p>1. 2. 3.", size))),
	page("frames of the author", (size) => article(fill('<p class="byline" rel="author" itemprop="author">By x', size))),
	page("elements that hide", (size) => article(fill('<div style="display:none" aria-hidden=true>x</div>', size))),
	page("noscript with an image", (size) => article(fill("<noscript><img src=a></noscript><img>", size))),
	page("elements of other worlds", (size) => article(fill("<svg><math><mi><foreignObject><p>x", size))),
	page("templates in templates", (size) => article(nest("<template>", "</template>", size, "x"))),
	page("choices in choices", (size) => article(fill("<select><option>x<optgroup>", size))),
	page("nothing but zeros", (size) => article(fill("\0", size))),
	page("addresses that are data", (size) =>
		article(fill(`<img src="data:image/png;base64,${"A".repeat(500)}">`, size)),
	),
	page(
		"bases and relative addresses",
		(size) => `<base href="${fill("//x/", 5000)}">${article(fill("<a href=../../y>z</a>", size))}`,
	),
	page("ten megabytes of paragraphs", () => article("<p>a, b, c and d</p>".repeat(500_000))),
];

const encodedPages: readonly Case[] = [
	...[
		"utf-7",
		"utf-16",
		"utf-16be",
		"iso-2022-jp",
		"gb18030",
		"big5",
		"euc-kr",
		"x-user-defined",
		"x".repeat(5000),
	].map((charset) =>
		page(`a charset: ${charset.slice(0, 20)}`, (size) =>
			give(Buffer.from(fill("<p>\u001b$B+ADw-\u00ff\u0080", size), "latin1"), {
				"content-type": `text/html; charset=${charset}`,
			}),
		),
	),
	page("many charsets in the page", (size) => give(fill('<meta charset="', size), { "content-type": "text/html" })),
	page("a gigabyte, compressed", () => give(bomb(), { "content-type": html, "content-encoding": "gzip" })),
	page("a gigabyte, compressed twice", () =>
		give(gzipSync(bomb()), { "content-type": html, "content-encoding": "gzip, gzip" }),
	),
	page("a hundred times compressed", () =>
		give(bomb(), { "content-type": html, "content-encoding": "gzip,".repeat(100) }),
	),
	page("a gigabyte, compressed by brotli", () => {
		const megabytes = brotliCompressSync(Buffer.alloc(100 * 1024 * 1024, 97));
		return give(megabytes, { "content-type": html, "content-encoding": "br" });
	}),
	page("what is not compressed as said", (size) => give(fill("x", size), { "content-encoding": "gzip" })),
	page("plain text of one line", (size) => give(fill("x", size), { "content-type": "text/plain" })),
	page("plain text of short lines", (size) => give(fill("\r\n", size), { "content-type": "text/plain" })),
	page("deep JSON", (size) => give(nest("[", "]", size), { "content-type": "application/json" })),
	page("XML with entities", (size) =>
		give(`<!DOCTYPE x [${fill('<!ENTITY a "&a;&a;">', size)}]><x>&a;</x>`, { "content-type": "application/xml" }),
	),
	page("bytes called text", (size, { random }) =>
		give(
			Uint8Array.from({ length: size }, () => random.below(256)),
			{ "content-type": "text/html" },
		),
	),
	page("a header of a megabyte", (size) => (response) => {
		response.socket?.end(`HTTP/1.1 200 OK\r\nx: ${fill("y", size)}\r\n\r\n`);
	}),
	page("headers without end", () => async (response) => {
		const { socket } = response;
		socket?.write("HTTP/1.1 200 OK\r\n");
		for (let number = 0; number < 20_000 && socket?.destroyed === false; number += 1)
			socket.write(`x-${number}: y\r\n`);
	}),
	page("moved in a ring", () => (response) => {
		response.writeHead(302, { location: "/page" }).end();
	}),
	page("moved to an address of a megabyte", () => (response) => {
		response.writeHead(302, { location: `/page?${"x".repeat(10_000)}` }).end();
	}),
	page("without end", () => async (response) => {
		response.writeHead(200, { "content-type": html });
		await pour(response, endless("<p>more and more"));
	}),
	page("a type that is a megabyte", (size) =>
		give("x", { "content-type": `text/html; ${fill('a="b\\";', Math.min(size, 12_000))}` }),
	),
	{
		area: "FetchURL",
		name: "an address of a megabyte",
		reached: /FetchURL error/,
		set: ({ size }) => calling("FetchURL", { url: `http://${fill("a.", size)}` }),
	},
	{
		area: "FetchURL",
		name: "an address of odd characters",
		reached: /FetchURL (ok|error)/,
		set: ({ size }) => calling("FetchURL", { url: `http://xn--${fill("\u00fc\u202e%", size)}` }),
	},
];

function* endless(text: string): Generator<string> {
	for (;;) yield text.repeat(1000);
}

/** A thousand million letters, compressed. */
function bomb(): Buffer {
	return Buffer.concat(Array.from({ length: 10 }, () => gzipSync(Buffer.alloc(100_000_000, 97))));
}

const search = (name: string, make: (size: number) => Answer, reached = /SearchWeb (ok|error)/): Case => ({
	area: "SearchWeb",
	name,
	reached,
	set({ loopback, size }) {
		loopback.route("/search", make(size));
		const service = { base_url: `${loopback.url}/search`, api_key: "key" };
		return {
			...calling("SearchWeb", { query: fill("what? ", 2000), include_content: true }),
			settings: { services: { moonshot_search: service } },
		};
	},
});

const json = { "content-type": "application/json" };

const searchCases: readonly Case[] = [
	search("a result of a megabyte", (size) =>
		give(JSON.stringify({ search_results: [{ title: fill(" ", size / 2), content: fill("a\n", size / 2) }] }), json),
	),
	search("a hundred thousand results", (size) => give(`{"search_results":[${fill("{},", size)}{}]}`, json)),
	search("deep JSON", (size) => give(nest('{"search_results":[', "]}", size), json)),
	search("deep lists", (size) => give(nest("[", "]", size), json)),
	search("a hundred thousand keys", (size) => give(manyKeys(size), json)),
	search("no JSON", (size) => give(fill("<html>", size))),
	search("an error of a megabyte", (size) => give(fill("<html>", size), {}, 500)),
	search("without end", () => async (response) => {
		response.writeHead(200, json);
		await pour(response, endless(" "));
	}),
	search("a gigabyte, compressed", () => give(bomb(), { ...json, "content-encoding": "gzip" })),
	{
		area: "SearchWeb",
		name: "a query of a megabyte",
		reached: /SearchWeb (ok|error)/,
		set: ({ loopback, size }) => {
			loopback.route("/search", give('{"search_results":[]}', json));
			const service = { base_url: `${loopback.url}/search`, api_key: "key" };
			return {
				...calling("SearchWeb", { query: fill("why? ", size) }),
				settings: { services: { moonshot_search: service } },
			};
		},
	},
];

export const webCases: readonly Case[] = [...deepPages, ...longPages, ...encodedPages, ...searchCases];
