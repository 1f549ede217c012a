// Node opens a debugger, to everybody on the machine, when a process gets SIGUSR1. Ours do not.
import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { describe, expect, it, vi } from "vitest";
import { createStage, executablePath, type Stage, toolCall } from "../support/executable/executable.ts";

/** Sockets of the process that wait for connections. */
function listeners(pid: number): string[] {
	const own = new Set(
		readdirSync(`/proc/${pid}/fd`).map((name) => {
			try {
				return readlinkSync(`/proc/${pid}/fd/${name}`);
			} catch {
				return "";
			}
		}),
	);
	return ["tcp", "tcp6"].flatMap((table) =>
		readFileSync(`/proc/${pid}/net/${table}`, "utf8")
			.split("\n")
			.map((line) => line.trim().split(/\s+/))
			.filter(([, , , state, , , , , , inode]) => state === "0A" && own.has(`socket:[${inode}]`))
			.map(([, address = ""]) => address),
	);
}

/** The id of the process of the stage whose command has this word. */
function processOf(stage: Stage, word: string): number {
	const mark = `AGENTWIRE_STAGE=${stage.environment["AGENTWIRE_STAGE"]}`;
	const found = readdirSync("/proc").filter((name) => {
		try {
			const environment = readFileSync(`/proc/${name}/environ`, "utf8");
			return environment.includes(mark) && readFileSync(`/proc/${name}/cmdline`, "utf8").includes(word);
		} catch {
			return false;
		}
	});
	return Number(found[0] ?? "0");
}

/** Asks it again and again: it takes a moment until somebody listens. */
async function staysClosed(pid: number): Promise<void> {
	for (let n = 0; n < 10; n += 1) {
		process.kill(pid, "SIGUSR1");
		await new Promise((resolve) => setTimeout(resolve, 20));
		expect(listeners(pid)).toEqual([]);
	}
}

describe.skipIf(process.platform !== "linux")("SIGUSR1", () => {
	it.each([["--wire"], ["rpc"]])("opens no debugger in a server (%s)", async (mode) => {
		const stage = createStage();
		const server = mode === "rpc" ? stage.serveAs(executablePath, "rpc") : stage.serve(mode);
		server.request("1", "initialize", { protocol_version: "1.10" });
		await server.response("1");
		await staysClosed(server.pid);
		expect(server.stderr).not.toContain("Debugger");
		server.endInput();
		expect(await server.exited).toBe(0);
	});

	it("opens none in the worker of a background command", async () => {
		const command = { command: "sleep 1000", run_in_background: true, description: "job", timeout: 3600 };
		const stage = createStage({ scripts: [toolCall("c", "Shell", command), "text: ok"] });
		const server = stage.serve("--wire", "--yolo");
		server.prompt("hi");
		await server.response("prompt");
		await vi.waitFor(() => expect(stage.commands().join()).toContain("sleep 1000"), { timeout: 5000, interval: 20 });
		const worker = processOf(stage, "task-worker");
		expect(worker).toBeGreaterThan(0);
		await staysClosed(worker);
	});
});
