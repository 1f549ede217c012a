import { describe, expect, it } from "vitest";
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

describe("createDiffBlocks", () => {
	it("gives nothing for the same text", async () => {
		expect(await createDiffBlocks("/f", "a\n", "a\n")).toEqual([]);
	});

	it("gives a hunk with three lines of context", async () => {
		const before = lines(1, 20);
		const after = before.map((line) => (line === "10" ? "ten" : line));
		expect(await createDiffBlocks("/f", before.join("\n"), after.join("\n"))).toEqual([
			block(lines(7, 13).join("\n"), ["7", "8", "9", "ten", "11", "12", "13"].join("\n"), 7, 7),
		]);
	});

	it("parts hunks whose contexts do not meet, and counts starts on each side", async () => {
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

	it("shows a change of the last newline alone", async () => {
		expect(await createDiffBlocks("/f", "a\nb", "a\nb\n")).toEqual([block("b", "b\n", 2, 2)]);
		expect(await createDiffBlocks("/f", "", "\n")).toEqual([block("", "", 1, 1)]);
	});

	it("summarises more than 10000 lines", async () => {
		expect(await createDiffBlocks("/f", "x\n".repeat(10_001), "y")).toEqual([
			{ ...block("10001 lines", "1 lines", 1, 1), is_summary: true },
		]);
		expect(await createDiffBlocks("/f", "x\n".repeat(10_000), "y")).toHaveLength(1);
	});

	it("ends in time when everything differs", async () => {
		const one = Array.from({ length: 9000 }, (_, index) => `${(index * 7919) % 9001}`);
		const other = Array.from({ length: 9000 }, (_, index) => `${(index * 104_729) % 9001}`);
		const blocks = await createDiffBlocks("/f", ["same", ...one].join("\n"), ["same", ...other].join("\n"));
		expect(blocks[0]).toMatchObject({ old_start: 1, new_start: 1, is_summary: false });
	});
});
