import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { startDetached } from "./detached-process.ts";

let directory = "";
beforeEach(async () => {
	directory = await mkdtemp(path.join(tmpdir(), "detached-"));
});
afterEach(() => rm(directory, { recursive: true, force: true }));

const start = (script: string) =>
	startDetached({
		file: "/bin/sh",
		arguments: ["-c", script],
		workDir: directory,
		environment: { PATH: "/usr/local/bin:/usr/bin:/bin" },
	});
const written = () => readFile(path.join(directory, "out"), "utf8");

describe("a detached process", () => {
	it("receives lines, and an end of input at the release", async () => {
		const started = await start("cat > out; echo over >> out; exit 3");
		started.send("one");
		started.send("two");
		started.release();
		expect(await started.gone).toBe(3);
		expect(await written()).toBe("one\ntwo\nover\n");
	});

	it("leads its own session", async () => {
		const started = await start("ps -o sid= -p $$ > out");
		await started.gone;
		expect(Number(await written())).toBe(started.processId);
	});

	it("that was killed by a signal has no exit code, and lines to it are lost", async () => {
		const started = await start("kill -9 $$");
		expect(await started.gone).toBeNull();
		started.send("one");
		started.release();
	});

	it("rejects when it cannot be started", async () => {
		const request = { file: path.join(directory, "missing"), arguments: [], workDir: directory, environment: {} };
		await expect(startDetached(request)).rejects.toThrow("ENOENT");
	});
});
