import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { beforeEach, describe, expect, it, onTestFinished } from "vitest";

const root = fileURLToPath(new URL("../../..", import.meta.url));
const loader = fileURLToPath(import.meta.resolve("tsx"));

/**
 * What comes of reading a path that is among the named ones, as text or as the code of an error. In a process of its own: in
 * the threads of the tests, descriptors that a socket takes over are closed twice.
 */
async function read(file: string, named: readonly string[], clock = "systemClock"): Promise<string> {
	const code = `
		const { createDiskFiles } = await import("./src/ports/files/disk-files.ts");
		const { readingPipes } = await import("./src/ports/files/pipes.ts");
		const { systemClock } = await import("./src/base/clock.ts");
		const hasty = { now: Date.now, after: (_time, callback) => { const timer = setTimeout(callback, 50); return () => clearTimeout(timer); } };
		const files = readingPipes(createDiskFiles(), new Set(${JSON.stringify(named)}), ${clock});
		const text = await files.read(${JSON.stringify(file)}).then(String, (error) => error.code);
		console.log(text);
		process.exit();
	`;
	const child = spawn(process.execPath, ["--import", loader, "--input-type=module", "-e", code], {
		cwd: root,
		stdio: ["ignore", "pipe", "inherit"],
	});
	let output = "";
	child.stdout.setEncoding("utf8").on("data", (piece: string) => {
		output += piece;
	});
	await once(child, "close");
	return output.trimEnd();
}

describe.skipIf(process.platform === "win32")("a pipe that a person names", () => {
	let directory: string;
	let pipe: string;
	beforeEach(async () => {
		directory = await mkdtemp(path.join(tmpdir(), "pipes-"));
		pipe = path.join(directory, "pipe");
		execFileSync("mkfifo", [pipe]);
		const made = directory;
		onTestFinished(() => rm(made, { recursive: true, force: true }));
	});

	it("is read as it is written, also when the writer starts later", async () => {
		const reading = read(pipe, [pipe]);
		spawn("/bin/sh", ["-c", 'printf one > "$1"', "sh", pipe], { stdio: "ignore" });
		expect(await reading).toBe("one");
	});

	it("has a time limit", async () => {
		expect(await read(pipe, [pipe], "hasty")).toBe("ETIMEDOUT");
	});

	it("leaves other files to the ordinary reader", async () => {
		const file = path.join(directory, "file");
		await writeFile(file, "text");
		expect(await read(file, [file])).toBe("text");
		expect(await read(pipe, [])).toBe("EINVAL");
		expect(await read("/dev/null", ["/dev/null"])).toBe("");
	});
});
