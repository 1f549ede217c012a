import { describe, expect, it } from "vitest";
import { cut } from "./sentence.ts";
import { beginning } from "./well-formed.ts";

describe("the beginning of a text", () => {
	it.each([
		["", 3, ""],
		["abc", 3, "abc"],
		["abcd", 3, "abc"],
		["ab😀", 3, "ab"],
		["ab😀", 4, "ab😀"],
		["😀", 1, ""],
		["abc", 0, ""],
	])("of %j with %i units at most has whole characters alone", (text, length, expected) => {
		expect(beginning(text, length)).toBe(expected);
	});

	it("is all that remains of a text that is cut, with a mark", () => {
		expect(cut("abc", 3)).toBe("abc");
		expect(cut("ab😀", 3)).toBe("ab…");
	});
});
