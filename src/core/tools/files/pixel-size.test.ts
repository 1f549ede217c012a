import { describe, expect, it } from "vitest";
import { readPixelSize } from "./pixel-size.ts";

const bytesOf = (text: string) => Buffer.from(text, "latin1");
const segment = `\xff\xe1\xff\xfe${"\0".repeat(0xfffc)}`;
const frame = "\xff\xc0\x00\x0b\x08\x00\x03\x00\x02\x01\x01\x11\x00";

describe("the size of an image", () => {
	it.each([
		["PNG", `\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\x01\0\0\0\0\x80`, { width: 256, height: 128 }],
		["GIF", "GIF87a\x05\0\x07\0", { width: 5, height: 7 }],
		["JPEG", `\xff\xd8\xff\xe0\x00\x04ab${frame}`, { width: 2, height: 3 }],
		["JPEG behind a preview", `\xff\xd8${segment}${frame}`, { width: 2, height: 3 }],
		["BMP", `BM${"\0".repeat(16)}\x09\0\0\0\xfe\xff\xff\xff`, { width: 9, height: 2 }],
		[
			"TIFF",
			`II*\0\x08\0\0\0\x02\0\0\x01\x03\0\x01\0\0\0\x06\0\0\0\x01\x01\x03\0\x01\0\0\0\x04\0\0\0`,
			{ width: 6, height: 4 },
		],
	])("is found in %s", async (_name, content, size) => {
		expect(await readPixelSize(bytesOf(content))).toEqual(size);
	});

	it.each([
		["nothing", ""],
		["text", "hello"],
		["a truncated PNG", "\x89PNG\r\n\x1a\n"],
		["a PNG without an area", `\x89PNG\r\n\x1a\n\0\0\0\rIHDR${"\0".repeat(20)}`],
		["a JPEG without a frame", `\xff\xd8\xff\xe0${"\0".repeat(1_000_000)}`],
		["an SVG", '<svg width="1" height="1"></svg>'],
		// Each of these has an empty box that is followed by itself.
		["icons", `icns\0\0\x01\0ic07${"\0".repeat(300)}`],
		["JPEG XL", `\0\0\0\x0cJXL \r\n\x87\n\0\0\0\x14ftypjxl \0\0\0\0jxl \0\0\0\0jxlp${"\0".repeat(300)}`],
		[
			"HEIF",
			`\0\0\0\x10ftypheic\0\0\0\0\0\0\x01\0meta\0\0\0\0\0\0\0\xe0iprp\0\0\0\xd0ipco\0\0\0\0ispe${"\0".repeat(300)}`,
		],
	])("is absent for %s, in bounded time", async (_name, content) => {
		expect(await readPixelSize(bytesOf(content))).toBeNull();
	});
});
