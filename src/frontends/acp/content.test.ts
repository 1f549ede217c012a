import * as v from "valibot";
import { describe, expect, it } from "vitest";
import { contentBlockSchema, toBlock, toInput } from "./content.ts";

/** What a client sent, as it is read. */
const read = (...blocks: readonly object[]) => toInput(v.parse(v.array(contentBlockSchema), blocks));

describe("the blocks of a prompt", () => {
	it("are plain text when there is one text", () => {
		expect(read({ type: "text", text: "hi" })).toBe("hi");
		expect(read({ type: "text", text: "a" }, { type: "text", text: "b" })).toEqual([
			{ type: "text", text: "a" },
			{ type: "text", text: "b" },
		]);
	});

	it("have media as data", () => {
		expect(read({ type: "image", data: "AAAA", mimeType: "image/png", uri: "file:///a.png" })).toEqual([
			{ type: "image_url", image_url: { url: "data:image/png;base64,AAAA", id: null } },
		]);
		expect(read({ type: "audio", data: "AAAA", mimeType: "audio/wav" })).toEqual([
			{ type: "audio_url", audio_url: { url: "data:audio/wav;base64,AAAA", id: null } },
		]);
	});

	it.each([
		["file:///work/a%20b.ts", "[n](/work/a b.ts)"],
		["file:///work/a.ts#L10:20", "[n](/work/a.ts#L10:20)"],
		["file:///work/%E0%A4%A", "[n](file:///work/%E0%A4%A)"],
		["https://example.com/a", "[n](https://example.com/a)"],
		["zed:///agent/thread/1", "[n](zed:///agent/thread/1)"],
	])("name what a link to %s leads to", (uri, text) => {
		expect(read({ type: "resource_link", uri, name: "n" })).toEqual([{ type: "text", text }]);
	});

	it("say what a link is about", () => {
		expect(read({ type: "resource_link", uri: "file:///a", name: "n", description: "the start" })).toEqual([
			{ type: "text", text: "[n](/a) (the start)" },
		]);
	});

	it("have embedded resources with their addresses", () => {
		expect(read({ type: "resource", resource: { uri: 'file:///a"<&', text: "one\ntwo" } })).toEqual([
			{ type: "text", text: '<resource uri="file:///a&quot;&lt;&amp;">\none\ntwo\n</resource>' },
		]);
		expect(read({ type: "resource", resource: { uri: "u", blob: "AAAA", mimeType: "image/png" } })).toEqual([
			{ type: "image_url", image_url: { url: "data:image/png;base64,AAAA", id: null } },
		]);
		expect(read({ type: "resource", resource: { uri: "u", blob: "AAAA", mimeType: "audio/wav" } })).toEqual([
			{ type: "audio_url", audio_url: { url: "data:audio/wav;base64,AAAA", id: null } },
		]);
	});

	it.each([
		["application/pdf", "application/pdf"],
		[null, "unknown"],
	])("are refused by address and type where no model can be shown them: %s", (mimeType, named) => {
		expect(() => read({ type: "resource", resource: { uri: "file:///a.pdf", blob: "AAAA", mimeType } })).toThrow(
			`The resource file:///a.pdf is of the type ${named}: only text, images and audio can be part of a prompt.`,
		);
	});
});

describe("a part of a message", () => {
	it("is sent as text, as data, or as a link where it is elsewhere", () => {
		const image = (url: string) => toBlock({ type: "image_url", image_url: { url, id: null } });
		expect(toBlock({ type: "text", text: "a" })).toEqual({ type: "text", text: "a" });
		expect(toBlock({ type: "think", think: "b", encrypted: null })).toEqual({ type: "text", text: "b" });
		expect(image("data:image/png;base64,AAAA")).toEqual({ type: "image", mimeType: "image/png", data: "AAAA" });
		expect(image("https://example.com/a.png")).toEqual({
			type: "resource_link",
			uri: "https://example.com/a.png",
			name: "image",
		});
	});

	it("is no link of megabytes", () => {
		const url = "data:video/mp4;base64,AAAA";
		expect(toBlock({ type: "video_url", video_url: { url, id: null } })).toEqual({ type: "text", text: "[video]" });
	});
});
