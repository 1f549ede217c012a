import { describe, expect, it } from "vitest";
import { longestPause, shortestPause } from "../../../test/support/host/pauses.ts";
import { textPart } from "../../api/values/content.ts";
import { toToolReturn } from "./result.ts";

function convert(...content: unknown[]) {
	return toToolReturn({ content }).output;
}

const media = (url: string) => ({ url, id: null });
const note = (losses: string) => textPart(`[The result was cut at 100000 characters: ${losses} left out.]`);

describe("the content of a result", () => {
	it("is limited to a thousand parts, and is read without blocking the event loop", async () => {
		const many = Array.from({ length: 50_000 }, (_, index) => ({ type: "nonsense", index }));
		const parts = convert(...many);
		expect(parts).toHaveLength(1001);
		expect(parts.at(-1)).toEqual(textPart("[The result has 49000 more parts, which were left out.]"));
		expect(await shortestPause(async () => convert(...many))).toBeLessThan(longestPause);
	});

	it.each<[string, unknown, unknown]>([
		["text", { type: "text", text: "hello" }, textPart("hello")],
		["empty text", { type: "text", text: "" }, textPart("")],
		["text that ends in half a character", { type: "text", text: "a\ud83d" }, textPart("a\ufffd")],
		[
			"an image",
			{ type: "image", data: "aGk=", mimeType: "image/png" },
			{ type: "image_url", image_url: media("data:image/png;base64,aGk=") },
		],
		[
			"sound",
			{ type: "audio", data: "aGk=", mimeType: "audio/wav" },
			{ type: "audio_url", audio_url: media("data:audio/wav;base64,aGk=") },
		],
		[
			"an image within a resource",
			{ type: "resource", resource: { uri: "u:1", mimeType: "image/gif", blob: "aGk=" } },
			{ type: "image_url", image_url: media("data:image/gif;base64,aGk=") },
		],
		[
			"a video within a resource",
			{ type: "resource", resource: { uri: "u:1", mimeType: "video/mp4", blob: "aGk=" } },
			{ type: "video_url", video_url: media("data:video/mp4;base64,aGk=") },
		],
		[
			"a link to audio",
			{ type: "resource_link", uri: "https://h/a.mp3", name: "a", mimeType: "audio/mpeg" },
			{ type: "audio_url", audio_url: media("https://h/a.mp3") },
		],
		[
			"a link to something else",
			{ type: "resource_link", uri: "file:///a.txt", name: "a", mimeType: "text/plain" },
			textPart("[Unsupported content: resource link file:///a.txt (text/plain)]"),
		],
		[
			"a link of unknown type",
			{ type: "resource_link", uri: "file:///a", name: "a" },
			textPart("[Unsupported content: resource link file:///a]"),
		],
		[
			"bytes of another type",
			{ type: "resource", resource: { uri: "u:1", mimeType: "application/zip", blob: "aGk=" } },
			textPart("[Unsupported content: resource u:1 (application/zip)]"),
		],
		[
			"text within a resource",
			{ type: "resource", resource: { uri: "u:1", mimeType: "text/plain", text: "hello" } },
			textPart("[Unsupported content: resource u:1 (text/plain), as plain text:]\nhello"),
		],
		["an unknown kind", { type: "hologram", data: 1 }, textPart("[Unsupported content: hologram]")],
		["a part with a missing field", { type: "image" }, textPart("[Unsupported content: image]")],
		["a value that is no object", 7, textPart("[Unsupported content: no content block]")],
	])("is converted: %s", (_, block, part) => {
		expect(convert(block)).toEqual([part]);
	});

	it("is the structured form when there is no other", () => {
		expect(toToolReturn({ structuredContent: { a: 1 } }).output).toEqual([textPart('{"a":1}')]);
		expect(toToolReturn({ content: [{ type: "text", text: "t" }], structuredContent: { a: 1 } }).output).toEqual([
			textPart("t"),
		]);
		expect(toToolReturn({}).output).toEqual([]);
	});
});

describe("the size limit of a result", () => {
	const text = (length: number, letter = "x") => ({ type: "text", text: letter.repeat(length) });
	const image = (length: number) => ({ type: "image", data: "A".repeat(length), mimeType: "image/png" });
	/** Characters of an image's URL other than the data. */
	const head = "data:image/png;base64,".length;

	it("allows a hundred thousand characters", () => {
		expect(convert(text(100_000))).toEqual([textPart("x".repeat(100_000))]);
	});

	it("is shared by all parts, and truncates the text that exceeds it", () => {
		expect(convert(text(60_000), text(50_000, "y"), text(7, "z"))).toEqual([
			textPart("x".repeat(60_000)),
			textPart("y".repeat(40_000)),
			note("10007 characters of text"),
		]);
	});

	it("drops media that exceed it, and continues with parts that do not", () => {
		const parts = convert(image(60_000 - head), image(60_000), image(10), text(5));
		expect(Array.isArray(parts) && parts.map(({ type }) => type)).toEqual(["image_url", "image_url", "text", "text"]);
		expect(parts.at(-1)).toEqual(note("1 media item"));
		expect(convert(image(200_000), image(200_000), text(100_001))).toEqual([
			textPart("x".repeat(100_000)),
			note("1 characters of text and 2 media items"),
		]);
	});

	it("does not split a character", () => {
		expect(convert(text(99_999), { type: "text", text: "😀" })).toEqual([
			textPart("x".repeat(99_999)),
			note("2 characters of text"),
		]);
	});
});

describe("the outcome of a call", () => {
	it("is a success without a message", () => {
		expect(toToolReturn({ content: [{ type: "text", text: "t" }] })).toEqual({
			is_error: false,
			output: [textPart("t")],
			message: "",
			display: [],
			extras: null,
		});
	});

	it("can be an error with its text as the output", () => {
		expect(toToolReturn({ content: [{ type: "text", text: "no" }], isError: true })).toEqual({
			is_error: true,
			output: [textPart("no")],
			message: "The MCP tool reported an error.",
			display: [],
			extras: null,
		});
		expect(toToolReturn({ content: [], isError: "yes" }).is_error).toBe(false);
	});
});
