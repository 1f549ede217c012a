import { type Zippable, zipSync } from "fflate";
import { describe, expect, it } from "vitest";
import { readZip, ZipError } from "./zip-reader.ts";

const text = (content: string) => new TextEncoder().encode(content);
const zip = (files: Zippable) => Buffer.from(zipSync(files, { mtime: "2020-01-01" }));
/** An entry with a Unix mode, type bits included. */
const entry = (content: string, mode: number, system = 3): Zippable[string] => [
	text(content),
	{ os: system, attrs: mode * 65_536 },
];
const long = "line\n".repeat(10_000);

async function refusal(bytes: Buffer): Promise<string> {
	try {
		for (const file of await readZip(bytes)) await file.read();
	} catch (thrown) {
		if (thrown instanceof ZipError) return thrown.message;
		throw thrown;
	}
	throw new Error("It was unpacked.");
}

/** The archive with bytes put at a place that a signature marks. */
function patched(bytes: Buffer, signature: string, offset: number, patch: readonly number[]): Buffer {
	const copy = Buffer.from(bytes);
	copy.set(patch, copy.indexOf(signature, 0, "latin1") + offset);
	return copy;
}

const centralEntry = "PK\x01\x02";
const localHeader = "PK\x03\x04";

describe("readZip", () => {
	it("returns files with contents and modes, packed or stored", async () => {
		const bytes = zip({
			"demo/": entry("", 0o040755),
			"demo/run": entry("#!/bin/sh\n", 0o100755),
			"demo/long": entry(long, 0o100644),
			"./plain": [text("as it is"), { level: 0 }],
			"empty é": entry("", 0o100600),
			"from-dos": [text("x"), { os: 0, attrs: 0o120777 * 65_536 }],
		});
		const files = await readZip(bytes);
		expect(files.map(({ path, mode, size }) => [path, mode, size])).toEqual([
			["demo/run", 0o755, 10],
			["demo/long", 0o644, long.length],
			["plain", null, 8],
			["empty é", 0o600, 0],
			["from-dos", null, 1],
		]);
		const contents = await Promise.all(files.map((file) => file.read()));
		expect(contents.map((content) => Buffer.from(content).toString())).toEqual([
			"#!/bin/sh\n",
			long,
			"as it is",
			"",
			"x",
		]);
	});

	it("returns no files for an empty archive, and reads one with a comment", async () => {
		expect(await readZip(zip({}))).toEqual([]);
		const bytes = zip({ a: text("x") });
		bytes.writeUInt16LE(7, bytes.length - 2);
		const files = await readZip(Buffer.concat([bytes, text("comment")]));
		expect(files.map(({ path }) => path)).toEqual(["a"]);
	});

	it.each<[string, Zippable, string]>([
		["a path that goes up", { "../a": text("x") }, '"../a" points outside the directory'],
		["a path that goes up in the middle", { "a/../../b": text("x") }, '"a/../../b" points outside the directory'],
		["a directory that goes up", { "../": text("") }, '"../" points outside the directory'],
		["an absolute path", { "/etc/x": text("x") }, '"/etc/x" points outside the directory'],
		["a path of another system", { "..\\a": text("x") }, '"..\\\\a" is not a usable name'],
		["a null character", { "a\0b": text("x") }, '"a\\u0000b" is not a usable name'],
		["a link", { a: entry("/etc/passwd", 0o120777) }, '"a" is a link'],
		["a link made on a Mac", { a: entry("/etc/passwd", 0o120777, 19) }, '"a" is a link'],
		["a device", { a: entry("", 0o020644) }, '"a" is not a regular file'],
	])("refuses %s", async (_name, files, message) => {
		expect(await refusal(zip(files))).toBe(message);
	});

	const sound = zip({ long: text(long) });
	it.each<[string, Buffer, string | RegExp]>([
		["nothing", Buffer.alloc(0), "it is not a zip file, or it is truncated"],
		["another file", Buffer.from(long), "it is not a zip file, or it is truncated"],
		["a beginning", sound.subarray(0, -30), "it is not a zip file, or it is truncated"],
		["an end", sound.subarray(60), /damaged/],
		["a broken directory", patched(sound, centralEntry, 0, [0]), /^it is damaged: /],
		["more entries than there are", patched(sound, "PK\x05\x06", 10, [9]), /^it is damaged/],
		["a directory beyond the end", patched(sound, "PK\x05\x06", 16, [255, 255, 255, 0]), /^it is damaged: /],
		["another checksum", patched(sound, centralEntry, 16, [1, 2, 3, 4]), '"long" is damaged'],
		["more than it declares", patched(sound, centralEntry, 24, [9, 0, 0, 0]), /^"long" is damaged: /],
		["less than it declares", patched(sound, centralEntry, 24, [0, 0, 2, 0]), '"long" is damaged'],
		["invalid compressed data", patched(sound, localHeader, 34, [255, 255, 255]), /^"long" is damaged: /],
		["an invalid header", patched(sound, localHeader, 0, [0]), '"long" is damaged'],
		["a header at another offset", patched(sound, centralEntry, 42, [255, 255, 255, 127]), '"long" is damaged'],
		["sizes of ZIP64", patched(sound, centralEntry, 24, [255, 255, 255, 255]), /^"long" is damaged: /],
		["encryption", patched(sound, centralEntry, 8, [1]), '"long" is encrypted'],
		["another compression method", patched(sound, centralEntry, 10, [14]), '"long" is packed in an unusual way'],
	])("refuses %s", async (_name, bytes, message) => {
		expect(await refusal(bytes)).toMatch(message);
	});

	it("never throws other errors, wherever the file is truncated", async () => {
		for (let length = 0; length < sound.length; length += 1) {
			expect(await refusal(sound.subarray(0, length))).toMatch(/./);
		}
	});
});
