import { expect, it } from "vitest";
import { diffLines } from "./line-diff.ts";

const shown = (before: string, after: string) => diffLines(before, after).map(({ kind, text }) => `${kind} ${text}`);

it("shows carriage returns of line ends only where they differ", () => {
	expect(shown("a\r\nb\r\n", "a\r\nc\r\n")).toEqual(["same a", "removed b", "added c"]);
	expect(shown("a\n", "a\r\n")).toEqual(["removed a", "added a\r"]);
	expect(shown("a\r\nb\n", "a\r\nc\n")).toEqual(["same a\r", "removed b", "added c"]);
	expect(shown("one", "one\rtwo")).toEqual(["removed one", "added one\rtwo"]);
});
