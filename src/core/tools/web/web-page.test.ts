import { describe, expect, it } from "vitest";
import { decodeHtml, toMarkdown } from "./web-page.ts";

const url = "https://example.com/docs/page.html?x=1";

async function markdownOf(body: string): Promise<string | null> {
	return (await toMarkdown(`<!doctype html><html><body>${body}</body></html>`, url))?.markdown ?? null;
}

const sentence = "This is a sentence of the main text, long enough to count, with commas and all.";
const navigation = `<nav><a href="/">Home</a></nav><div class="sidebar"><ul><li><a href="/a">Elsewhere</a></li></ul></div>`;
const article = `<article>${`<p>${sentence}</p>`.repeat(8)}</article>`;

describe("toMarkdown", () => {
	it("returns the title and the main text, without the parts around it", async () => {
		const html = `<html><head><title> A  page &amp; more </title><style>p { color: red }</style></head>
			<body>${navigation}${article}<footer>Imprint</footer><script>document.write("<p>written</p>")</script></body></html>`;
		expect(await toMarkdown(html, url)).toEqual({
			title: "A page & more",
			markdown: Array.from({ length: 8 }, () => sentence).join("\n\n"),
		});
	});

	it("prefers the title of the page's metadata to that of the window", async () => {
		const head = `<title>Shop – Page – Offers</title><meta property="og:title" content="Page">`;
		expect((await toMarkdown(`<head>${head}</head><p>Text`, url))?.title).toBe("Page");
		expect((await toMarkdown("<p>Text", url))?.title).toBeNull();
	});

	it.each([
		["<h1>One</h1><h3>Three <em>times</em></h3>", "# One\n\n### Three *times*"],
		["<p>a<b>b</b> <i>c</i> <s>d</s> <kbd>e</kbd></p>", "a**b** *c* ~~d~~ `e`"],
		["<p>one<br>two</p>", "one\ntwo"],
		["<p>E = mc<sup>2</sup>, 10<sup>-3</sup> and x<sup>n+1</sup></p>", "E = mc^2, 10^(-3) and x^(n+1)"],
		["<p>snake_case_name, _x_ and 2*3*4</p>", "snake_case_name, \\_x\\_ and 2\\*3\\*4"],
		["<blockquote><p>a</p><p>b</p></blockquote>", "> a\n> \n> b"],
		["<p>a</p><hr><p>b</p>", "a\n\n---\n\nb"],
		["<p>one\u00a0two\u2003three so\u00adft</p>", "one two three soft"],
		["<center>a</center><font>b</font><my-card>c</my-card>", "a\n\nbc"],
	])("converts %s", async (body, markdown) => {
		expect(await markdownOf(body)).toBe(markdown);
	});

	it.each([
		["<ul><li>a<li>b<ul><li>c</ul></ul>", "- a\n- b\n  - c"],
		["<ol><li>a</li><li><p>b</p><p>c</p></li></ol>", "1. a\n2. b\n\n   c"],
		["<ol start=9><li>a<li>b<li value=20>c<li>d</ol>", "9. a\n10. b\n20. c\n21. d"],
		["<ul><li><input type=checkbox checked> a<li><input type=checkbox> b</ul>", "- [x] a\n- [ ] b"],
	])("converts the list %s", async (body, markdown) => {
		expect(await markdownOf(body)).toBe(markdown);
	});

	it.each([
		["<a href='sub/x.html#y'>a</a>", "[a](https://example.com/docs/sub/x.html#y)"],
		["<a href='//other.org/?q=1&amp;r=2'>a</a>", "[a](https://other.org/?q=1&r=2)"],
		["<a href='/w/A_(b)'>a</a>", "[a](https://example.com/w/A_%28b%29)"],
		["<a href='javascript:alert(1)'>a</a> <a href='mailto:me@x.org'>b</a>", "a [b](mailto:me@x.org)"],
		["<a href='/x'><h3>Card</h3><p>Text of it</p></a>", "[Card Text of it](https://example.com/x)"],
		["<base href='https://cdn.org/b/'><a href='x'>a</a>", "[a](https://cdn.org/b/x)"],
		["<h2><a href='#s'>Title</a><a href='#s'>¶</a></h2><p><a href='#s'>see</a></p>", `## Title\n\n[see](${url}#s)`],
		["<p>x <img src='i.png' alt='An\n image'></p>", "x ![An image](https://example.com/docs/i.png)"],
		["<p>x <img src='data:image/png;base64,AA' data-src='/late.png'></p>", "x ![](https://example.com/late.png)"],
		["<p>x <img src='/count.gif' width=1 height=1></p>", "x"],
		["<a href='/x'><img src='/i.png' alt=i></a>", "[![i](https://example.com/i.png)](https://example.com/x)"],
	])("resolves relative addresses: %s", async (body, markdown) => {
		expect(await markdownOf(body)).toBe(markdown);
	});

	it.each([
		["<pre><code class='language-js'>a &lt; b;\n  c();\n</code></pre>", "```js\na < b;\n  c();\n```"],
		["<div class='highlight highlight-source-c++'><pre><span>int</span> a;</pre></div>", "```c++\nint a;\n```"],
		["<div class='highlight-python notranslate'><div><pre>x = 1\n</pre></div></div>", "```python\nx = 1\n```"],
		["<div class='highlight-default'><pre>x</pre></div>", "```\nx\n```"],
		["<pre class='brush: java'>x</pre>", "```java\nx\n```"],
		["<pre class='sourceCode haskell'><code class='sourceCode haskell'>x</code></pre>", "```haskell\nx\n```"],
		["<pre><code data-lang='Go'>x</code></pre>", "```go\nx\n```"],
		["<pre>\n\ta<br>b\n<div>c</div><div>d</div></pre>", "```\n\ta\nb\nc\nd\n```"],
		["<pre><code>a</code><code>b</code></pre>", "```\na\n\nb\n```"],
		["<pre><span class=linenos>1</span>a</pre>", "```\na\n```"],
		["<pre>```\ninner\n```</pre>", "````\n```\ninner\n```\n````"],
		["<p><code>a ` b</code> and <code>`c`</code></p>", "``a ` b`` and `` `c` ``"],
	])("preserves code: %s", async (body, markdown) => {
		expect(await markdownOf(body)).toBe(markdown);
	});

	it.each([
		[
			"<table><caption>Of it</caption><thead><tr><th>A<th>B|C</thead><tr><td>1<td><b>2</b></table>",
			"Of it\n\n| A | B\\|C |\n| --- | --- |\n| 1 | **2** |",
		],
		["<table><tr><td>a<td>b<tr><td>c<td>d</table>", "|  |  |\n| --- | --- |\n| a | b |\n| c | d |"],
		[
			"<table><tr><th>A<th>B<th>C<tr><td colspan=2>ab<td rowspan=2>c<tr><td>d<td>e</table>",
			"| A | B | C |\n| --- | --- | --- |\n| ab |  | c |\n| d | e |  |",
		],
		[
			"<table><tr><th>A<th>B<tr><td><ul><li>x<li>y</ul><td><p>p</p><pre><code class=language-js>q</code></pre></table>",
			"| A | B |\n| --- | --- |\n| - x<br>- y | p<br>q |",
		],
		[
			"<table><tr><td><p>laid</p><td><table><tr><td>a<td>b</table></table>",
			"laid\n\n|  |  |\n| --- | --- |\n| a | b |",
		],
		["<table><tr><td><h2>a</h2><tr><td>b</table>", "## a\n\nb"],
	])("converts the table %s", async (body, markdown) => {
		expect(await markdownOf(body)).toBe(markdown);
	});

	it.each([
		"<div hidden>x</div>",
		"<div style='color:red; display: none'>x</div>",
		"<span aria-hidden=true>x</span>",
		"<div role=dialog>x</div>",
		"<template><p>x</p></template>",
		"<noscript>x</noscript>",
		"<svg><title>x</title><text>x</text></svg>",
		"<button>x</button><select><option>x</select><textarea>x</textarea>",
		"<iframe>x</iframe><video>x</video>",
		"<!-- x -->",
	])("omits %s", async (body) => {
		expect(await markdownOf(`<p>a</p>${body}<p>b</p>`)).toBe("a\n\nb");
	});

	it.each(["", "   ", "<html></html>", "<script>x</script>", "<nav>Home</nav>", "<img width=1 height=1 src=/x>"])(
		"returns nothing for %j",
		async (html) => {
			expect(await toMarkdown(html, url)).toBeNull();
		},
	);

	it("handles plain text, an invalid address and truncated HTML", async () => {
		expect(await toMarkdown("plain text & <b>more", "nonsense")).toEqual({
			title: null,
			markdown: "plain text & **more**",
		});
		expect((await toMarkdown("<a href=x>a</a> <a href=http://b.org>b</a><p", ""))?.markdown).toBe(
			"a [b](http://b.org/)",
		);
	});
});

/** Ten mebibytes of something. */
function much(piece: string): string {
	return piece.repeat(Math.ceil((10 * 1024 * 1024) / piece.length));
}

describe("a page that exceeds the limits", () => {
	it("is truncated after the maximum number of elements", async () => {
		const paragraphs = (await toMarkdown(much("<p>words</p>"), url))?.markdown.split("\n\n") ?? [];
		expect(paragraphs.slice(0, 12_000)).toEqual(Array.from({ length: 12_000 }, () => "words"));
		// Text after the last of these elements has no paragraph of its own.
		expect(paragraphs.length).toBeLessThanOrEqual(12_001);
	});

	it("is truncated after the maximum length of text", async () => {
		expect((await toMarkdown(much("words "), url))?.markdown.length).toBeGreaterThan(400_000);
		expect((await toMarkdown(much("words "), url))?.markdown.length).toBeLessThan(500_001);
	});

	it("is treated as text when it nests too deeply", async () => {
		const deep = `${"<div>".repeat(500)}<p>one</p><p>two</p>${"</div>".repeat(500)}<h2>after</h2>`;
		expect((await toMarkdown(deep, url))?.markdown).toBe("one two\n\n## after");
	});
});

describe("decodeHtml", () => {
	const latin = (text: string) => Buffer.from(text, "latin1");
	it.each([
		["UTF-8 without a word", Buffer.from("grün €"), null, "grün €"],
		["windows-1252 where it is not UTF-8", latin("gr\xfcn \x80"), null, "grün €"],
		["the header", latin("\xcf\xf0"), "text/html; charset=windows-1251", "Пр"],
		["the header, quoted", latin("\xcf\xf0"), 'text/html;Charset="Windows-1251"; x=y', "Пр"],
		["a header with an unknown encoding", Buffer.from("grün"), "text/html; charset=klingon", "grün"],
		["the page", latin('<meta charset="shift_jis">\x83e'), null, '<meta charset="shift_jis">テ'],
		[
			"the page, in the old way",
			latin('<meta http-equiv=Content-Type content="text/html; charset=gbk">\xc4\xe3'),
			null,
			'<meta http-equiv=Content-Type content="text/html; charset=gbk">你',
		],
		[
			"the page, as XML",
			latin('<?xml version="1.0" encoding="koi8-r"?>\xd0'),
			null,
			'<?xml version="1.0" encoding="koi8-r"?>п',
		],
		[
			"the header before the page",
			latin("<meta charset=gbk>\xfc"),
			"text/html; charset=iso-8859-1",
			"<meta charset=gbk>ü",
		],
		["a byte order mark before the header", Buffer.from("\ufeffgrün"), "text/html; charset=gbk", "grün"],
		["UTF-16", Buffer.from("\ufeffgrün", "utf16le"), null, "grün"],
		["a page that declares UTF-16 wrongly", Buffer.from("<meta charset=utf-16>ü"), null, "<meta charset=utf-16>ü"],
		[
			"a comment, which declares nothing",
			latin("<!-- <meta charset=gbk> -->\xfc"),
			null,
			"<!-- <meta charset=gbk> -->ü",
		],
		["nothing", Buffer.alloc(0), null, ""],
	])("chooses the encoding by %s", (_name, bytes, contentType, text) => {
		expect(decodeHtml(bytes, contentType)).toBe(text);
	});
});
