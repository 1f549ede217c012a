import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { isRecord, parseJsonFile, toJsonLine, toJsonText } from "./json.ts";

describe("toJsonLine", () => {
	it("is compact and preserves other characters", () => {
		expect(toJsonLine({ a: [1, null, "ä€𝄞"], b: { c: 0.5 } })).toBe('{"a":[1,null,"ä€𝄞"],"b":{"c":0.5}}');
	});

	it("escapes characters that some readers take for line ends", () => {
		expect(toJsonLine("a\u2028b\u2029\nc")).toBe('"a\\u2028b\\u2029\\nc"');
		expect(JSON.parse(toJsonLine({ "\u2028": "\u2029" }))).toEqual({ "\u2028": "\u2029" });
	});

	it("escapes lone surrogates, high and low", () => {
		expect(toJsonLine("\ud800 \udc00 \ud83d\ude00")).toBe('"\\ud800 \\udc00 😀"');
	});
});

describe("toJsonText", () => {
	it("is what toJsonLine makes of any text", () => {
		for (const text of ["", 'a "b" \\', "\u2028\u2029", "\ud800", "a\udc00", "\u0000\u001f\u007f", "ä€𝄞"])
			expect(toJsonText(text)).toBe(toJsonLine(text));
		fc.assert(fc.property(fc.string({ unit: "binary" }), (text) => toJsonText(text) === toJsonLine(text)));
	});
});

describe("isRecord", () => {
	it.each([[null], [[]], ["x"], [1], [undefined]])("is false for %j", (value) => expect(isRecord(value)).toBe(false));
	it("is true for objects", () => expect(isRecord({})).toBe(true));
});

describe("parseJsonFile", () => {
	const nested = (depth: number) => Buffer.from(`{"a":"[\\"[{","b":${"[".repeat(depth)}${"]".repeat(depth)}}`);

	it("parses JSON with brackets in strings and many adjacent lists", () => {
		expect(parseJsonFile(nested(1))).toEqual({ a: '["[{', b: [] });
		expect(parseJsonFile(Buffer.from(`[${"[[]],".repeat(2000)}"["]`))).toHaveLength(2001);
		expect(parseJsonFile(nested(999))).toMatchObject({ a: '["[{' });
	});

	it.each([
		["too many levels", nested(1000), "The JSON nests more than 1000 levels deep."],
		["five million levels", nested(5_000_000), "The JSON nests more than 1000 levels deep."],
		["an unterminated string", Buffer.from('{"a'), expect.stringContaining("JSON")],
		["nothing", Buffer.alloc(0), expect.stringContaining("JSON")],
	])("refuses %s", (_, bytes, message) => {
		expect(() => parseJsonFile(bytes)).toThrow(expect.objectContaining({ name: "SyntaxError", message }));
	});
});
