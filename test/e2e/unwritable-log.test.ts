// A log that cannot be written holds nothing up: no start, no turn, no end, and no message to the person.
import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { createStage, type Stage } from "../support/executable/executable.ts";

type Obstacle = readonly [name: string, place: (logs: string) => void];

const logFile = "agentwire.log";
const obstacles: readonly Obstacle[] = [
	["a link to a full device", (logs) => symlinkSync("/dev/full", path.join(logs, logFile))],
	["a FIFO without a reader", (logs) => void execFileSync("mkfifo", [path.join(logs, logFile)])],
	["a directory", (logs) => mkdirSync(path.join(logs, logFile))],
	["a link to a terminal that is not there", (logs) => symlinkSync("/dev/tty", path.join(logs, logFile))],
	["a link to itself", (logs) => symlinkSync(logFile, path.join(logs, logFile))],
	[
		"below a file",
		(logs) => {
			rmSync(logs, { recursive: true });
			writeFileSync(logs, "in the way");
		},
	],
	["in a directory that nobody may use", (logs) => chmodSync(logs, 0)],
	[
		"full, and cannot be set aside",
		(logs) => {
			writeFileSync(path.join(logs, logFile), Buffer.alloc(11 * 1024 * 1024));
			mkdirSync(path.join(logs, `${logFile}.1`));
			writeFileSync(path.join(logs, `${logFile}.1`, "kept"), "");
			for (let n = 2; n <= 5; n += 1) mkdirSync(path.join(logs, `${logFile}.${n}`, "kept"), { recursive: true });
		},
	],
];

function createStageWith(place: Obstacle[1]): Stage {
	const stage = createStage();
	const logs = path.join(stage.shareDir, "logs");
	mkdirSync(logs);
	place(logs);
	return stage;
}

async function withinTwoSeconds<T>(work: () => Promise<T>): Promise<T> {
	const before = performance.now();
	const value = await work();
	expect(performance.now() - before).toBeLessThan(2000);
	return value;
}

describe.skipIf(process.platform !== "linux").each(obstacles)("a log that is %s", (_name, place) => {
	it.each(["the end of input", "SIGTERM"] as const)("lets a turn run and the process end by %s", async (how) => {
		const stage = createStageWith(place);
		const server = stage.serve("--wire", "--debug");
		server.prompt("hi");
		expect(await server.response("prompt")).toMatchObject({ result: { status: "finished" } });
		const code = await withinTwoSeconds(() => {
			if (how === "SIGTERM") server.kill("SIGTERM");
			else server.endInput();
			return server.exited;
		});
		expect(code).toBe(0);
		expect(server.stderr).toContain("To resume this session");
	});

	it("lets a person read why the program does not start", async () => {
		const stage = createStageWith(place);
		const finished = await withinTwoSeconds(() => stage.run("--wire", "--config", "{"));
		expect(finished.code).not.toBe(0);
		expect(finished.stderr).not.toBe("");
	});
});

it("a log whose directory is removed while it is written delays nothing", async () => {
	const stage = createStage({ scripts: ["text: a", "text: b"] });
	const server = stage.serve("--wire", "--debug");
	server.prompt("hi");
	await server.response("prompt");
	rmSync(path.join(stage.shareDir, "logs"), { recursive: true, force: true });
	server.prompt("more", "second");
	expect(await server.response("second")).toMatchObject({ result: { status: "finished" } });
	server.endInput();
	expect(await withinTwoSeconds(() => server.exited)).toBe(0);
});

it("what is logged last is in the log when the process has ended", async () => {
	const stage = createStage();
	const finished = await stage.run("--wire", "--config", "{");
	expect(finished.code).not.toBe(0);
	const log = path.join(stage.shareDir, "logs", logFile);
	expect(existsSync(log)).toBe(true);
	expect(readFileSync(log, "utf8")).toContain("The start failed.");
});
