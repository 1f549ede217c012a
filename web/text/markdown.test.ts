// Markdown of models: what is understood becomes a tree, everything else stays text.
import { describe, expect, it } from "vitest";
import { type Inline, parseInline, parseMarkdown } from "./markdown.ts";

const plain = (content: readonly Inline[]): string =>
	content.map((each) => ("content" in each ? plain(each.content) : each.text)).join("");

describe("markdown", () => {
	it("has headings, paragraphs, lists, quotes, code, tables and rules", () => {
		const text =
			"# Title\n\nSome text\nin two lines.\n\n- one\n- two\n  more\n\n3. three\n\n> said\n\n```ts\nlet a;\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n---";
		const blocks = parseMarkdown(text);
		expect(blocks.map(({ kind }) => kind)).toEqual([
			"heading",
			"paragraph",
			"list",
			"list",
			"quote",
			"code",
			"table",
			"rule",
		]);
		expect(blocks[0]).toMatchObject({ level: 1 });
		expect(blocks[2]).toMatchObject({ start: null, items: [[{ kind: "paragraph" }], [{ kind: "paragraph" }]] });
		expect(blocks[3]).toMatchObject({ start: 3 });
		expect(blocks[5]).toEqual({ kind: "code", language: "ts", text: "let a;" });
		expect(blocks[6]).toMatchObject({ rows: [[[{ text: "1" }], [{ text: "2" }]]] });
	});

	it("shows code that is not finished yet, as it streams", () => {
		expect(parseMarkdown("```sh\nls -l")).toEqual([{ kind: "code", language: "sh", text: "ls -l" }]);
	});

	it("has emphasis, code and links in lines", () => {
		expect(
			parseInline("**a** *b* `c *d*` [e](https://x.test/) ~~f~~ https://y.test/z.").map(({ kind }) => kind),
		).toEqual([
			...["strong", "text", "emphasis", "text", "code", "text", "link", "text", "deleted", "text", "link", "text"],
		]);
		expect(plain(parseInline("snake_case_name and 2 * 3 * 4 and \\*no\\*"))).toBe(
			"snake_case_name and 2 * 3 * 4 and *no*",
		);
	});

	it.each([
		"javascript:alert(1)",
		"JaVaScRiPt:alert(1)",
		"data:text/html,<script>alert(1)</script>",
		"vbscript:x",
		"//evil.test/",
		"/events",
	])("makes no link of %s", (address) => {
		expect(JSON.stringify(parseInline(`[click](${address})`))).not.toContain('"link"');
	});

	it("is read in little time, whatever it is", () => {
		const hostile = [
			"[".repeat(50_000),
			"*".repeat(50_000),
			"`".repeat(50_000),
			"> ".repeat(20_000),
			`${"- ".repeat(20_000)}x`,
			"|".repeat(50_000),
			"~~a ".repeat(20_000),
		];
		for (const text of hostile) {
			const begun = performance.now();
			parseMarkdown(text);
			expect(performance.now() - begun, text.slice(0, 10)).toBeLessThan(3_000);
		}
	});
});
