// The published Codex SDK for Python, unmodified. `AGENTWIRE_CODEX_PYTHON` names a Python in which it is installed:
// `pip install --no-deps openai-codex==0.163.0`, with pydantic and packaging.
import { execFile } from "node:child_process";
import { existsSync, symlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { hasSandbox } from "../support/executable/bubblewrap.ts";
import { createStage, databaseUrl, executablePath, type Stage, toolCall } from "../support/executable/executable.ts";

const python = process.env["AGENTWIRE_CODEX_PYTHON"] ?? "";
if (python === "") console.warn("skipped: the Codex SDK for Python (AGENTWIRE_CODEX_PYTHON names no Python)");

const scenario = fileURLToPath(new URL("../fixtures/codex/scenario.py", import.meta.url));
const run = promisify(execFile);

/** Plays a scenario of the fixture through a link named `codex`; what it reports. */
async function play(stage: Stage, name: string): Promise<unknown> {
	const link = path.join(stage.workDir, "..", "codex");
	symlinkSync(executablePath, link);
	const { stdout } = await run(python, [scenario, link, stage.workDir, name], {
		env: { ...stage.environment, PATH: process.env["PATH"] },
	});
	return JSON.parse(stdout);
}

describe.skipIf(python === "")("the Codex SDK for Python", () => {
	it("runs turns, and lists, reads, names, forks, archives and resumes threads", { timeout: 60_000 }, async () => {
		const scripts = ["usage: input_other=5 output=2\nthink: hm\ntext: hello", "text: again"];
		expect(await play(createStage({ scripts }), "turns")).toEqual({
			server: expect.stringMatching(/^agentwire-codex-protocol\/\d+\.\d+\.\d+ \(agentwire /),
			answer: "hello",
			usage: expect.objectContaining({ inputTokens: 5, outputTokens: 2, totalTokens: 7 }),
			items: ["userMessage", "reasoning", "agentMessage"],
			listed: [[true, "A name"]],
			turns: [["userMessage", "reasoning", "agentMessage"]],
			forked: true,
			archived: [[true], true, []],
			again: [true, "again"],
			reverted: [true],
			models: [["m", true]],
			account: false,
		});
	});

	it("is asked about commands and changes", { timeout: 60_000 }, async () => {
		const stage = createStage();
		writeFileSync(path.join(stage.workDir, "a.txt"), "old\n");
		const edit = { path: "a.txt", edit: { old: "old", new: "new" } };
		stage.setScripts([
			toolCall("c1", "StrReplaceFile", edit),
			toolCall("c2", "Shell", { command: "touch two" }),
			toolCall("c3", "Shell", { command: "touch three" }),
			toolCall("c4", "Shell", { command: "mkdir four" }),
			"text: not reached",
		]);
		const diff = "@@ -1,1 +1,1 @@\n-old\n+new\n";
		const change = { path: path.join(stage.workDir, "a.txt"), kind: { type: "update", move_path: null }, diff };
		const command = (id: string, text: string, status: string) =>
			expect.objectContaining({ type: "commandExecution", id, command: text, status });
		expect(await play(stage, "approvals")).toEqual({
			asked: [
				{ method: "item/fileChange/requestApproval", command: null },
				{ method: "item/commandExecution/requestApproval", command: "touch two" },
				{ method: "item/commandExecution/requestApproval", command: "touch three" },
				{ method: "item/commandExecution/requestApproval", command: "mkdir four" },
			],
			status: "interrupted",
			items: [
				expect.objectContaining({ type: "userMessage" }),
				{ type: "fileChange", id: "c1", status: "completed", changes: [change] },
				command("c2", "touch two", "declined"),
				command("c3", "touch three", "completed"),
				command("c4", "mkdir four", "declined"),
			],
		});
		const made = ["two", "three", "four"].map((name) => existsSync(path.join(stage.workDir, name)));
		expect(made).toEqual([false, true, false]);
	});

	it("answers questions and calls of its own tools", { timeout: 60_000 }, async () => {
		const questions = [{ question: "Which?", header: "H", options: [{ label: "A" }, { label: "B" }] }];
		const stage = createStage();
		stage.setScripts([
			toolCall("c1", "AskUserQuestion", { questions }),
			toolCall("c2", "lookup", { key: "k" }),
			"text: one\ntext: two",
		]);
		const text = (value: string) => expect.stringContaining(value);
		expect(await play(stage, "answers")).toEqual({
			asked: ["item/tool/requestUserInput", "item/tool/call"],
			deltas: "onetwo",
			items: [
				expect.objectContaining({ type: "userMessage" }),
				expect.objectContaining({
					type: "mcpToolCall",
					tool: "AskUserQuestion",
					result: expect.objectContaining({ content: [{ type: "text", text: text('"B"') }] }),
				}),
				expect.objectContaining({
					type: "dynamicToolCall",
					tool: "lookup",
					success: true,
					contentItems: [{ type: "inputText", text: "found k" }],
				}),
				expect.objectContaining({ type: "agentMessage", text: "onetwo" }),
			],
		});
	});

	it.skipIf(!hasSandbox())("confines what nobody is asked about", { timeout: 60_000 }, async () => {
		const stage = createStage();
		const outside = path.join(stage.workDir, "..", "outside");
		stage.setScripts([
			toolCall("c1", "Shell", { command: "touch inside" }),
			toolCall("c2", "WriteFile", { path: outside, content: "x" }),
			"text: done",
		]);
		expect(await play(stage, "never")).toMatchObject({
			asked: [],
			sandbox: "workspaceWrite",
			items: [
				{ type: "userMessage" },
				{ type: "commandExecution", status: "completed", exitCode: 0 },
				{ type: "fileChange", status: "declined" },
				{ type: "agentMessage", text: "done" },
			],
		});
		expect([existsSync(path.join(stage.workDir, "inside")), existsSync(outside)]).toEqual([true, false]);
	});

	it("steers and interrupts", { timeout: 60_000 }, async () => {
		const stage = createStage({ scripts: [toolCall("c1", "Shell", { command: "sleep 600" }), "text: done"] });
		expect(await play(stage, "interrupt")).toEqual({
			status: "interrupted",
			steered: true,
			wrong: [-32_600, "no active turn to act on"],
		});
		await expect.poll(() => stage.commands().filter((command) => command.includes("sleep"))).toEqual([]);
	});

	// The SDK wants sessions on disk.
	it.skipIf(databaseUrl !== undefined)("reaches, gets stuck with and cancels goals", { timeout: 60_000 }, async () => {
		const stage = createStage({
			scripts: [
				toolCall("c1", "Shell", { command: "echo one" }),
				"text: one",
				toolCall("c2", "UpdateGoal", { status: "complete" }),
				"text: two",
				"text: three",
				"text: four",
				toolCall("c3", "Shell", { command: "sleep 600" }),
			],
		});
		expect(await play(stage, "goals")).toEqual({
			reached: { said: ["one", "two"], turn: [true, "completed"], goal: "complete" },
			stuck: { said: ["three", "four"], turn: [true, "completed"], goal: "blocked" },
			cancelled: { said: [], turn: [true, "interrupted"], goal: "paused" },
			cleared: [true, false],
		});
	});

	it("is refused what is not served, by name", { timeout: 60_000 }, async () => {
		expect(await play(createStage(), "refusals")).toEqual([
			[-32_600, expect.stringContaining("The sandbox read-only is not in force")],
			[-32_600, expect.stringContaining("ephemeral is not supported")],
			[-32_600, expect.stringContaining("thread not found: x")],
			[-32_600, expect.stringContaining("thread not found: gone")],
			[-32_602, expect.stringContaining("Invalid params of turn/start")],
			[-32_601, expect.stringContaining("account/login/start is not served here")],
		]);
	});
});
