import { describe, expect, it } from "vitest";
import { longestPause, shortestPause } from "../../../test/support/host/pauses.ts";
import { canonicalJson, decodeArguments } from "./call-arguments.ts";

const value = (text: string | null) => {
	const decoded = decodeArguments(text);
	return decoded.ok ? decoded.value : "undecodable";
};

describe("decodeArguments", () => {
	it.each([[null], [""], ["  \n"]])("treats %j as no arguments", (text) => expect(value(text)).toEqual({}));

	it("accepts raw control characters inside strings", () => {
		expect(value('{"a":"one\ntwo\tthree\r\u0000\u001f"}')).toEqual({ a: "one\ntwo\tthree\r\u0000\u001f" });
		expect(value('{\n\t"a\nb": "\\"\n\\\\"\r\n}')).toEqual({ "a\nb": '"\n\\' });
	});

	it("preserves all other characters, including those beyond the basic plane", () => {
		expect(value('{"a":"ü€😀\u2028\n"}')).toEqual({ a: "ü€😀\u2028\n" });
		expect(value('{"a":"\\ud83d\\ude00"}')).toEqual({ a: "😀" });
	});

	it.each(['{"a":["x\\ud83d"]}', '{"a":["x\\uDE00"]}', '{"a":["x\ud83d"]}'])(
		"replaces half a surrogate pair in %j",
		(text) => expect(value(text)).toEqual({ a: ["x\ufffd"] }),
	);

	it("returns values other than objects and leaves them to the schema", () => {
		expect([value("[1]"), value("null"), value('"x"')]).toEqual([[1], null, "x"]);
	});

	it("refuses arguments that nest too deep to be serialized again, and none with as many brackets in a text", () => {
		const deep = `${"[".repeat(1001)}${"]".repeat(1001)}`;
		expect(decodeArguments(deep)).toEqual({ ok: false, reason: "They nest more than 1000 levels deep." });
		expect(value(deep.slice(1, -1))).toHaveLength(1);
		expect(value(JSON.stringify({ a: deep }))).toEqual({ a: deep });
	});

	it.each([["{"], ["{a:1}"], ["{'a':1}"], ['{"a":1,}'], ['{"a":1}{"b":2}'], ['{"a":"\n'], ["\u0000"]])(
		"reports why %j is not JSON",
		(text) => expect(decodeArguments(text)).toEqual({ ok: false, reason: expect.stringMatching(/./) }),
	);
});

it.each([
	["line ends", `{"a":"${"\n".repeat(1_000_000)}"}`],
	["line ends in invalid JSON", `{"a":"${"\n".repeat(1_000_000)}`],
	["quotes", `{"a":${'"\n"'.repeat(150_000)}}`],
])("parses a text of %s in bounded time", async (_name, text) => {
	expect(await shortestPause(async () => decodeArguments(text))).toBeLessThan(longestPause);
});

describe("canonicalJson", () => {
	it("sorts keys at every depth and preserves lists and values", () => {
		expect(canonicalJson({ b: [{ d: 1, c: "2" }], a: { z: null, y: true } })).toBe(
			'{"a":{"y":true,"z":null},"b":[{"c":"2","d":1}]}',
		);
		expect(canonicalJson(JSON.parse('{"__proto__":1,"a":2}'))).toBe('{"__proto__":1,"a":2}');
	});

	it("distinguishes numbers from strings and the order of list items", () => {
		expect(canonicalJson({ a: 1 })).not.toBe(canonicalJson({ a: "1" }));
		expect(canonicalJson([1, 2])).not.toBe(canonicalJson([2, 1]));
	});
});
