import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { toJsonLine } from "../json.ts";
import { joinLines, toLineText, wholeText } from "./long-text.ts";

const piece = 64 * 1024;
const long = "😀".repeat(600_000);

describe("toLineText", () => {
	it("returns short values as one text", () => {
		expect(toLineText({ text: "x", list: [1, null] })).toBe('{"text":"x","list":[1,null]}');
	});

	it("splits long values into pieces that join to the same line", () => {
		const strange = fc.constantFrom("😀", '"', "\\", "\n", "\u2028", "\ud83d", "\ude00", "é", "a");
		const text = fc
			.tuple(fc.nat(3), fc.array(strange, { maxLength: 5 }), fc.integer({ min: -4, max: 4 }))
			.map(
				([pieces, middle, shift]) => "a".repeat(Math.max(0, pieces * piece + shift)) + middle.join("") + "b".repeat(9),
			);
		const value = fc.letrec((tie) => ({
			value: fc.oneof(
				{ maxDepth: 3 },
				text,
				fc.constantFrom(null, true, 1.5, undefined, "a\u2029", {}, []),
				fc.array(tie("value"), { maxLength: 3 }),
				fc.dictionary(fc.constantFrom("a", 'b"', "\u2028", "1"), tie("value"), { maxKeys: 3 }),
			),
		})).value;
		fc.assert(
			fc.property(value, (inner) => {
				const whole = { inner, list: [inner], long };
				const line = toLineText(whole);
				expect(typeof line).not.toBe("string");
				expect(wholeText(line) === toJsonLine(whole)).toBe(true);
				expect(wholeText(line) === toJsonLine(whole)).toBe(true);
			}),
			{ numRuns: 20 },
		);
	});

	it("limits the length of every piece", () => {
		const line = toLineText({ long, parts: Array.from({ length: 1000 }, () => ({ text: "x".repeat(5000) })) });
		expect(Math.max(...Array.from(line, ({ length }) => length))).toBeLessThan(piece + 100);
	});
});

describe("joinLines", () => {
	it("adds a newline to every text", () => {
		expect(joinLines(["a", "b"], "\n")).toBe("a\nb\n");
		expect(wholeText(joinLines(["a", toLineText(long), "b"], "\n")) === `a\n${toJsonLine(long)}\nb\n`).toBe(true);
	});
});
