import { describe, expect, it } from "vitest";
import { toJsonBody } from "./json-body.ts";

describe("the JSON of a body", () => {
	it.each([
		["the first half of a pair", "a\ud83d b", "a\ufffd b"],
		["the second half", "a\ude00 b", "a\ufffd b"],
		["halves in the wrong order", "\ude00\ud83d", "\ufffd\ufffd"],
	])("has U+FFFD for %s, in values and keys", (_name, text, mended) => {
		expect(JSON.parse(toJsonBody({ [text]: [{ text }] }))).toEqual({ [mended]: [{ text: mended }] });
	});

	it("is otherwise what it was: pairs, quoted escapes and other escapes", () => {
		const body = { pair: "\u{1f600}", quoted: "\\ud83d", twice: "\\\\ud83d", others: '"\\\u0007\n\u2028' };
		expect(toJsonBody(body)).toBe(JSON.stringify(body));
		expect(JSON.parse(toJsonBody({ ...body, half: "\\\ud83d" }))).toEqual({ ...body, half: "\\\ufffd" });
	});
});
