import { describe, expect, it } from "vitest";
import { longestPause, shortestPause } from "../../../../test/support/host/pauses.ts";
import { createDiffBlocks } from "./diff-blocks.ts";

const lines = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, index) => `${from + index}`);
const block = (old_text: string, new_text: string, old_start: number, new_start: number) => ({
	type: "diff",
	path: "/f",
	old_text,
	new_text,
	old_start,
	new_start,
	is_summary: false,
});

/** A text of a million characters that has nothing to do with those of other seeds. */
function noise(lineCount: number, kinds: number, seed: number): string {
	let state = seed;
	const next = () => {
		state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
		return Math.floor(state / 256) % kinds;
	};
	return Array.from({ length: lineCount }, () => `${"x".repeat(1_000_000 / lineCount - 7)}${next()}`).join("\n");
}

describe("createDiffBlocks", () => {
	it("returns nothing for the same text", async () => {
		expect(await createDiffBlocks("/f", "a\n", "a\n")).toEqual([]);
	});

	it("returns a hunk with three lines of context", async () => {
		const before = lines(1, 20);
		const after = before.map((line) => (line === "10" ? "ten" : line));
		expect(await createDiffBlocks("/f", before.join("\n"), after.join("\n"))).toEqual([
			block(lines(7, 13).join("\n"), ["7", "8", "9", "ten", "11", "12", "13"].join("\n"), 7, 7),
		]);
	});

	it("separates hunks whose contexts do not meet, and counts starts on each side", async () => {
		const before = lines(1, 20);
		const after = ["0", ...before.filter((line) => line !== "15")];
		expect(await createDiffBlocks("/f", before.join("\n"), after.join("\n"))).toEqual([
			block("1\n2\n3", "0\n1\n2\n3", 1, 1),
			block(lines(12, 18).join("\n"), "12\n13\n14\n16\n17\n18", 12, 13),
		]);
		const near = before.map((line) => (line === "5" || line === "12" ? `${line}!` : line));
		expect(await createDiffBlocks("/f", before.join("\n"), near.join("\n"))).toHaveLength(1);
		const apart = before.map((line) => (line === "5" || line === "13" ? `${line}!` : line));
		expect(await createDiffBlocks("/f", before.join("\n"), apart.join("\n"))).toHaveLength(2);
	});

	it("shows new and emptied files", async () => {
		expect(await createDiffBlocks("/f", "", "a\nb\n")).toEqual([block("", "a\nb", 1, 1)]);
		expect(await createDiffBlocks("/f", "a\nb\n", "")).toEqual([block("a\nb", "", 1, 1)]);
	});

	it("shows a change of only the last newline", async () => {
		expect(await createDiffBlocks("/f", "a\nb", "a\nb\n")).toEqual([block("b", "b\n", 2, 2)]);
		expect(await createDiffBlocks("/f", "", "\n")).toEqual([block("", "\n", 1, 1)]);
		expect(await createDiffBlocks("/f", "\n", "")).toEqual([block("\n", "", 1, 1)]);
	});

	it("shows a change of the last newline beside others", async () => {
		expect(await createDiffBlocks("/f", "a\nb", "a\nc\n")).toEqual([block("a\nb", "a\nc\n", 1, 1)]);
		expect(await createDiffBlocks("/f", "a\nb\n", "a\nc")).toEqual([block("a\nb\n", "a\nc", 1, 1)]);
		expect(await createDiffBlocks("/f", "a\nb\nc", "A\nb\nc\n")).toEqual([block("a\nb\nc", "A\nb\nc\n", 1, 1)]);
		const before = lines(1, 20);
		expect(await createDiffBlocks("/f", `${before.join("\n")}\n`, ["0", ...before].join("\n"))).toEqual([
			block("1\n2\n3", "0\n1\n2\n3", 1, 1),
			block("20\n", "20", 20, 21),
		]);
	});

	it("shows no newline where only its file is new or emptied", async () => {
		expect(await createDiffBlocks("/f", "", "a")).toEqual([block("", "a", 1, 1)]);
		expect(await createDiffBlocks("/f", "a", "")).toEqual([block("a", "", 1, 1)]);
	});

	it("summarizes more than 10000 lines", async () => {
		expect(await createDiffBlocks("/f", "x\n".repeat(10_001), "y")).toEqual([
			{ ...block("10001 lines", "1 lines", 1, 1), is_summary: true },
		]);
		expect(await createDiffBlocks("/f", "x\n".repeat(10_000), "y")).toHaveLength(1);
	});

	it("summarizes more than a mebibyte", async () => {
		const [summary, ...others] = await createDiffBlocks("/f", "a".repeat(600_000), "b".repeat(600_000));
		expect(summary).toEqual({ ...block("1 lines", "1 lines", 1, 1), is_summary: true });
		expect(others).toEqual([]);
		expect(await createDiffBlocks("/f", "a".repeat(500_000), "b".repeat(500_000))).toEqual([
			block("a".repeat(500_000), "b".repeat(500_000), 1, 1),
		]);
	});

	it.each([
		["10000 lines of two kinds", noise(10_000, 2, 1), noise(10_000, 2, 7)],
		["10000 lines of their own", noise(10_000, 1e6, 1), noise(10_000, 1e6, 7)],
		["half of 5000 lines", noise(5000, 100, 1), `${noise(2500, 100, 1)}\n${noise(2500, 100, 7)}`],
		["one line", "a".repeat(1_000_000), "b".repeat(1_000_000)],
		["a million lines", "\n".repeat(1_000_000), "a\n".repeat(500_000)],
	])("yields to other work while %s are rewritten", async (_name, before, after) => {
		expect(await shortestPause(() => createDiffBlocks("/f", before, after))).toBeLessThan(longestPause);
	});

	it("has a time limit when everything differs", async () => {
		const one = Array.from({ length: 9000 }, (_, index) => `${(index * 7919) % 9001}`);
		const other = Array.from({ length: 9000 }, (_, index) => `${(index * 104_729) % 9001}`);
		const blocks = await createDiffBlocks("/f", ["same", ...one].join("\n"), ["same", ...other].join("\n"));
		expect(blocks[0]).toMatchObject({ old_start: 1, new_start: 1, is_summary: false });
	});
});
