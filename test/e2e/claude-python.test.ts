// The published SDK of Claude in Python, unmodified. `AGENTWIRE_CLAUDE_PYTHON` names a Python in which it is installed:
// `pip install claude-agent-sdk`.
import { execFile } from "node:child_process";
import { existsSync, symlinkSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { createStage, executablePath, toolCall } from "../support/executable/executable.ts";

const python = process.env["AGENTWIRE_CLAUDE_PYTHON"] ?? "";
if (python === "") console.warn("skipped: the Claude SDK in Python (AGENTWIRE_CLAUDE_PYTHON names no Python)");

const scenario = fileURLToPath(new URL("../fixtures/claude/scenario.py", import.meta.url));
const run = promisify(execFile);

/** Plays a scenario of the fixture; what it reports. */
async function play(name: string, scripts: readonly string[]) {
	const stage = createStage({ scripts });
	const executable = path.join(stage.shareDir, "agentwire-claude");
	symlinkSync(executablePath, executable);
	const { stdout } = await run(python, [scenario, executable, stage.workDir, name], {
		env: { ...stage.environment, PATH: process.env["PATH"] },
	});
	const has = (file: string) => existsSync(path.join(stage.workDir, file));
	return { seen: JSON.parse(stdout) as unknown, has };
}

const touch = (id: string, file: string) => toolCall(id, "Shell", { command: `touch ${file}` });
const sleep = toolCall("c1", "Shell", { command: "sleep 600" });
const write = toolCall("c2", "WriteFile", { path: "a.txt", content: "x" });
const add = toolCall("c1", "mcp__calc__add", { a: 1, b: 2 });
const finished = { texts: ["ok"], subtype: "success", answer: "ok", count: 1 };

describe.skipIf(python === "")("the Python SDK", { timeout: 60_000 }, () => {
	it.each([
		["text", ["text: ok"], { ...finished, error: null }],
		["system-prompt", ["text: ok"], { ...finished, error: null }],
		["two-turns", ["text: one", "text: two"], { texts: ["one", "two"], count: 2 }],
		["structured", ['text: {"a":1}'], { structured: { a: 1 }, error: null }],
		["partial", ["text: ok"], { ...finished, streamed: true }],
		["interrupt", [sleep], { tools: ["Bash"], subtype: "error_during_execution", count: 1 }],
		["own-tool", [add, "text: ok"], { ...finished, calls: [{ a: 1, b: 2 }] }],
		["own-tool-unapproved", [add, "text: ok"], { ...finished, calls: [] }],
		["max-turns", [touch("c1", "one"), touch("c2", "two")], { subtype: "error_max_turns", turns: 1 }],
		["refused", ["text: ok"], { failed: true, count: 0 }],
	])("%s", async (name, scripts, expected) => {
		expect((await play(name, scripts)).seen).toMatchObject(expected);
	});

	it("resumes, continues and forks", async () => {
		expect((await play("resume", ["text: ok"])).seen).toEqual([true, true, true, false]);
	});

	it.each([
		["approve", true],
		["reject", false],
		["changed-input", false],
		["no-callback", false],
		["bypass", true],
		["mode", true],
		["rules", true],
		["hooks", false],
		["allowing-hook", true],
	])("%s", async (name, isMade) => {
		const { seen, has } = await play(name, [touch("c1", "made"), "text: ok"]);
		expect(seen).toMatchObject({ ...finished, tools: ["Bash"], results: 1 });
		expect([has("made"), has("other")]).toEqual([isMade, false]);
		if (["reject", "changed-input", "hooks"].includes(name)) expect(seen).toMatchObject({ told: true });
	});

	it("rewinds files", async () => {
		const { seen, has } = await play("rewind", [touch("c1", "made"), "text: ok"]);
		expect(seen).toMatchObject({ ...finished, errors: [expect.stringContaining("unknown")] });
		expect(has("made")).toBe(false);
	});

	it("approves for the session", async () => {
		const { seen, has } = await play("approve-session", [touch("c1", "one"), touch("c2", "two"), "text: ok"]);
		expect(seen).toMatchObject({ ...finished, asked: ["Bash"] });
		expect(has("two")).toBe(true);
	});

	it("accepts edits and nothing else", async () => {
		const { has } = await play("accept-edits", [write, touch("c1", "made"), "text: ok"]);
		expect([has("a.txt"), has("made")]).toEqual([true, false]);
	});
});
