import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { createSteppingClock } from "../../../test/support/host/stepping-clock.ts";
import { systemClock } from "../../base/clock.ts";
import { createDeferred } from "../../base/deferred.ts";
import { createDiskFiles } from "../../ports/files/disk-files.ts";
import { privateWithin } from "../../ports/files/private-paths.ts";
import { createLogFile } from "./log-file.ts";
import { createLogWriter } from "./log-writer.ts";

let root: string;
let file: string;
beforeEach(async () => {
	root = await mkdtemp(path.join(tmpdir(), "log-"));
	file = path.join(root, "logs", "agentwire.log");
});
afterEach(() => rm(root, { recursive: true, force: true }));

const lines = async (name = file): Promise<Record<string, unknown>[]> =>
	(await readFile(name, "utf8"))
		.split("\n")
		.filter((line) => line !== "")
		.map((line) => JSON.parse(line));

const modeOf = async (name: string) => (await stat(name)).mode & 0o777;

describe("createLogFile", () => {
	it("touches nothing until it is opened, then writes queued and later lines in order", async () => {
		const log = createLogFile(file, false);
		log.info("one", { n: 1 });
		expect(await readdir(root)).toEqual([]);
		await log.open();
		log.warn("two");
		await log.open();
		log.error("three", { error: new Error("bad key sk-0123456789abcdef") });
		await log.flush();
		// On a busy machine the flush may give up before the lines are written.
		await vi.waitFor(async () => expect(await lines()).toHaveLength(3), { timeout: 10_000 });
		const written = await lines();
		expect(written.map(({ msg }) => msg)).toEqual(["one", "two", "three"]);
		expect(written[0]).toMatchObject({ n: 1, level: 30, pid: process.pid });
		expect(JSON.stringify(written)).not.toContain("0123456789abcdef");
	});

	it("omits debug lines unless they are enabled", async () => {
		for (const includeDebug of [false, true]) {
			const log = createLogFile(`${file}-${includeDebug}`, includeDebug);
			log.debug("fine");
			log.info("coarse");
			await log.open();
			await log.flush();
			expect((await lines(`${file}-${includeDebug}`)).map(({ msg }) => msg)).toEqual(
				includeDebug ? ["fine", "coarse"] : ["coarse"],
			);
		}
	});

	it("queues a bounded number of lines before it is opened", async () => {
		const log = createLogFile(file, false);
		for (let n = 0; n < 5000; n += 1) log.info(`${n}`);
		await log.open();
		await log.flush();
		expect((await lines()).length).toBeLessThan(5000);
	});

	it("throws nothing when it cannot be written", async () => {
		await writeFile(path.join(root, "logs"), "in the way");
		const log = createLogFile(file, false);
		log.info("one");
		await log.open();
		log.info("two");
		await log.flush();
		expect(await readFile(path.join(root, "logs"), "utf8")).toBe("in the way");
	});
});

describe("createLogWriter", () => {
	const size = 10 * 1024 * 1024;
	const names = async () => (await readdir(path.dirname(file))).sort();
	const write = async (text: string) => {
		const writer = createLogWriter(file, createDiskFiles(), systemClock);
		writer.write("info", text, {});
		await writer.flush();
	};

	it("appends to an existing small log", async () => {
		await write("one");
		await write("two");
		expect((await lines()).map(({ msg }) => msg)).toEqual(["one", "two"]);
	});

	it("rotates a full log and retains five", async () => {
		for (let n = 1; n <= 7; n += 1) {
			await write(`${n}`);
			await truncate(file, size);
		}
		await write("8");
		expect(await names()).toEqual([
			"agentwire.log",
			"agentwire.log.1",
			"agentwire.log.2",
			"agentwire.log.3",
			"agentwire.log.4",
			"agentwire.log.5",
		]);
		expect((await lines()).map(({ msg }) => msg)).toEqual(["8"]);
		const oldest = (await readFile(`${file}.5`, "utf8")).split("\n")[0];
		expect(JSON.parse(oldest ?? "")).toMatchObject({ msg: "3" });
	});

	it("rotates a log that becomes full while it writes", async () => {
		const writer = createLogWriter(file, createDiskFiles(), systemClock);
		const text = "x ".repeat(30_000);
		for (let n = 1; n <= 13; n += 1) {
			for (let line = 1; line <= 15; line += 1) writer.write("info", text, {});
			await writer.flush();
		}
		expect(await names()).toEqual(["agentwire.log", "agentwire.log.1"]);
	});

	it("does not recreate a removed directory", async () => {
		const writer = createLogWriter(file, createDiskFiles(), systemClock);
		writer.write("info", "one", {});
		await writer.flush();
		await rm(path.dirname(file), { recursive: true });
		writer.write("info", "two", {});
		await writer.flush();
		expect(await readdir(root)).toEqual([]);
	});

	it("continues a full log that cannot be rotated, without retrying at every line", async () => {
		const disk = createDiskFiles();
		await disk.makeDirectory(path.dirname(file));
		await disk.replace(file, Buffer.alloc(size));
		let renames = 0;
		const rename = async () => {
			renames += 1;
			throw new Error("EACCES");
		};
		const writer = createLogWriter(file, { ...disk, rename }, systemClock);
		for (const text of ["one", "two", "three"]) {
			writer.write("info", text, {});
			await writer.flush();
		}
		expect((await readFile(file, "utf8")).slice(size)).toContain("three");
		expect(renames).toBe(1);
	});

	it("waits only briefly for a disk that does not answer, and queues a bounded number of lines", async () => {
		const disk = createDiskFiles();
		const stuck = createDeferred<void>();
		const makeDirectory = (directory: string) => stuck.promise.then(() => disk.makeDirectory(directory));
		const writer = createLogWriter(file, { ...disk, makeDirectory }, createSteppingClock(0));
		for (let n = 0; n < 100; n += 1) writer.write("info", "x".repeat(100_000), {});
		await writer.flush();
		await expect(lines()).rejects.toThrow("ENOENT");
		stuck.resolve();
		// Each is cut to 64 KiB. One is on its way to the disk, 16 are in the megabyte that waits for it.
		await vi.waitFor(async () => expect(await lines()).toHaveLength(18));
		expect((await lines()).find(({ count }) => count !== undefined)).toMatchObject({ count: 83 });
	});

	it("reports the number of lost lines once the disk accepts some again", async () => {
		const disk = createDiskFiles();
		let isFull = true;
		const openAppend = async (target: string) => {
			const opened = await disk.openAppend(target);
			const append = async (text: string) => {
				if (isFull) throw Object.assign(new Error("ENOSPC: no space left on device, write"), { code: "ENOSPC" });
				await opened.append(text);
			};
			return { ...opened, append };
		};
		const writer = createLogWriter(file, { ...disk, openAppend }, systemClock);
		for (const text of ["one", "two"]) {
			writer.write("info", text, {});
			await writer.flush();
		}
		isFull = false;
		writer.write("info", "three", {});
		await writer.flush();
		const written = await lines();
		expect(written.map(({ msg }) => msg)).toEqual(["three", "Lines of the log could not be written and are lost."]);
		expect(written[1]).toMatchObject({ count: 2 });
	});

	it("makes the log and the rotated files accessible to the owner only", async () => {
		const write = async (text: string) => {
			const writer = createLogWriter(file, createDiskFiles(privateWithin(path.dirname(file))), systemClock);
			writer.write("info", text, {});
			await writer.flush();
		};
		const modes = async () => Promise.all(["", ".1", ".2"].map((end) => modeOf(`${file}${end}`)));
		await write("1");
		expect([await modeOf(file), await modeOf(path.dirname(file))]).toEqual([0o600, 0o700]);
		await chmod(file, 0o644);
		await chmod(path.dirname(file), 0o755);
		await write("2");
		expect([await modeOf(file), await modeOf(path.dirname(file))]).toEqual([0o600, 0o700]);
		await truncate(file, size);
		await writeFile(`${file}.1`, "older", { mode: 0o644 });
		await chmod(file, 0o644);
		await write("3");
		expect(await modes()).toEqual([0o600, 0o600, 0o600]);
	});

	it("does not change the target of a link", async () => {
		const elsewhere = path.join(root, "elsewhere.log");
		await writeFile(elsewhere, "", { mode: 0o644 });
		await mkdir(path.dirname(file));
		await symlink(elsewhere, file);
		const writer = createLogWriter(file, createDiskFiles(privateWithin(path.dirname(file))), systemClock);
		writer.write("info", "1", {});
		await writer.flush();
		expect([await modeOf(elsewhere), (await lines(elsewhere)).length]).toEqual([0o644, 1]);
	});
});
