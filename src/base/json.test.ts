import { describe, expect, it } from "vitest";
import { isRecord, toJsonLine } from "./json.ts";

describe("toJsonLine", () => {
	it("is compact and leaves other characters as they are", () => {
		expect(toJsonLine({ a: [1, null, "ä€𝄞"], b: { c: 0.5 } })).toBe('{"a":[1,null,"ä€𝄞"],"b":{"c":0.5}}');
	});

	it("escapes what some readers take for line ends", () => {
		expect(toJsonLine("a\u2028b\u2029\nc")).toBe('"a\\u2028b\\u2029\\nc"');
		expect(JSON.parse(toJsonLine({ "\u2028": "\u2029" }))).toEqual({ "\u2028": "\u2029" });
	});

	it("escapes lone surrogates, high and low", () => {
		expect(toJsonLine("\ud800 \udc00 \ud83d\ude00")).toBe('"\\ud800 \\udc00 😀"');
	});
});

describe("isRecord", () => {
	it.each([[null], [[]], ["x"], [1], [undefined]])("is false for %j", (value) => expect(isRecord(value)).toBe(false));
	it("is true for objects", () => expect(isRecord({})).toBe(true));
});
