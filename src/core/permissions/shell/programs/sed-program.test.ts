// The command and the flag of sed that run what they are given.
import { describe, expect, it } from "vitest";
import { runsInSed } from "./sed-program.ts";

describe("a word of sed", () => {
	it.each([
		"e",
		"e rm x",
		"1e rm x",
		"1erm x",
		"$e date",
		"1!e ls",
		"s/a/rm x/e",
		"s|a|rm x|ge",
		"s/a/b/2e;p",
		"/a/e ls",
		"/a/{e rm x\n}",
		"1,2 e ls",
	])("%j runs something", (text) => expect(runsInSed(text)).toBe(true));

	it.each(["s/a/else/", "1,5p", "-ne", "-e", "/where/d", "s/every/each/g", "y/abc/def/", "file.txt", ""])(
		"%j does not",
		(text) => expect(runsInSed(text)).toBe(false),
	);

	it("is read in a time that grows with its length, whatever it is", () => {
		for (const piece of ["1", "g", " ", "/", "; / ", "1 ", "e", "/e", "e/", " e "]) {
			const text = piece.repeat(500_000 / piece.length);
			expect(typeof runsInSed(`s/x/${text}x`)).toBe("boolean");
		}
	});
});
