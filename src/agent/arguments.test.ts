import { describe, expect, it } from "vitest";
import { longestPause, shortestPause } from "../../test/support/pauses.ts";
import { canonicalJson, decodeArguments } from "./arguments.ts";

const value = (text: string | null) => {
	const decoded = decodeArguments(text);
	return decoded.ok ? decoded.value : "undecodable";
};

describe("decodeArguments", () => {
	it.each([[null], [""], ["  \n"]])("takes %j for no arguments", (text) => expect(value(text)).toEqual({}));

	it("takes control characters inside strings as meant", () => {
		expect(value('{"a":"one\ntwo\tthree\r\u0000\u001f"}')).toEqual({ a: "one\ntwo\tthree\r\u0000\u001f" });
		expect(value('{\n\t"a\nb": "\\"\n\\\\"\r\n}')).toEqual({ "a\nb": '"\n\\' });
	});

	it("keeps all other characters, those beyond the first plane too", () => {
		expect(value('{"a":"ü€😀\u2028\n"}')).toEqual({ a: "ü€😀\u2028\n" });
		expect(value('{"a":"\\ud83d\\ude00"}')).toEqual({ a: "😀" });
	});

	it("passes on what is no object: the schema decides", () => {
		expect([value("[1]"), value("null"), value('"x"')]).toEqual([[1], null, "x"]);
	});

	it.each([["{"], ["{a:1}"], ["{'a':1}"], ['{"a":1,}'], ['{"a":1}{"b":2}'], ['{"a":"\n'], ["\u0000"]])(
		"gives the reason why %j is no JSON",
		(text) => expect(decodeArguments(text)).toEqual({ ok: false, reason: expect.stringMatching(/./) }),
	);
});

it.each([
	["line ends", `{"a":"${"\n".repeat(1_000_000)}"}`],
	["line ends in what is no JSON", `{"a":"${"\n".repeat(1_000_000)}`],
	["quotes", `{"a":${'"\n"'.repeat(150_000)}}`],
])("keeps nobody waiting for a text of %s", async (_name, text) => {
	expect(await shortestPause(async () => decodeArguments(text))).toBeLessThan(longestPause);
});

describe("canonicalJson", () => {
	it("sorts keys at every depth, keeps lists and values", () => {
		expect(canonicalJson({ b: [{ d: 1, c: "2" }], a: { z: null, y: true } })).toBe(
			'{"a":{"y":true,"z":null},"b":[{"c":"2","d":1}]}',
		);
		expect(canonicalJson(JSON.parse('{"__proto__":1,"a":2}'))).toBe('{"__proto__":1,"a":2}');
	});

	it("tells numbers from texts and orders of a list apart", () => {
		expect(canonicalJson({ a: 1 })).not.toBe(canonicalJson({ a: "1" }));
		expect(canonicalJson([1, 2])).not.toBe(canonicalJson([2, 1]));
	});
});
