import { appendFile, mkdtemp, rm, stat, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createDiskFiles } from "../../../files/disk-files.ts";
import type { FileReader } from "../../../files/port.ts";
import { createFoundFiles } from "./found-files.ts";

const later = 10_000;

describe("the files of a session as they are found", () => {
	let directory: string;
	let file: string;
	let asked: string[];
	let files: FileReader;
	beforeEach(async () => {
		directory = await mkdtemp(path.join(tmpdir(), "found-files-"));
		file = path.join(directory, "journal.jsonl");
		asked = [];
		const disk = createDiskFiles();
		files = {
			...disk,
			status(target) {
				asked.push("status");
				return disk.status(target);
			},
			read(target) {
				asked.push("read");
				return disk.read(target);
			},
			readRange(target, offset, length) {
				asked.push(`range ${offset}+${length}`);
				return disk.readRange(target, offset, length);
			},
			async *readPieces(target) {
				asked.push("pieces");
				yield* disk.readPieces(target);
			},
		};
	});
	afterEach(() => rm(directory, { recursive: true }));

	const put = async (content: string, at = file): Promise<void> => {
		await writeFile(at, content);
		const { mtimeMs } = await stat(at);
		await utimes(at, mtimeMs / 1000 - 60, mtimeMs / 1000 - 60);
	};
	const pieces = async (found: FileReader): Promise<string> => {
		let text = "";
		for await (const piece of found.readPieces(file)) text += piece.toString();
		return text;
	};
	const now = () => Date.now() + later;

	it("are looked at once and read once, whatever is asked of them", async () => {
		await put("one\ntwo\n");
		const found = createFoundFiles(files);
		expect((await found.status(file))?.size).toBe(8);
		expect((await found.readRange(file, 4, 100))?.toString()).toBe("two\n");
		expect((await found.readRange(file, 0, 3))?.toString()).toBe("one");
		expect((await found.readRange(file, 8, 3))?.length).toBe(0);
		expect((await found.read(file))?.toString()).toBe("one\ntwo\n");
		expect(await pieces(found)).toBe("one\ntwo\n");
		expect(asked).toEqual(["status", "read"]);
	});

	it("stay as they were found, whatever is appended meanwhile", async () => {
		await put("one\n");
		const found = createFoundFiles(files);
		await found.status(file);
		await appendFile(file, "two\n");
		expect((await found.read(file))?.toString()).toBe("one\n");
		expect((await found.status(file))?.size).toBe(4);
	});

	it("are read as they are once the session is open", async () => {
		await put("one\n");
		const found = createFoundFiles(files);
		await found.read(file);
		found.release();
		await appendFile(file, "two\n");
		expect((await found.status(file))?.size).toBe(8);
		expect((await found.readRange(file, 4, 4))?.toString()).toBe("two\n");
		expect((await found.read(file))?.toString()).toBe("one\ntwo\n");
		expect(await pieces(found)).toBe("one\ntwo\n");
	});

	it("are read once from the end when they are long, and in parts before it", async () => {
		const text = `${"x".repeat(99)}\n`.repeat(1000);
		await put(text);
		const found = createFoundFiles(files);
		const bytesAt = async (offset: number, length: number) => (await found.readRange(file, offset, length))?.toString();
		expect(await bytesAt(text.length - 10, 100)).toBe(text.slice(-10));
		expect(await bytesAt(text.length - 1000, 500)).toBe(text.slice(-1000, -500));
		expect(await bytesAt(50, 60)).toBe(text.slice(50, 110));
		expect(asked).toEqual(["status", "range 34464+65536", "range 50+60"]);
		expect((await found.read(file))?.toString()).toBe(text);
		expect(await pieces(found)).toBe(text);
	});

	it("are nothing when they are missing, or their directory is", async () => {
		const found = createFoundFiles(files);
		expect(await found.status(file)).toBeNull();
		expect(await found.read(file)).toBeNull();
		expect(await found.readRange(file, 0, 10)).toBeNull();
		expect(await pieces(found)).toBe("");
		expect(asked).toEqual(["status"]);
		const other = createFoundFiles(files);
		other.noteMissing(directory);
		expect(await other.read(file)).toBeNull();
		expect(asked).toEqual(["status"]);
	});

	it("end with a whole line only if that was read, and a later change would show", async () => {
		const other = path.join(directory, "context.jsonl");
		await put("one\n");
		await put("one\ntw", other);
		const found = createFoundFiles(files);
		expect(await found.wholeStatus(file, now())).toBeNull();
		await Promise.all([found.read(file), found.read(other)]);
		expect(await found.wholeStatus(file, now())).toMatchObject({ size: 4 });
		expect(await found.wholeStatus(other, now())).toBeNull();
		expect(await found.wholeStatus(file, (await stat(file)).mtimeMs + 5)).toBeNull();
	});

	it("are what the port says of anything but a file", async () => {
		const found = createFoundFiles(files);
		await expect(found.read(directory)).rejects.toMatchObject({ code: "EISDIR" });
	});
});
