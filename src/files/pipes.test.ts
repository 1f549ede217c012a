import { execFileSync, spawn } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { createFakeClock } from "../../test/support/campaign-clock.ts";
import { createDiskFiles } from "./disk-files.ts";
import { readingPipes } from "./pipes.ts";

describe.skipIf(process.platform === "win32")("a pipe that a person names", () => {
	const clock = createFakeClock();
	let root: string;
	let pipe: string;
	beforeEach(async () => {
		root = await mkdtemp(path.join(tmpdir(), "pipes-"));
		pipe = path.join(root, "pipe");
		execFileSync("mkfifo", [pipe]);
		const made = root;
		onTestFinished(() => rm(made, { recursive: true, force: true }));
	});
	const files = () => readingPipes(createDiskFiles(), new Set([pipe, path.join(root, "file")]), clock);

	it("is read as it is written, also when that begins later", async () => {
		const read = files().read(pipe);
		spawn("/bin/sh", ["-c", 'printf one > "$1"', "sh", pipe], { stdio: "ignore" });
		expect((await read)?.toString()).toBe("one");
	});

	it("is given up when nothing comes", async () => {
		const read = files().read(pipe);
		const given = expect(read).rejects.toMatchObject({ code: "ETIMEDOUT" });
		while (clock.waiting() === 0) await new Promise((resolve) => setImmediate(resolve));
		clock.advance(30_000);
		await given;
	});

	it("leaves everything else as it is", async () => {
		await writeFile(path.join(root, "file"), "text");
		expect((await files().read(path.join(root, "file")))?.toString()).toBe("text");
		const others = readingPipes(createDiskFiles(), new Set(), clock);
		await expect(others.read(pipe)).rejects.toMatchObject({ code: "EINVAL" });
		const device = readingPipes(createDiskFiles(), new Set(["/dev/null", "/dev/zero"]), clock);
		expect(await device.read("/dev/null")).toEqual(Buffer.alloc(0));
		await expect(device.read("/dev/zero")).rejects.toMatchObject({ code: "EINVAL" });
	});
});
