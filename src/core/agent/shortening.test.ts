import { describe, expect, it } from "vitest";
import { image, text, toolResult, user } from "../../../test/support/models/model-conversation.ts";
import { joinTexts } from "../../api/values/content.ts";
import { resultSizeOf, shortenedParts, textSizeOf, withShortenedResults } from "./shortening.ts";

const media = image("data:image/png;base64,AA");

describe("shortened texts", () => {
	it("stay as they are where there is room", () => {
		const parts = [text("a".repeat(10)), media, text("b".repeat(20))];
		expect(shortenedParts(parts, 30)).toEqual(parts);
	});

	it("are the longest ones, which become equally long, each cut in its middle", () => {
		const parts = [text("a".repeat(10)), media, text(`b${"x".repeat(100)}e`), text(`b${"y".repeat(200)}e`)];
		const [first, same, second, third] = shortenedParts(parts, 70);
		expect([first, same]).toEqual([parts[0], media]);
		expect(second).toEqual(
			text(`b${"x".repeat(19)}\n[72 characters left out: there is no room for them]\n${"x".repeat(9)}e`),
		);
		expect(third).toEqual(
			text(`b${"y".repeat(19)}\n[172 characters left out: there is no room for them]\n${"y".repeat(9)}e`),
		);
	});

	it("have whole characters at the cut", () => {
		const [cut] = shortenedParts([text("\u{1f600}".repeat(100))], 9);
		expect(joinTexts([cut ?? text("")], "")).not.toMatch(/\p{Surrogate}/u);
	});

	it("are the results of tools alone, in messages", () => {
		const messages = [user(text("u".repeat(100))), toolResult("c1", text("r".repeat(100)), media)];
		const shortened = withShortenedResults(messages, 30);
		expect(shortened[0]).toBe(messages[0]);
		expect(shortened[1]?.content[1]).toBe(media);
		expect(resultSizeOf(messages)).toBe(100);
		expect(textSizeOf(shortened[1]?.content ?? [])).toBeLessThan(100);
	});
});
