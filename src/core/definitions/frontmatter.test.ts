// Frontmatter as it is written in Markdown files, and the two ways to read it.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseFrontmatter, parsePlainFrontmatter, splitFrontmatter } from "./frontmatter.ts";
import { parseYaml } from "./yaml-text.ts";

describe("splitFrontmatter", () => {
	it.each([
		["no frontmatter", "a\n---\nb", { source: null, body: "a\n---\nb" }],
		["an empty text", "", { source: null, body: "" }],
		["keys and a body", "---\na: b\n---\n\nbody\n", { source: "a: b", body: "\nbody\n" }],
		["no keys", "---\n---\nbody", { source: "", body: "body" }],
		["no body", "---\na: b\n---", { source: "a: b", body: "" }],
		["line ends of Windows", "---\r\na: b\r\n---\r\nbody", { source: "a: b", body: "body" }],
		["blank space after the markers", "--- \na: b\n---\t\nbody", { source: "a: b", body: "body" }],
		["the first closing marker", "---\na: b\n---\nc\n---\nd", { source: "a: b", body: "c\n---\nd" }],
		["no marker with extra characters", "----\na: b\n---\n", { source: null, body: "----\na: b\n---\n" }],
		["a marker that is not at the beginning", "\n---\na: b\n---\n", { source: null, body: "\n---\na: b\n---\n" }],
		["keys without a closing marker", "---\na: b\n ---\n----\n", null],
		["a single marker", "---", null],
	])("handles %s", (_, text, expected) => {
		expect(splitFrontmatter(text)).toEqual(expected);
	});
});

describe("parseFrontmatter", () => {
	const plain: readonly [string, Record<string, string>][] = [
		["", {}],
		["name: deploy\ndescription: Deploys it, at once.", { name: "deploy", description: "Deploys it, at once." }],
		["\n# note\nname:   deploy  \n\r\ntype: flow\r\n", { name: "deploy", type: "flow" }],
		["name:\ndescription: ", { name: "", description: "" }],
		[`a: "b: c # d"\nb: 'e: "f"'`, { a: "b: c # d", b: 'e: "f"' }],
		[
			"a: true\nb: 1.0\nc: 2026-01-02\nd: http://host/#x",
			{ a: "true", b: "1.0", c: "2026-01-02", d: "http://host/#x" },
		],
		["a: Überall – 東京 😀", { a: "Überall – 東京 😀" }],
	];
	it.each(plain)("reads %j without the library", async (source, fields) => {
		expect(parsePlainFrontmatter(source)).toEqual(new Map(Object.entries(fields)));
		expect(await parseFrontmatter(source)).toEqual({ ok: true, fields: new Map(Object.entries(fields)) });
	});

	const other: readonly [string, Record<string, unknown>][] = [
		["a: b # note", { a: "b" }],
		['a: "b\\nc"', { a: "b\nc" }],
		["a: 'it''s'", { a: "it's" }],
		["a: |\n  b\n  c", { a: "b\nc\n" }],
		["a: >\n  b\n  c", { a: "b c\n" }],
		["a: b\n  c", { a: "b c" }],
		["a:\n  b: c", { a: { b: "c" } }],
		["a:\n- b", { a: ["b"] }],
		["'a b': c", { "a b": "c" }],
		["a: -b", { a: "-b" }],
		["{ a: b }", { a: "b" }],
	];
	it.each(other)("reads %j with the library", async (source, fields) => {
		expect(parsePlainFrontmatter(source)).toBeNull();
		expect(await parseFrontmatter(source)).toEqual({ ok: true, fields: new Map(Object.entries(fields)) });
	});

	const meant: readonly [string, Record<string, unknown>][] = [
		["a: b: c", { a: "b: c" }],
		["a: Use it: often\nb: x", { a: "Use it: often", b: "x" }],
		["a: [b, c]", { a: "[b, c]" }],
		["a: [WIP] b", { a: "[WIP] b" }],
		["a: [b", { a: "[b" }],
		["a: {b}", { a: "{b}" }],
		["a: `b` c", { a: "`b` c" }],
		["a: *b* c", { a: "*b* c" }],
		["a: @b", { a: "@b" }],
		["a: %b", { a: "%b" }],
		["a:\tb", { a: "b" }],
		["a: b: c\r\nd: e\r\n", { a: "b: c", d: "e" }],
		["a: b: c\n  d", { a: "b: c d" }],
		["a: b\na: c", { a: "b" }],
		['a: "b" or c', { a: '"b" or c' }],
	];
	it.each(meant)("reads %j as it was meant", async (source, fields) => {
		expect(await parseFrontmatter(source)).toEqual({ ok: true, fields: new Map(Object.entries(fields)) });
	});

	it.each([
		["- [a", /^Invalid YAML: /],
		["- a", /^its frontmatter is not a map of keys$/],
		["just words", /^its frontmatter is not a map of keys$/],
	])("reports the fault of %j", async (source, reason) => {
		expect(await parseFrontmatter(source)).toEqual({ ok: false, reason: expect.stringMatching(reason) });
	});

	const sign = fc.constantFrom(...Array.from("a: b\n#'\"-[]{},&*!|>%@`\\\t\r~?=<.1é\u0085\u00a0\u2028\ufeff😀"));
	const line = fc.oneof(
		fc.string({ unit: sign, maxLength: 12 }),
		fc
			.tuple(fc.constantFrom("a", "name", "b-c"), fc.string({ unit: sign, maxLength: 12 }))
			.map((pair) => pair.join(": ")),
		fc
			.tuple(fc.constantFrom("a", "name"), fc.string({ unit: "grapheme", maxLength: 12 }))
			.map((pair) => pair.join(": ")),
	);
	const source = fc.array(line, { maxLength: 4 }).map((lines) => lines.join("\n"));

	it("agrees with the library on what it reads without it", async () => {
		await fc.assert(
			fc.asyncProperty(source, async (text) => {
				const fields = parsePlainFrontmatter(text);
				if (fields === null) return;
				const document = await parseYaml(text, "texts");
				expect(document).toHaveProperty("content");
				if ("content" in document) expect(trimmed(document.content ?? {})).toEqual(trimmed(Object.fromEntries(fields)));
			}),
			{ numRuns: 2000 },
		);
	});

	it("throws no error for any text", async () => {
		await fc.assert(
			fc.asyncProperty(fc.oneof(source, fc.string()), async (text) => {
				splitFrontmatter(text);
				expect((await parseFrontmatter(text)).ok).toBeTypeOf("boolean");
			}),
		);
	});
});

/** The library gives an absent value the blank space in its place. */
const trimmed = (content: object) =>
	Object.fromEntries(
		Object.entries(content).map(([key, value]) => [key, typeof value === "string" ? value.trim() : value]),
	);
