import { mkdtemp, readdir, readFile, rm, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
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

describe("createLogFile", () => {
	it("touches nothing until it is opened, then writes what waited and what follows, in order", async () => {
		const log = createLogFile(file, false);
		log.info("one", { n: 1 });
		log.flush();
		expect(await readdir(root)).toEqual([]);
		await log.open();
		log.warn("two");
		await log.open();
		log.error("three", { error: new Error("bad key sk-0123456789abcdef") });
		log.flush();
		const written = await lines();
		expect(written.map(({ msg }) => msg)).toEqual(["one", "two", "three"]);
		expect(written[0]).toMatchObject({ n: 1, level: 30, pid: process.pid });
		expect(JSON.stringify(written)).not.toContain("0123456789abcdef");
	});

	it("leaves out the finest lines unless wanted", async () => {
		for (const includeDebug of [false, true]) {
			const log = createLogFile(`${file}-${includeDebug}`, includeDebug);
			log.debug("fine");
			log.info("coarse");
			await log.open();
			log.flush();
			// What is flushed at the end may come before what was still being written.
			expect((await lines(`${file}-${includeDebug}`)).map(({ msg }) => msg).sort()).toEqual(
				includeDebug ? ["coarse", "fine"] : ["coarse"],
			);
		}
	});

	it("keeps a bounded number of lines while it waits", async () => {
		const log = createLogFile(file, false);
		for (let n = 0; n < 5000; n += 1) log.info(`${n}`);
		await log.open();
		log.flush();
		expect((await lines()).length).toBeLessThan(5000);
	});

	it("is no reason to fail when it cannot be written", async () => {
		await writeFile(path.join(root, "logs"), "in the way");
		const log = createLogFile(file, false);
		log.info("one");
		await log.open();
		log.info("two");
		log.flush();
	});
});

describe("createLogWriter", () => {
	const size = 10 * 1024 * 1024;
	const write = (text: string) => {
		const writer = createLogWriter(file);
		writer.write("info", text, {});
		writer.flush();
	};

	it("goes on with a log that is there and small", async () => {
		write("one");
		write("two");
		expect((await lines()).map(({ msg }) => msg)).toEqual(["one", "two"]);
	});

	it("sets a full log aside and keeps five", async () => {
		for (let n = 1; n <= 7; n += 1) {
			write(`${n}`);
			await truncate(file, size);
		}
		write("8");
		expect((await readdir(path.dirname(file))).sort()).toEqual([
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
});
