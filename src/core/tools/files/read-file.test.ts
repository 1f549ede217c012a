import { mkdir, symlink, writeFile } from "node:fs/promises";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
	briefOf,
	call,
	createToolPlace,
	prepareCall,
	type ToolPlace,
} from "../../../../test/support/host/tool-environment.ts";
import type { Tool } from "../tool.ts";
import { createReadFile } from "./read-file.ts";

let place: ToolPlace;
let readFile: Tool;
beforeEach(async () => {
	place = await createToolPlace();
	readFile = createReadFile(place.environment);
});
afterEach(() => place.remove());

async function write(content: string | Buffer, name = "a.txt"): Promise<void> {
	await writeFile(place.at("work", name), content);
}

function numbered(from: number, to: number): string {
	return Array.from(
		{ length: to - from + 1 },
		(_, index) => `${String(from + index).padStart(6)}\t${from + index}\n`,
	).join("");
}

const hundred = `${Array.from({ length: 100 }, (_, index) => index + 1).join("\n")}\n`;

describe("ReadFile", () => {
	it("returns numbered lines and their range", async () => {
		await write("content of a\n");
		const prepared = await prepareCall(readFile, { path: "a.txt" });
		expect(prepared).toMatchObject({ approval: { byDefault: "allow" }, hasEffect: false });
		expect(await prepared.execute()).toEqual({
			is_error: false,
			output: "     1\tcontent of a\n",
			message: "1 lines read from file starting from line 1. Total lines in file: 1. End of file reached.",
			display: [],
			extras: null,
		});
	});

	it.each([
		[
			{ line_offset: 99 },
			numbered(99, 100),
			"2 lines read from file starting from line 99. Total lines in file: 100. End of file reached.",
		],
		[
			{ line_offset: 5, n_lines: 2 },
			numbered(5, 6),
			"2 lines read from file starting from line 5. Total lines in file: 100.",
		],
		[{ line_offset: 101 }, "", "No lines read from file. Total lines in file: 100. End of file reached."],
		[
			{ line_offset: -3 },
			numbered(98, 100),
			"3 lines read from file starting from line 98. Total lines in file: 100. End of file reached.",
		],
		[
			{ line_offset: -3, n_lines: 2 },
			numbered(98, 99),
			"2 lines read from file starting from line 98. Total lines in file: 100.",
		],
		[
			{ line_offset: -500, n_lines: 1 },
			numbered(1, 1),
			"1 lines read from file starting from line 1. Total lines in file: 100.",
		],
	])("reads from either end: %j", async (parameters, output, message) => {
		await write(hundred);
		expect(await call(readFile, { path: "a.txt", ...parameters })).toMatchObject({ output, message });
	});

	it("stops at 1000 lines", async () => {
		await write("x\n".repeat(1500));
		const result = await call(readFile, { path: "a.txt", n_lines: 5000 });
		expect(result.message).toBe(
			"1000 lines read from file starting from line 1. Total lines in file: 1500. Max 1000 lines reached.",
		);
	});

	it("stops after the line that exceeds 100 KiB, and drops the first lines of a tail", async () => {
		await write(`${"x".repeat(1023)}\n`.repeat(200));
		expect((await call(readFile, { path: "a.txt" })).message).toBe(
			"100 lines read from file starting from line 1. Total lines in file: 200. Max 102400 bytes reached.",
		);
		expect((await call(readFile, { path: "a.txt", line_offset: -150 })).message).toBe(
			"100 lines read from file starting from line 101. Total lines in file: 200. Max 102400 bytes reached. End of file reached.",
		);
	});

	it("truncates long lines and lists them", async () => {
		await write(`short\r\n${"ü".repeat(2000)}\r\n${"x".repeat(300_000)}\nlast`);
		const result = await call(readFile, { path: "a.txt" });
		expect(result.output).toBe(
			`     1\tshort\n     2\t${"ü".repeat(2000)}\n     3\t${"x".repeat(1997)}...\n     4\tlast`,
		);
		expect(result.message).toContain("shown whole: 3.");
	});

	it("replaces invalid bytes, and joins characters split between pieces", async () => {
		await write(
			Buffer.concat([Buffer.from(`${"x".repeat(60)}\n`.repeat(1074)), Buffer.from("12345€€€\n"), Buffer.from([0xff])]),
		);
		expect((await call(readFile, { path: "a.txt", line_offset: -2 })).output).toBe("  1075\t12345€€€\n  1076\t\ufffd");
	});

	it("reads an empty file, an absolute path outside, and a home path", async () => {
		await write("");
		expect((await call(readFile, { path: "a.txt" })).message).toBe(
			"No lines read from file. Total lines in file: 0. End of file reached.",
		);
		await writeFile(place.at("outside", "b.txt"), "b");
		expect((await call(readFile, { path: place.at("outside", "b.txt") })).output).toBe("     1\tb");
		await writeFile(place.at("home", "c.txt"), "c");
		expect((await call(readFile, { path: "~/c.txt" })).output).toBe("     1\tc");
	});

	it("stops when aborted", async () => {
		await write("x");
		expect(briefOf(await (await prepareCall(readFile, { path: "a.txt" })).execute(AbortSignal.abort()))).toBe(
			"Cancelled",
		);
	});

	it.each([
		["", "Empty file path"],
		["../outside/b.txt", "Invalid path"],
		["link/b.txt", "Invalid path"],
		["a\0b", "Invalid path"],
		[".", "Invalid path"],
		["missing.txt", "File not found"],
		[".env", "Sensitive file"],
		["harmless.txt", "Sensitive file"],
		["picture.png", "Unsupported file type"],
		["clip", "Unsupported file type"],
		["zeros.txt", "File not readable"],
		["archive.zip", "File not readable"],
	])("refuses %j: %s", async (path, brief) => {
		await symlink(place.at("outside"), place.at("work", "link"));
		await symlink(place.at("work", ".env"), place.at("work", "harmless.txt"));
		await write("KEY=1", ".env");
		await write(Buffer.from([0x89, 0, 1]), "picture.png");
		await write(Buffer.from([0x1a, 0x45, 0xdf, 0xa3, 0, 0]), "clip");
		await write("a\0b", "zeros.txt");
		await write("PK\x03\x04\x14\0", "archive.zip");
		expect(briefOf(await call(readFile, { path }))).toBe(brief);
	});

	it("reports the error of the file system", async () => {
		await symlink("loop", place.at("work", "loop"));
		await mkdir(place.at("work", "d"));
		const result = await call(readFile, { path: "loop" });
		expect(briefOf(result)).toBe("Failed to read file");
		expect(result.message).toContain("ELOOP");
	});

	it("names the missing file as it was spelled", async () => {
		expect((await call(readFile, { path: "missing.txt" })).message).toBe("`missing.txt` does not exist.");
	});
});
