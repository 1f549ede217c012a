// A drive that hangs: whatever reads it, the turn can be cancelled, other files are read and written, and the process ends
// in time.
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it, vi } from "vitest";
import {
	createStage,
	executablePath,
	type Stage,
	type StageOptions,
	toolCall,
} from "../support/executable/executable.ts";
import { endsInTime, type Server } from "../support/executable/running-server.ts";

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
