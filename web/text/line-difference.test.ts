import { expect, it } from "vitest";
import { countLines, differenceLines } from "./line-difference.ts";

it("numbers the lines that stay, go and come, from where the texts begin in their files", () => {
	const lines = differenceLines("a\nb\nc\n", "a\nB\nc\n", 10, 20);
	expect(lines).toEqual([
		{ kind: "same", text: "a", oldNumber: 10, newNumber: 20 },
		{ kind: "removed", text: "b", oldNumber: 11, newNumber: null },
		{ kind: "added", text: "B", oldNumber: null, newNumber: 21 },
		{ kind: "same", text: "c", oldNumber: 12, newNumber: 22 },
	]);
	expect(countLines("a\nb\n", "a\n")).toEqual({ added: 0, removed: 1 });
});

it("shortens what stays to three lines around a change", () => {
	const before = Array.from({ length: 40 }, (_, index) => `line ${index}`);
	const after = before.with(0, "first").with(39, "last");
	const kinds = differenceLines(before.join("\n"), after.join("\n")).map(({ kind }) => kind);
	expect(kinds).toEqual([
		"removed",
		"added",
		"same",
		"same",
		"same",
		"gap",
		"same",
		"same",
		"same",
		"removed",
		"added",
	]);
});

it("takes a new file and a deleted one as wholly added and removed", () => {
	expect(countLines("", "a\nb")).toEqual({ added: 2, removed: 0 });
	expect(differenceLines("a", "").map(({ kind }) => kind)).toEqual(["removed"]);
});
