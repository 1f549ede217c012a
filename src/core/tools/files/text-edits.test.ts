import { describe, expect, it } from "vitest";
import { longestPause, shortestPause } from "../../../../test/support/host/pauses.ts";
import { applyEdits, type TextEdit } from "./text-edits.ts";

const replaceAll = (old: string, text: string): TextEdit => ({ old, new: text, replace_all: true });

function textOf(result: Awaited<ReturnType<typeof applyEdits>>): string {
	if (!result.ok) throw new Error(result.message);
	return result.text;
}

function messageOf(result: Awaited<ReturnType<typeof applyEdits>>): string {
	return result.ok ? "" : result.message;
}

describe("applyEdits", () => {
	it("replaces like String does, across the borders of its pieces", async () => {
		const text = "abcabcab".repeat(100_000);
		for (const [old, replacement] of [
			["abc", "$&$1"],
			["a", ""],
			["cab", "cabcab"],
			[text.slice(5, 1000), "-"],
		] as const) {
			const edited = textOf(await applyEdits(text, [replaceAll(old, replacement)], "lf"));
			expect(edited === text.split(old).join(replacement)).toBe(true);
		}
	});

	it("refuses a text that doubles with every edit, before it is created", async () => {
		const edits = Array.from({ length: 40 }, () => replaceAll("a", "aa"));
		expect(messageOf(await applyEdits("a", edits, "lf"))).toBe(
			"Edit 23 would make the text 8388608 characters long, which is 8388607 more than it has; one call may add 4194304. Nothing was changed: use several calls, or WriteFile.",
		);
	});

	it("refuses at once to replace one character by a whole file repeatedly", async () => {
		const edits = [replaceAll("a", "a".repeat(500_000)), replaceAll("a", "b".repeat(500_000))];
		expect(messageOf(await applyEdits("a", edits, "lf"))).toMatch(
			/^Edit 2 would make the text 250000000000 characters/,
		);
	});

	it("refuses more edits than a call may search for", async () => {
		const text = "b".repeat(1_000_000);
		const edits = Array.from({ length: 30_000 }, (_, index) => replaceAll(`a${index}`, ""));
		expect(messageOf(await applyEdits(text, edits, "lf"))).toBe(
			"30000 edits of a text of 1000000 characters are too many for one call; 2147 can be made. Nothing was changed: use several calls.",
		);
	});

	it.each([
		["every character of a text", "a".repeat(1_000_000), [replaceAll("a", "bb"), replaceAll("bb", "cc")]],
		["a text that grows from one character", "a", Array.from({ length: 22 }, () => replaceAll("a", "aa"))],
		[
			"a search text with many near matches",
			"a".repeat(1_000_000),
			[replaceAll(`${"a".repeat(50_000)}b${"a".repeat(50_000)}`, ""), replaceAll("a".repeat(250), "b")],
		],
		[
			"a thousand edits of one character in a long text",
			`${"b".repeat(1_000_000)}a`,
			Array.from({ length: 1000 }, (_, index) => (index % 2 === 0 ? replaceAll("a", "c") : replaceAll("c", "a"))),
		],
	])("yields to other work in the edit of %s", async (_name, text, edits) => {
		expect(await shortestPause(() => applyEdits(text, edits, "lf"))).toBeLessThan(longestPause);
	});
});
