import { describe, expect, it } from "vitest";
import { isSensitiveFile } from "../../../ports/files/secret-paths.ts";
import { createOutputBuilder } from "../output-builder.ts";
import { detectFileKind } from "./file-kinds.ts";
import { decodeTextFile, encodeAsUtf8, encodeTextFile } from "./text-file.ts";
import { forEachLine, type TextLine } from "./text-lines.ts";

describe("createOutputBuilder", () => {
	it("stores text up to the limit and adds the period to the message", () => {
		const builder = createOutputBuilder();
		builder.write("one\n");
		builder.write("two");
		expect(builder.success("Done")).toMatchObject({ output: "one\ntwo", message: "Done." });
		expect(createOutputBuilder().success("").message).toBe("");
		expect(createOutputBuilder().failure("It failed", "Brief")).toMatchObject({ is_error: true, message: "It failed" });
	});

	it("truncates long lines, never within a character", () => {
		const builder = createOutputBuilder();
		builder.write(`${"😀".repeat(1500)}\nnext\n`);
		const { output, message } = builder.success("Done.");
		expect(output).toBe(`${"😀".repeat(993)}[...truncated]\nnext\n`);
		expect(message).toBe("Done. The output was shortened to fit.");
	});

	it("stops at 50000 characters in all", () => {
		const builder = createOutputBuilder(null);
		builder.write("x".repeat(60_000));
		builder.write("more");
		const output = String(builder.success("Done.").output);
		expect(output).toHaveLength(50_000);
		expect(output.endsWith("x[...truncated]")).toBe(true);
		const exact = createOutputBuilder(null);
		exact.write("x".repeat(50_000));
		expect(exact.isTruncated()).toBe(false);
	});
});

describe("isSensitiveFile", () => {
	it.each([
		[".env", true],
		["/a/.env.local", true],
		["/a/.env.example", false],
		["/a/.env.sample", false],
		["/a/.env.template", false],
		["/a/id_rsa", true],
		["/a/id_rsa.pub", false],
		["/a/id_ed25519", true],
		["/a/id_ecdsa", true],
		["credentials", true],
		["/h/.aws/credentials", true],
		["/h/.aws/config", false],
		["/a/credentials.ts", false],
		["/a/environment", false],
	])("%s: %s", (path, expected) => {
		expect(isSensitiveFile(path)).toBe(expected);
	});
});

describe("detectFileKind", () => {
	const png = Buffer.from("\x89PNG\r\n\x1a\n", "latin1");
	it.each([
		["a.txt", Buffer.from("text"), "text"],
		["a", Buffer.alloc(0), "text"],
		["a.png", Buffer.from("not really"), "text"],
		["a.png", Buffer.from("version https://git-lfs.github.com/spec/v1\n"), "text"],
		["a.png", Buffer.from([0x89, 0, 1]), "image"],
		["a.gif", Buffer.from("GIF89a is a format\n"), "text"],
		["a.dot", Buffer.from("digraph { a -> b }\n"), "text"],
		["a.obj", Buffer.from("v 0.0 1.0 0.0\n"), "text"],
		["a.key", Buffer.from("-----BEGIN PUBLIC KEY-----\n"), "text"],
		[
			"a.ts",
			Buffer.concat([0, 1, 2].map(() => Buffer.concat([Buffer.from("G@\0"), Buffer.alloc(185, 0xff)]))),
			"video",
		],
		["a.csv", Buffer.from("\xff\xfea\0,\0b\0", "latin1"), "text"],
		["a.csv", Buffer.from("name;gr\xf6\xdfe\n", "latin1"), "text"],
		["a", Buffer.from("%PDF-1.4\n%\xe2\xe3\xcf\xd3\n", "latin1"), "unknown"],
		["a", Buffer.from("\x1f\x8b\x08\x08\x5c\xd8", "latin1"), "unknown"],
		["a", png, "image"],
		["a.PNG", png, "image"],
		["a.mp4", png, "image"],
		["a.ts", png, "image"],
		["a.ts", Buffer.from("const a = 1;"), "text"],
		["a.svg", Buffer.from("<svg/>"), "text"],
		["a.svg", Buffer.from("<\0"), "unknown"],
		["a", Buffer.from("RIFF\0\0\0\0WEBPVP8 ", "latin1"), "image"],
		["a", Buffer.from("RIFF\0\0\0\0AVI LIST", "latin1"), "video"],
		["a", Buffer.from("RIFF\0\0\0\0WAVEfmt ", "latin1"), "unknown"],
		["a", Buffer.from("\0\0\0\x18ftypmp42", "latin1"), "video"],
		["a", Buffer.from("\0\0\0\x18ftypavif", "latin1"), "image"],
		["a", Buffer.from("BM", "latin1"), "text"],
		["a.md", Buffer.from("BMW drives"), "text"],
		["a", Buffer.from("BM\x10\0\0\0\0\0\0\0\x36", "latin1"), "image"],
		["a.zip", Buffer.from("PK\x03\x04\x14\0", "latin1"), "unknown"],
		["a.sqlite", Buffer.from("SQLite format 3\0", "latin1"), "unknown"],
	])("%s", (path, header, kind) => {
		expect(detectFileKind(path, header)).toBe(kind);
	});
});

describe("text files", () => {
	it.each(["", "a", "a\n", "a\r\nb\r\n", "a\r\nb\n", "\ufeffa\r\n", "a\r\r\nb\r\n", "a\rb"])(
		"are encoded unchanged: %j",
		async (text) => {
			const decoded = await decodeTextFile(Buffer.from(text));
			const encoded = decoded === null ? null : await encodeTextFile(decoded.text, decoded);
			expect(encoded?.ok === true && encoded.bytes.toString("utf8")).toBe(text);
		},
	);

	it("are encoded unchanged in pieces, wherever these end, yielding to other work", async () => {
		for (const text of [
			"\r\n".repeat(200_000),
			`a${"\r\n".repeat(200_000)}`,
			`${"😀".repeat(70_000)}\r\n`,
			`a${"😀".repeat(70_000)}\r\n`,
			`${"\r".repeat(200_000)}\n`,
		]) {
			const decoded = await decodeTextFile(Buffer.from(text));
			const encoded = decoded === null ? null : await encodeTextFile(decoded.text, decoded);
			expect(encoded?.ok === true && encoded.bytes.equals(Buffer.from(text))).toBe(true);
		}
	});

	it("yield to other work while a small file grows", async () => {
		const turns = { count: 0 };
		const timer = setInterval(() => {
			turns.count += 1;
		}, 1);
		await encodeAsUtf8("\n".repeat(4_000_000), { lineEnding: "crlf", hasByteOrderMark: false });
		clearInterval(timer);
		expect(turns.count).toBeGreaterThan(1);
	});

	it("are not decoded where the encoding cannot be told", async () => {
		const text = "Grüße aus Köln, schöne Wörter und größere Höhen\n";
		expect(await decodeTextFile(Buffer.concat([Buffer.from(text), Buffer.from([0x61, 0xff, 0x0a])]))).toBeNull();
	});
});

describe("forEachLine", () => {
	const linesOf = async (pieces: readonly Buffer[], retained: number): Promise<TextLine[]> => {
		const lines: TextLine[] = [];
		const source = (async function* () {
			yield* pieces;
		})();
		await forEachLine(source, retained, new AbortController().signal, (line) => lines.push(line));
		return lines;
	};

	it("returns the same lines however the bytes are split", async () => {
		const bytes = Buffer.from("\ufeffa\r\n\n€€€€€€\r\nlonger than kept\r\nexactly8\r\nend");
		const whole = await linesOf([bytes], 8);
		expect(whole).toEqual([
			{ text: "a", isCut: false, isEnded: true },
			{ text: "", isCut: false, isEnded: true },
			{ text: "€€€€€€", isCut: false, isEnded: true },
			{ text: "longer t", isCut: true, isEnded: true },
			{ text: "exactly8", isCut: false, isEnded: true },
			{ text: "end", isCut: false, isEnded: false },
		]);
		for (let cut = 1; cut < bytes.length; cut += 1) {
			expect(await linesOf([bytes.subarray(0, cut), bytes.subarray(cut)], 8)).toEqual(whole);
		}
	});
});
