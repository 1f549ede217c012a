import { describe, expect, it } from "vitest";
import { fileLimit, filesSize, textFileSize, withFiles } from "./prompt-files.ts";

const base64 = (content: string | Buffer) => Buffer.from(content).toString("base64");
const png = base64(Buffer.from("\x89PNG\r\n\x1a\nrest", "latin1"));

describe("withFiles", () => {
	it("leaves an input without files as it is", () => {
		expect(withFiles("hello")).toBe("hello");
		expect(withFiles("hello", [])).toBe("hello");
	});

	it("shows the model images and texts behind the input", () => {
		const files = [
			{ name: "a.png", type: "image/png", data: png },
			{ name: 'b "<c>.ts', type: "text/x-typescript; charset=utf-8", data: base64("let ü = 1;") },
			{ name: "d.svg", type: "image/svg+xml", data: base64("<svg/>") },
			{ name: "e.mp3", type: "Audio/MPEG", data: base64("sound") },
		];
		expect(withFiles("look", files)).toEqual([
			{ type: "text", text: "look" },
			{ type: "image_url", image_url: { url: `data:image/png;base64,${png}`, id: null } },
			{ type: "text", text: '<file name="b &quot;&lt;c>.ts">\nlet ü = 1;\n</file>' },
			{ type: "text", text: '<file name="d.svg">\n<svg/>\n</file>' },
			{ type: "audio_url", audio_url: { url: `data:audio/mpeg;base64,${base64("sound")}`, id: null } },
		]);
		expect(withFiles([{ type: "text", text: "look" }], files)).toHaveLength(5);
	});

	it.each<[string, { name?: string; type?: string; data: string }, string]>([
		["bytes that are no text", { data: base64(Buffer.from([0xff, 0xfe])) }, "only text in UTF-8, image/png"],
		["text with a null", { data: base64("a\0b") }, "only text in UTF-8"],
		["an image that is none", { type: "image/png", data: base64("<script>") }, "is not a valid image/png file"],
		["what is no base64", { data: "%%%%" }, "is not base64"],
		["base64 with breaks", { data: "YWJj\nYWJj" }, "is not base64"],
		["a long text", { data: base64("x".repeat(textFileSize + 1)) }, "at most 1 MiB"],
		["a large image", { type: "video/mp4", data: base64(Buffer.alloc(filesSize + 1)) }, "at most 20 MiB together"],
	])("refuses %s, and says which file it is", (_name, file, text) => {
		const all = [{ name: "a.bin", type: "", ...file }];
		expect(() => withFiles("x", all)).toThrow(expect.objectContaining({ code: "invalid-input" }));
		expect(() => withFiles("x", all)).toThrow(text);
	});

	it("refuses too many", () => {
		const files = Array.from({ length: fileLimit + 1 }, () => ({ name: "a", type: "", data: "" }));
		expect(() => withFiles("x", files)).toThrow(`at most ${fileLimit} files, found ${fileLimit + 1}`);
	});
});
