import { parse } from "smol-toml";
import { describe, expect, it } from "vitest";
import { toTomlText } from "./toml-text.ts";

describe("toTomlText", () => {
	it("writes scalars first, then tables and lists of tables under headings", () => {
		const table = {
			inner: { "a b": { x: 1 }, deep: { deeper: { y: 0.5 } } },
			text: 'quote " slash \\ line\nbreak \u007f',
			nothing: null,
			list: ["a", "b"],
			none: [],
			empty: {},
			rows: [
				{ a: true, b: null },
				{ a: false, sub: { c: "d" } },
			],
		};
		const text = toTomlText(table);
		expect(text).toBe(
			[
				'text = "quote \\" slash \\\\ line\\nbreak \\u007F"',
				'list = ["a", "b"]',
				"none = []",
				"",
				'[inner."a b"]',
				"x = 1",
				"",
				"[inner.deep.deeper]",
				"y = 0.5",
				"",
				"[empty]",
				"",
				"[[rows]]",
				"a = true",
				"",
				"[[rows]]",
				"a = false",
				"",
				"[rows.sub]",
				'c = "d"',
				"",
			].join("\n"),
		);
		const { nothing: _, ...retained } = table;
		expect(parse(text)).toEqual({ ...retained, rows: [{ a: true }, { a: false, sub: { c: "d" } }] });
	});
});
