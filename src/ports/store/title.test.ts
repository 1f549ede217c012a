import { describe, expect, it } from "vitest";
import { longestPause, shortestPause } from "../../../test/support/host/pauses.ts";
import { toTitle } from "./title.ts";

describe("toTitle", () => {
	it.each([
		["Say hello", "Say hello"],
		["  Again,\n\t please ", "Again, please"],
		["", null],
		[" \n ", null],
		["x".repeat(50), "x".repeat(50)],
		["x".repeat(51), `${"x".repeat(49)}…`],
		["Replace alpha by beta in notes.txt and count its lines", "Replace alpha by beta in notes.txt and count its…"],
		[`${"a".repeat(49)} b`, `${"a".repeat(49)}…`],
		["😀".repeat(50), "😀".repeat(50)],
		["😀".repeat(51), `${"😀".repeat(49)}…`],
	])("shortens %j", (input, title) => {
		expect(toTitle(input)).toBe(title);
	});

	it.each([
		["one word", "x".repeat(8_000_000), `${"x".repeat(49)}…`],
		["many words", "x ".repeat(4_000_000), `${"x ".repeat(24)}x…`],
		["blank lines", `a${"\n".repeat(8_000_000)}b`, "a b"],
	])("reads only the beginning of %s", async (_name, input, title) => {
		expect(toTitle(input)).toBe(title);
		expect(await shortestPause(async () => toTitle(input))).toBeLessThan(longestPause);
	});

	it("joins the texts of a list with a space", () => {
		expect(
			toTitle([
				{ type: "text", text: "What is" },
				{ type: "image_url", image_url: { url: "https://example.org/i.png", id: null } },
				{ type: "text", text: "this?" },
			]),
		).toBe("What is this?");
	});
});
