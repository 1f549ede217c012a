import { describe, expect, it } from "vitest";
import { scanToml } from "./toml-scan.ts";

/** Each statement as its kind, path and text; of a pair the value apart. */
const seen = (text: string) =>
	scanToml(text).map(({ kind, path, start, end, valueStart, valueEnd }) => [
		kind,
		path.join("|"),
		text.slice(start, end),
		text.slice(valueStart, valueEnd),
	]);

describe("scanToml", () => {
	it("finds headings, list items and pairs with their whole lines", () => {
		const text = [
			"# a comment with [a] and b = 1\n",
			"a = 1 # with a comment\n",
			"\n",
			"\t[ b . c ] # and another\n",
			"d.e = true\n",
			"[[f]]\n",
			"g = 1979-05-27 07:32:00\n",
		];
		expect(seen(text.join(""))).toEqual([
			["pair", "a", text[1], "1"],
			["table", "b|c", text[3], ""],
			["pair", "b|c|d|e", text[4], "true"],
			["list-item", "f", text[5], ""],
			["pair", "f|g", text[6], "1979-05-27 07:32:00"],
		]);
	});

	it.each([
		[`"a\\"]=" = 1`, 'a"]='],
		[`'a\\' = 1`, "a\\"],
		[`"\\u0041\\U00000042\\t" = 1`, "AB\t"],
		[`"kimi-code/k2" . 'b c' = 1`, "kimi-code/k2|b c"],
		[`"" = 1`, ""],
	])("reads the key of %s", (text, path) => {
		expect(seen(text)).toEqual([["pair", path, text, "1"]]);
	});

	it.each([
		["a string", '"a # b \\" c"'],
		["a literal string", "'a # \\'"],
		["a long string", '"""a\n[b]\nc = \\""" d""""'],
		["a long literal string", "'''a\n[b]''\nc\\''''"],
		["an empty string", '""'],
		["a multi-line list", '[1, # ]\n  [2, "]"],\n]'],
		["an inline table", '{ a = "}", b = { c = [1, 2] } }'],
		["a number", "1_000.5e-3"],
	])("skips %s", (_, value) => {
		const text = `x = ${value}  # end\ny = 1`;
		expect(seen(text)).toEqual([
			["pair", "x", `x = ${value}  # end\n`, value],
			["pair", "y", "y = 1", "1"],
		]);
	});

	it("accepts a byte order mark and CR LF", () => {
		expect(seen('\ufeffa = "b"\r\n\r\n[c]\r\n')).toEqual([
			["pair", "a", 'a = "b"\r\n', '"b"'],
			["table", "c", "[c]\r\n", ""],
		]);
	});

	it("terminates for text that is not TOML", () => {
		const text = '= "\n[[[\n{ ] = \n"""';
		expect(seen(text)).toEqual([["pair", "", text, text.slice(2, -2)]]);
	});
});
