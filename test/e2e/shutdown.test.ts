// How the process ends, whoever ends it and whatever it is doing: everything is settled and nothing outlives it.
import { appendFileSync, existsSync } from "node:fs";
import path from "node:path";
import { describe, expect, it, vi } from "vitest";
import { createStage, type Stage, toolCall } from "../support/executable/executable.ts";
import { isResponse, outline, type Server } from "../support/executable/running-server.ts";

const shellCall = (command: string) => toolCall("call-1", "Shell", { command });
/** More than fits between the server and a client that does not read. */
const longScript = Array.from({ length: 20_000 }, (_, n) => `text: part ${n} of a long answer`).join("\n");

type Ending = readonly [name: string, end: (server: Server) => void];
const endings: readonly Ending[] = [
	["the end of input", (server) => server.endInput()],
	["SIGINT", (server) => server.kill("SIGINT")],
	["SIGTERM", (server) => server.kill("SIGTERM")],
];

describe.each(endings)("%s", (_name, end) => {
	/** Ends the server, reads what it still says and checks code and time. */
	async function endAndRead(server: Server) {
		const before = performance.now();
		end(server);
		const lines = await server.readAll();
		expect(await server.exited).toBe(0);
		expect(performance.now() - before).toBeLessThan(2000);
		return lines;
	}
	const cancelled = { jsonrpc: "2.0", id: "prompt", result: { status: "cancelled" } };

	it("when idle: ends with 0 and keeps the session", async () => {
		const stage = createStage();
		const server = stage.serve("--wire", "--session", "s");
		server.prompt("hi");
		await server.response("prompt");
		expect(await endAndRead(server)).toEqual([]);
		expect(server.stderr).toContain("-r s");
		expect(stage.lastSessionId()).toBe("s");
	});

	it("while the answer streams: cancels and answers", async () => {
		const stage = createStage({ scripts: [longScript] });
		const server = stage.serve("--wire", "--session", "s");
		server.prompt("hi");
		await server.message("ContentPart");
		server.pause();
		setImmediate(() => server.resume());
		const lines = await endAndRead(server);
		expect(outline(lines.slice(-2))).toEqual(["TurnEnd", "cancelled"]);
		expect(lines.at(-1)).toEqual(cancelled);
		expect(stage.loggedTypes("s").at(-1)).toBe("TurnEnd");
	});

	it("during a tool: ends its processes, cancels and answers", async () => {
		const stage = createStage({ scripts: [shellCall("sleep 1000 & sleep 1000")] });
		const server = stage.serve("--wire", "--yolo", "--session", "s");
		server.prompt("hi");
		await server.message("ToolCall");
		await twoSleeps(stage);
		const lines = await endAndRead(server);
		expect(outline(lines)).toEqual([...statusOnly(lines), "TurnEnd", "cancelled"]);
		expect(lines.at(-1)).toEqual(cancelled);
		await nothingRuns(stage);
	});

	it("while a hook of the start runs: ends it, and answers", async () => {
		const stage = createStage();
		const settings = path.join(stage.shareDir, "config.toml");
		const begun = path.join(stage.workDir, "begun");
		const hook = `touch ${begun}; sleep 1000 & sleep 1000`;
		appendFileSync(settings, `\n[[hooks]]\nevent = "SessionStart"\ncommand = "${hook}"\ntimeout = 600\n`);
		const server = stage.serve("--wire", "--session", "s");
		server.initialize();
		await vi.waitFor(() => expect(existsSync(begun)).toBe(true), { timeout: 10_000, interval: 20 });
		const lines = await endAndRead(server);
		expect(lines).toHaveLength(1);
		expect(lines[0]).toMatchObject({ id: "initialize", result: { protocol_version: "1.10" } });
		await nothingRuns(stage);
	});

	it("during an approval: rejects it, cancels and answers", async () => {
		const stage = createStage({ scripts: [shellCall("echo no > file")] });
		const server = stage.serve("--wire", "--session", "s");
		server.prompt("hi");
		const { id } = await server.message("ApprovalRequest");
		const lines = await endAndRead(server);
		expect(outline(lines)).toEqual(["ApprovalResponse", "TurnEnd", "cancelled"]);
		expect(lines[0]?.params?.payload).toMatchObject({ request_id: id, response: "reject" });
		expect(lines.at(-1)).toEqual(cancelled);
		expect(existsSync(path.join(stage.workDir, "file"))).toBe(false);
		expect(stage.loggedTypes("s").at(-1)).toBe("TurnEnd");
	});
});

/** The status of the step may still be on its way. */
function statusOnly(lines: Parameters<typeof outline>[0]): string[] {
	return outline(lines).filter((type) => type === "StatusUpdate");
}

async function twoSleeps(stage: Stage): Promise<void> {
	if (process.platform !== "linux") return;
	const sleeps = () => stage.commands().filter((command) => command === "sleep 1000");
	await vi.waitFor(() => expect(sleeps()).toHaveLength(2), { timeout: 5000, interval: 20 });
}

async function nothingRuns(stage: Stage): Promise<void> {
	await vi.waitFor(() => expect(stage.commands()).toEqual([]), { timeout: 1000, interval: 20 });
}

describe("the other ways out", () => {
	it("cancel ends the processes of a tool and the server goes on", async () => {
		const stage = createStage({ scripts: [shellCall("sleep 1000 & sleep 1000"), "text: again"] });
		const server = stage.serve("--wire", "--yolo");
		server.prompt("hi");
		await server.message("ToolCall");
		await twoSleeps(stage);
		server.request("cancel", "cancel");
		const lines = await server.readUntil((line) => isResponse(line, "prompt"));
		expect(outline(lines)).toEqual([...statusOnly(lines), "result", "TurnEnd", "cancelled"]);
		await vi.waitFor(() => expect(stage.commands().filter((command) => command.includes("sleep"))).toEqual([]));
		server.prompt("more", "second");
		expect(await server.response("second")).toMatchObject({ result: { status: "finished" } });
	});

	it.each(["SIGTERM", "SIGKILL"] as const)("%s ends the processes of a tool that will not end", async (signal) => {
		const command = "trap '' TERM INT HUP; setsid sleep 1000 & sleep 1000; sleep 1000";
		const stage = createStage({ scripts: [shellCall(command)] });
		const server = stage.serve("--wire", "--yolo");
		server.prompt("hi");
		await server.message("ToolCall");
		await twoSleeps(stage);
		server.kill(signal);
		expect(await server.exited).toBe(signal === "SIGTERM" ? 0 : null);
		await nothingRuns(stage);
	});

	it("stdout closed by the client cancels the turn and ends with 1", async () => {
		const stage = createStage({ scripts: [longScript] });
		const server = stage.serve("--wire", "--session", "s");
		server.prompt("hi");
		await server.message("ContentPart");
		server.closeOutput();
		expect(await server.exited).toBe(1);
		expect(stage.loggedTypes("s").at(-1)).toBe("TurnEnd");
	});

	it("stdout closed by the client during a tool ends its processes", async () => {
		const stage = createStage({ scripts: [`${shellCall("sleep 1000 & sleep 1000")}\ntext: a`] });
		const server = stage.serve("--wire", "--yolo", "--session", "s");
		server.prompt("hi");
		await server.message("ToolCall");
		await twoSleeps(stage);
		server.closeOutput();
		// The writer of a pipe notices only when it writes.
		server.request("x", "unheard-of");
		expect(await server.exited).toBe(1);
		expect(stage.loggedTypes("s").at(-1)).toBe("TurnEnd");
		await nothingRuns(stage);
	});

	it("a client that does not read cannot delay it", async () => {
		const stage = createStage({ scripts: [longScript] });
		const server = stage.serve("--wire", "--session", "s");
		server.prompt("hi");
		await server.message("ContentPart");
		server.pause();
		const before = performance.now();
		server.kill("SIGTERM");
		expect(await server.gone).toBe(0);
		expect(performance.now() - before).toBeLessThan(2500);
		expect(stage.loggedTypes("s").at(-1)).toBe("TurnEnd");
	});

	it("two signals in a row end it once", async () => {
		const stage = createStage({ scripts: [shellCall("sleep 1000")] });
		const server = stage.serve("--wire", "--yolo");
		server.prompt("hi");
		await server.message("ToolCall");
		server.kill("SIGTERM");
		server.kill("SIGINT");
		const lines = await server.readAll();
		expect(outline(lines.slice(-2))).toEqual(["TurnEnd", "cancelled"]);
		expect(await server.exited).toBe(0);
	});
});
