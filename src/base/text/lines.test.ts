import { describe, expect, it } from "vitest";
import { createInputSplitter, createLineSplitter, type Line } from "./lines.ts";

function split(chunks: readonly (string | Buffer)[], limit = 1000): Line[] {
	const splitter = createLineSplitter(limit);
	return [
		...chunks.flatMap((chunk) => splitter.push(typeof chunk === "string" ? Buffer.from(chunk) : chunk)),
		...splitter.end(),
	];
}
const texts = (lines: readonly Line[]) => lines.map((line) => (line.kind === "line" ? line.text : line.kind));

describe("createLineSplitter", () => {
	it("splits at LF wherever the chunks end", () => {
		const text = 'one\n\ntwo\r\nthree "\u2028\u2029\u0085"\nfour';
		const expected = ["one", "", "two\r", 'three "\u2028\u2029\u0085"', "four"];
		const bytes = Buffer.from(text);
		for (let size = 1; size <= bytes.length; size += 1) {
			const chunks: Buffer[] = [];
			for (let start = 0; start < bytes.length; start += size) chunks.push(bytes.subarray(start, start + size));
			expect(texts(split(chunks))).toEqual(expected);
		}
	});

	it("splits the lines of a chunk alike, whether they fit the limit together or not", () => {
		const lines = ["one", "", "", "\u20ac", "\u{1f600} two", "", "three"];
		const chunk = `${lines.join("\n")}\n`;
		for (const limit of [10, 1000])
			expect(texts(split(["begun ", chunk, "last"], limit))).toEqual(["begun one", ...lines.slice(1), "last"]);
	});

	it("preserves a lone CR and NUL bytes inside a line", () => {
		expect(texts(split(["a\rb\u0000c\n"]))).toEqual(["a\rb\u0000c"]);
	});

	it("counts a last line without newline, and no line after the last newline", () => {
		expect(texts(split(["a\nb"]))).toEqual(["a", "b"]);
		expect(texts(split(["a\n"]))).toEqual(["a"]);
		expect(texts(split([]))).toEqual([]);
		expect(texts(split(["\n"]))).toEqual([""]);
	});

	it("joins a character whose bytes are in different chunks", () => {
		const euro = Buffer.from("€");
		expect(texts(split([euro.subarray(0, 1), euro.subarray(1, 2), euro.subarray(2), "\n"]))).toEqual(["€"]);
	});

	it("replaces invalid UTF-8, also across chunks", () => {
		expect(texts(split([Buffer.from([0x61, 0xff, 0x0a])]))).toEqual(["a\ufffd"]);
		expect(texts(split([Buffer.from([0xe2, 0x82]), Buffer.from([0x41, 0x0a])]))).toEqual(["\ufffdA"]);
		expect(texts(split([Buffer.from([0xe2, 0x82, 0x0a, 0x62])]))).toEqual(["\ufffd", "b"]);
	});

	it("preserves a byte order mark", () => {
		expect(texts(split([Buffer.from([0xef, 0xbb, 0xbf, 0x7b, 0x7d, 0x0a])]))).toEqual(["\ufeff{}"]);
	});

	it("accepts a line of exactly the limit", () => {
		expect(texts(split(["12345\n"], 5))).toEqual(["12345"]);
		expect(texts(split(["123", "45", "\n"], 5))).toEqual(["12345"]);
		expect(texts(split(["12345"], 5))).toEqual(["12345"]);
	});

	it.each([
		["in one chunk", ["123456\nnext\n"]],
		["over chunks", ["1234", "56", "789", "0123456789\nnext\n"]],
		["ending at a chunk", ["123456", "\n", "next\n"]],
	])("reports a line over the limit once and skips to its newline, %s", (_name, chunks) => {
		expect(texts(split(chunks, 5))).toEqual(["oversized", "next"]);
	});

	it("reports an oversized line without a newline once", () => {
		expect(texts(split(["123456789"], 5))).toEqual(["oversized"]);
		expect(texts(split(["123456", "789\n1234567\nok"], 5))).toEqual(["oversized", "oversized", "ok"]);
	});

	it("measures the limit in bytes", () => {
		expect(texts(split(["€€\n"], 6))).toEqual(["€€"]);
		expect(texts(split(["€€\n"], 5))).toEqual(["oversized"]);
	});
});

describe("the input of the program", () => {
	const mark = Buffer.from([0xef, 0xbb, 0xbf]);
	const read = (...chunks: readonly Buffer[]) => {
		const splitter = createInputSplitter(100);
		return texts([...chunks.flatMap((chunk) => splitter.push(chunk)), ...splitter.end()]);
	};

	it("may begin with a byte order mark, also in pieces, but no later line may", () => {
		const lines = Buffer.from("\ufeff{}\n\ufeff[]\n");
		expect(read(lines)).toEqual(["{}", "\ufeff[]"]);
		expect(read(lines.subarray(0, 1), lines.subarray(1, 2), lines.subarray(2))).toEqual(["{}", "\ufeff[]"]);
		expect(read(mark, Buffer.from("{}"))).toEqual(["{}"]);
	});
});
