import { readdirSync, readlinkSync } from "node:fs";
import { mkdir, mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createDiskFiles } from "./disk-files.ts";
import { openFile } from "./file-calls.ts";
import { privateWithin } from "./private-paths.ts";

describe("an open file", () => {
	let root: string;
	let file: string;
	beforeEach(async () => {
		root = await realpath(await mkdtemp(path.join(tmpdir(), "agentwire-calls-")));
		file = path.join(root, "file");
		await writeFile(file, "content");
	});
	afterEach(() => rm(root, { recursive: true, force: true }));

	/** The open files below the directory of the test. */
	const openBelow = () =>
		readdirSync("/proc/self/fd").filter((descriptor) => {
			try {
				return readlinkSync(`/proc/self/fd/${descriptor}`).startsWith(root);
			} catch {
				return false;
			}
		});

	it("is closed after a call that Node refuses before it asks the system", async () => {
		const opened = await openFile(file, "r+");
		const bytes = Buffer.alloc(4);
		await expect(opened.read(bytes, 0, 5, 0)).rejects.toMatchObject({ code: "ERR_OUT_OF_RANGE" });
		await expect(opened.write(bytes, 5, 1)).rejects.toMatchObject({ code: "ERR_OUT_OF_RANGE" });
		await opened.close();
		await expect(opened.read(bytes, 0, 4, 0)).rejects.toMatchObject({ code: "EBADF" });
	});

	it("is closed when any of several closings ends, after the calls before them", async () => {
		const opened = await openFile(file, "r");
		const ends: string[] = [];
		const noted = (name: string, work: Promise<unknown>) => work.then(() => ends.push(name));
		const read = noted("read", opened.read(Buffer.alloc(7), 0, 7, 0));
		const first = noted("first", opened.close());
		const second = noted("second", opened.close());
		await Promise.all([read, first, second]);
		expect(ends).toEqual(["read", "first", "second"]);
	});

	it.skipIf(process.platform !== "linux")("is never left open by a call that fails or is given up", async () => {
		const directory = path.join(root, "directory");
		await mkdir(directory);
		const refusing = createDiskFiles().admitting(async () => {
			throw new Error("refused");
		});
		const failingPieces = async function* () {
			yield Buffer.from("x");
			throw new Error("no more");
		};
		for (const files of [createDiskFiles(), createDiskFiles(privateWithin(root))]) {
			const results = await Promise.allSettled([
				files.read(directory),
				refusing.read(file),
				files.openAppend(directory),
				files.create(file, "again"),
				files.replaceByPieces(file, failingPieces()),
				files.replace(path.join(directory, "missing", "file"), "x", { withoutLinks: true }),
				files.replace(directory, "x", { sync: true }),
			]);
			expect(results.map(({ status }) => status)).toEqual(results.map((_, n) => (n === 3 ? "fulfilled" : "rejected")));
			await writeFile(file, Buffer.alloc(1_000_000));
			for await (const piece of files.readPieces(file)) if (piece.length > 0) break;
			const appended = await files.openAppend(file);
			await Promise.allSettled([appended.append("x"), appended.close(), appended.append("y")]);
		}
		expect(openBelow()).toEqual([]);
	});
});
