import { describe, expect, it } from "vitest";
import { closed, codeBlock, codeSpan, quote } from "./markdown.ts";

describe("markdown", () => {
	it.each([
		["plain", "```\nplain\n```"],
		["ends\n", "```\nends\n```"],
		["", "```\n```"],
		["a ``` b", "````\na ``` b\n````"],
		["`````\nx\n`````", "``````\n`````\nx\n`````\n``````"],
	])("fences %j with more backticks than it contains", (text, expected) => {
		expect(codeBlock(text)).toBe(expected);
	});

	it("names the language of a block", () => {
		expect(codeBlock("{}", "json")).toBe("```json\n{}\n```");
	});

	it("fences a text with more sequences of backticks than a call accepts arguments", () => {
		expect(codeBlock("` ".repeat(300_000)).startsWith("```\n")).toBe(true);
	});

	it.each([
		["name", "`name`"],
		["a\nb\tc", "`a b c`"],
		["a`b", "``a`b``"],
		["`a`", "`` `a` ``"],
		["", "``"],
	])("formats %j as a code span", (text, expected) => {
		expect(codeSpan(text)).toBe(expected);
	});

	it("quotes every line", () => {
		expect([...quote("one\n\n```\ntwo\n")].join("")).toBe("> one\n>\n> ```\n> two");
	});

	it.each([
		["no fence", "no fence"],
		["```\nclosed\n```", "```\nclosed\n```"],
		["```js\nopen", "```js\nopen\n```"],
		["~~~\nopen\n```", "~~~\nopen\n```\n~~~"],
		["````\n```\nopen", "````\n```\nopen\n````"],
		["```\nthe next does not close\n``` x", "```\nthe next does not close\n``` x\n```"],
		["```inline``` code", "```inline``` code"],
		["   ```\nopen", "```\nopen\n```"],
		["text\n    ```\nindented code is no fence", "text\n    ```\nindented code is no fence"],
		["```\none\n`````\ntwo", "```\none\n`````\ntwo"],
	])("closes the block that %j leaves open", (text, expected) => {
		expect([...closed(text)].join("")).toBe(expected);
	});
});
