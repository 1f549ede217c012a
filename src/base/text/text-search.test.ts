import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { longestPause, shortestPause } from "../../../test/support/host/pauses.ts";
import { createTextSearch } from "./text-search.ts";

describe("createTextSearch", () => {
	it("finds what indexOf finds, however long the search text is", () => {
		const text = fc.array(fc.constantFrom("a", "b", "ab"), { maxLength: 40 }).map((parts) => parts.join(""));
		fc.assert(
			fc.property(text, text, fc.nat(20), fc.nat(600), (before, core, from, repeats) => {
				const piece = core.repeat(repeats);
				const whole = before + piece + before;
				expect(createTextSearch(piece)(whole, from)).toBe(whole.indexOf(piece, from));
			}),
		);
	});

	it("finds nothing that is absent", () => {
		const piece = `${"a".repeat(400)}b`;
		expect(createTextSearch(piece)("a".repeat(1000), 0)).toBe(-1);
		expect(createTextSearch(piece)(`${"a".repeat(1000)}b`, 601)).toBe(-1);
		expect(createTextSearch(piece)(`${"a".repeat(1000)}b`, 600)).toBe(600);
	});

	it("takes linear time for a search text with many near matches", async () => {
		const half = "a".repeat(50_000);
		const search = createTextSearch(`${half}b${half}`);
		const text = "a".repeat(1_000_000);
		expect(await shortestPause(async () => search(text, 0))).toBeLessThan(longestPause);
	});
});
