// Files that do not answer: a drive that hangs, a FIFO without a writer, the kernel's log. Whatever reads them, the
// turn can be cancelled, other files are read and written, and the process ends in time.
import { execFileSync, spawnSync } from "node:child_process";
import {
	existsSync,
	mkdirSync,
	mkdtempSync,
	readdirSync,
	readFileSync,
	readlinkSync,
	rmSync,
	symlinkSync,
	writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it, vi } from "vitest";
import { createStage, executablePath, type Stage, type StageOptions, toolCall } from "../support/executable.ts";
import type { Server } from "../support/running-server.ts";

const mounter = fileURLToPath(new URL("../fixtures/hung-mount.py", import.meta.url));

/** A drive that hangs takes a kernel with FUSE and somebody who may mount. */
function canHang(): boolean {
	if (process.platform !== "linux" || process.getuid?.() !== 0) return false;
	const directory = mkdtempSync(path.join(tmpdir(), "hung-"));
	try {
		return spawnSync("python3", [mounter, directory, "true"], { timeout: 5000 }).status === 0;
	} finally {
		rmSync(directory, { recursive: true, force: true });
	}
}

interface HungStage extends Stage {
	/** Where the drive is. */
	readonly drive: string;
	/** Starts a server that sees the drive. */
	serveConcurrently(...flags: string[]): Server;
	/** Resolves once so many threads of its processes wait for the drive. */
	waitsForDrive(count?: number): Promise<void>;
}

/** How many threads of the stage's processes wait within FUSE. */
function waitingThreads({ environment }: Stage): number {
	const mark = `AGENTWIRE_STAGE=${environment["AGENTWIRE_STAGE"]}`;
	return readdirSync("/proc").flatMap((name) => {
		if (!/^\d+$/.test(name)) return [];
		try {
			if (!readFileSync(`/proc/${name}/environ`, "utf8").includes(mark)) return [];
			const threads = readdirSync(`/proc/${name}/task`);
			return threads.filter((id) => /fuse|request_wait/.test(readFileSync(`/proc/${name}/task/${id}/wchan`, "utf8")));
		} catch {
			return [];
		}
	}).length;
}

function createHungStage(toScripts: (drive: string) => readonly string[], options: StageOptions = {}): HungStage {
	const stage = createStage(options);
	const drive = path.join(path.dirname(stage.workDir), "drive");
	mkdirSync(drive);
	stage.setScripts(toScripts(drive));
	// Deeper than the listing that a model is given.
	mkdirSync(path.join(stage.workDir, "a/b/c"), { recursive: true });
	symlinkSync(drive, path.join(stage.workDir, "a/b/c/drive"));
	return {
		...stage,
		drive,
		serveConcurrently: (...flags) =>
			stage.serveAs("python3", mounter, drive, executablePath, "--work-dir", stage.workDir, ...flags),
		waitsForDrive: (count = 1) =>
			vi.waitFor(() => expect(waitingThreads(stage)).toBeGreaterThanOrEqual(count), { timeout: 5000, interval: 20 }),
	};
}

async function endsInTime(server: Server, end: () => void): Promise<number | null> {
	const before = performance.now();
	end();
	const code = await server.exited;
	expect(performance.now() - before).toBeLessThan(2300);
	return code;
}

function isOpen(pid: number, file: string): boolean {
	const links = readdirSync(`/proc/${pid}/fd`).map((name) => {
		try {
			return readlinkSync(`/proc/${pid}/fd/${name}`);
		} catch {
			return "";
		}
	});
	return links.includes(file);
}

/** Scripts of turns each of which makes one call and then says something. */
const turns = (...calls: string[]) => calls.flatMap((call) => [call, "text: done"]);

type Call = readonly [tool: string, toArguments: (drive: string) => object];
const calls: readonly Call[] = [
	["ReadFile", (drive) => ({ path: `${drive}/file` })],
	["ReadMediaFile", (drive) => ({ path: `${drive}/picture.png` })],
	["Glob", () => ({ pattern: "a/b/c/drive/*" })],
	["Grep", (drive) => ({ pattern: "x", path: drive })],
	["WriteFile", (drive) => ({ path: `${drive}/file`, content: "x" })],
	["StrReplaceFile", (drive) => ({ path: `${drive}/file`, edit: { old: "a", new: "b" } })],
	["Shell", (drive) => ({ command: `cat ${drive}/file` })],
];

describe.skipIf(!canHang())("a drive that hangs", () => {
	it.each(calls)(
		"does not prevent the cancel of a call of %s, and the session continues",
		async (tool, toArguments) => {
			const modelSettings = { capabilities: ["image_in"] };
			const scripts = (drive: string) => [toolCall("call-1", tool, toArguments(drive)), "text: done"];
			const stage = createHungStage(scripts, { modelSettings });
			const server = stage.serveConcurrently("--wire", "--yolo", "--session", "s");
			server.prompt("hi");
			await server.message("ToolCall");
			await stage.waitsForDrive();
			const before = performance.now();
			server.request("cancel", "cancel");
			expect(await server.response("prompt")).toMatchObject({ result: { status: "cancelled" } });
			expect(performance.now() - before).toBeLessThan(2000);
			server.prompt("more", "second");
			expect(await server.response("second")).toMatchObject({ result: { status: "finished" } });
		},
	);

	it.each(["the end of input", "SIGTERM"] as const)("does not delay %s", async (how) => {
		const stage = createHungStage((drive) => [toolCall("call-1", "ReadFile", { path: `${drive}/file` })]);
		const server = stage.serveConcurrently("--wire", "--session", "s");
		server.prompt("hi");
		await server.message("ToolCall");
		await stage.waitsForDrive();
		await endsInTime(server, () => (how === "SIGTERM" ? server.kill("SIGTERM") : server.endInput()));
		expect(stage.loggedTypes("s").at(-1)).toBe("TurnEnd");
	});

	it("leaves threads for the session when every one of many calls waits for it", async () => {
		const many = Array.from({ length: 30 }, (_, n) => toolCall(`call-${n}`, "ReadFile", { path: `a/b/c/drive/${n}` }));
		const stage = createHungStage(() => [many.join("\n"), ...turns(toolCall("w", "Shell", { command: "echo hi" }))]);
		const server = stage.serveConcurrently("--wire", "--yolo", "--session", "s");
		server.prompt("hi");
		for (const _ of many) await server.message("ToolCall");
		// No more than the places there are for one directory.
		await stage.waitsForDrive(2);
		expect(waitingThreads(stage)).toBe(2);
		server.request("cancel", "cancel");
		expect(await server.response("prompt")).toMatchObject({ result: { status: "cancelled" } });
		server.prompt("more", "second");
		expect(await server.response("second")).toMatchObject({ result: { status: "finished" } });
		await endsInTime(server, () => server.endInput());
		expect(stage.loggedTypes("s").at(-1)).toBe("TurnEnd");
	});

	it.each([
		["--config-file", "config.toml"],
		["--mcp-config-file", "mcp.json"],
		["--agent-file", "agent.yaml"],
		["--add-dir", "."],
		["--skills-dir", "."],
	])("lets a start that waits for %s be stopped", async (flag, name) => {
		const stage = createHungStage(() => []);
		const server = stage.serveConcurrently("--wire", flag, path.join(stage.drive, name));
		server.initialize();
		await stage.waitsForDrive();
		await endsInTime(server, () => server.kill("SIGTERM"));
	});
});

describe.skipIf(process.platform !== "linux")("a path that is no regular file", () => {
	it("is refused or read up to its end, by every tool", async () => {
		const stage = createStage();
		const fifo = path.join(stage.workDir, "fifo");
		execFileSync("mkfifo", [fifo]);
		symlinkSync("/dev/zero", path.join(stage.workDir, "zero"));
		const read = (name: string) => toolCall(`read ${name}`, "ReadFile", { path: name });
		const write = (name: string) => toolCall(`write ${name}`, "WriteFile", { path: name, content: "x" });
		const log = process.getuid?.() === 0 && existsSync("/proc/kmsg") ? ["/proc/kmsg"] : [];
		const called = [...["fifo", "zero", "/dev/tty", ...log].map(read), ...["fifo", "zero"].map(write)];
		stage.setScripts(turns(...called));
		const server = stage.serve("--wire", "--yolo");
		for (const [n] of called.entries()) {
			server.prompt("hi", `prompt-${n}`);
			expect(await server.response(`prompt-${n}`)).toMatchObject({ result: { status: "finished" } });
		}
		expect(await endsInTime(server, () => server.endInput())).toBe(0);
	});

	it("is no AGENTS.md and no skill", async () => {
		const stage = createStage();
		const skill = path.join(stage.shareDir, "skills", "s");
		mkdirSync(skill, { recursive: true });
		for (const file of [path.join(stage.workDir, "AGENTS.md"), path.join(skill, "SKILL.md")]) {
			execFileSync("mkfifo", [file]);
		}
		const server = stage.serve("--wire");
		server.prompt("hi");
		expect(await server.response("prompt")).toMatchObject({ result: { status: "finished" } });
		expect(await endsInTime(server, () => server.endInput())).toBe(0);
	});

	it.each(["config.toml", "mcp.json"])("is refused as %s, which the start reports", async (name) => {
		const stage = createStage();
		const file = path.join(stage.shareDir, name);
		rmSync(file, { force: true });
		execFileSync("mkfifo", [file]);
		const { code, stderr } = await stage.run("--wire");
		expect(code).toBe(1);
		expect(stderr).toContain(`not a regular file, read '${file}'`);
	});

	it("may be a pipe where a flag names it, and the wait for it can be stopped", async () => {
		const stage = createStage();
		const pipe = path.join(stage.workDir, "pipe.json");
		execFileSync("mkfifo", [pipe]);
		const waiting = stage.serve("--wire", "--config-file", pipe);
		await vi.waitFor(() => expect(isOpen(waiting.pid, pipe)).toBe(true), { timeout: 5000, interval: 20 });
		expect(await endsInTime(waiting, () => waiting.kill("SIGTERM"))).toBe(0);
		const server = stage.serve("--wire", "--config-file", pipe);
		writeFileSync(pipe, stage.configText);
		server.prompt("hi");
		expect(await server.response("prompt")).toMatchObject({ result: { status: "finished" } });
	});
});
