// The published SDK of Claude in TypeScript, unmodified, with this executable in the place of the one it was made for.
// `AGENTWIRE_CLAUDE_SDK` names the directory of the package: `npm install @anthropic-ai/claude-agent-sdk`.
import { execFile } from "node:child_process";
import { appendFileSync, existsSync, symlinkSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { createStage, executablePath, type StageOptions, toolCall } from "../support/executable/executable.ts";

const sdk = process.env["AGENTWIRE_CLAUDE_SDK"] ?? "";
if (sdk === "") console.warn("skipped: the Claude SDK (AGENTWIRE_CLAUDE_SDK names no package)");

const scenario = fileURLToPath(new URL("../fixtures/claude/scenario.mjs", import.meta.url));
const run = promisify(execFile);

/** Plays a scenario of the fixture; what it reports. */
async function play(name: string, scripts: readonly string[], options: StageOptions = {}, settings = "") {
	const stage = createStage({ scripts, ...options });
	appendFileSync(path.join(stage.shareDir, "config.toml"), settings);
	const executable = path.join(stage.shareDir, "agentwire-claude");
	symlinkSync(executablePath, executable);
	const { stdout } = await run(process.execPath, [scenario, sdk, executable, stage.workDir, name], {
		env: { ...stage.environment, PATH: process.env["PATH"] },
	});
	const has = (file: string) => existsSync(path.join(stage.workDir, file));
	return { seen: JSON.parse(stdout) as unknown, has };
}

const touch = (id: string, file: string) => toolCall(id, "Shell", { command: `touch ${file}` });
const sleep = toolCall("c1", "Shell", { command: "sleep 600" });
const write = toolCall("c2", "WriteFile", { path: "a.txt", content: "x" });
const add = toolCall("c1", "mcp__calc__add", {});
const image = { modelSettings: { capabilities: ["image_in"] } };
const dollars = "\n[models.m.price]\ninput = 1\noutput = 1000\n";

const finished = { texts: ["ok"], subtype: "success", answer: "ok", count: 1 };

describe.skipIf(sdk === "")("the TypeScript SDK", { timeout: 60_000 }, () => {
	it.each([
		["text", ["text: ok"], { ...finished, first: "system/init", last: "result/success", turns: 1, denials: [] }],
		["prompt-hook", ["text: ok"], { texts: [], subtype: "success", answer: "no prompts", turns: 0 }],
		["two-turns", ["text: one", "text: two"], { texts: ["one", "two"], answer: "two", count: 2 }],
		["resume", ["text: ok"], { same: [true, true, true, false] }],
		["resume-unknown", ["text: ok"], { texts: [], subtype: "error_during_execution", count: 1 }],
		["structured", ['text: {"a":1}'], { structured: { a: 1 }, subtype: "success" }],
		["structured", ["text: no", 'text: {"a":2}'], { structured: { a: 2 }, subtype: "success" }],
		["kill", [sleep], { tools: ["Bash"], count: 0, error: "Claude Code process aborted by user" }],
		["interrupt", [sleep], { tools: ["Bash"], subtype: "error_during_execution", count: 1 }],
		["own-tool", [add, "text: ok"], { ...finished, calls: 1, offered: true, denials: [] }],
		["own-tool-rejected", [add, "text: ok"], { ...finished, calls: 0, denials: ["mcp__calc__add"] }],
	])("%s", async (name, scripts, expected) => {
		expect((await play(name, scripts)).seen).toMatchObject(expected);
	});

	it("image", async () => {
		expect((await play("image", ["text: ok"], image)).seen).toMatchObject(finished);
	});

	it("partial messages", async () => {
		const { seen } = await play("partial", ["text: ok"]);
		const deltas = ["message_start", "content_block_start", "content_block_delta", "content_block_stop"];
		expect(seen).toMatchObject({ ...finished, deltas: [...deltas, "message_delta", "message_stop"] });
	});

	it.each([
		["approve", true, []],
		["reject", false, ["Bash"]],
		["no-callback", false, ["Bash"]],
		["changed-input", false, ["Bash"]],
		["bypass", true, []],
		["allowed-rule", true, []],
		["denied-rule", false, []],
	])("%s", async (name, isMade, denials) => {
		const { seen, has } = await play(name, [touch("c1", "made"), "text: ok"]);
		expect(seen).toMatchObject({ ...finished, tools: ["Bash"], results: 1, denials });
		expect(has("made")).toBe(isMade);
		expect(has("other")).toBe(false);
		if (name === "reject" || name === "changed-input") expect(seen).toMatchObject({ told: true });
	});

	it("shows what an approval for the session would cover, and does not ask again", async () => {
		const { seen } = await play("approve", [touch("c1", "made"), "text: ok"]);
		const rules = [{ toolName: "Bash", ruleContent: "touch:*" }];
		const suggestion = { type: "addRules", rules, behavior: "allow", destination: "session" };
		expect(seen).toMatchObject({ asked: [["Bash", { command: "touch made" }, [suggestion]]] });
		const { seen: twice, has } = await play("approve-session", [touch("c1", "one"), touch("c2", "two"), "text: ok"]);
		expect(twice).toMatchObject({ ...finished, asked: ["Bash"] });
		expect(has("two")).toBe(true);
	});

	it("interrupts the turn with a rejection that says so", async () => {
		const { seen, has } = await play("reject-interrupt", [touch("c1", "made"), "text: ok"]);
		expect(seen).toMatchObject({ texts: [], subtype: "error_during_execution", denials: ["Bash"] });
		expect(has("made")).toBe(false);
	});

	it("accepts edits and nothing else", async () => {
		const { seen, has } = await play("accept-edits", [write, touch("c1", "made"), "text: ok"]);
		expect(seen).toMatchObject({ ...finished, denials: ["Bash"] });
		expect([has("a.txt"), has("made")]).toEqual([true, false]);
	});

	it("runs hooks under the client's names, and obeys one that blocks", async () => {
		const { seen, has } = await play("hooks", [touch("c1", "made"), write, "text: ok"]);
		expect(seen).toMatchObject({
			...finished,
			told: true,
			calls: [
				["UserPromptSubmit", "do", null],
				["PreToolUse", "Bash", "c1"],
				["PreToolUse", "Write", "c2"],
				["PostToolUse", "Write", "c2"],
				["Stop", null, null],
			],
		});
		expect([has("made"), has("a.txt")]).toEqual([false, true]);
	});

	it("rewinds files to a prompt of a session whose id the client chose", async () => {
		const { seen, has } = await play("rewind", [touch("c1", "made"), write, "text: ok"]);
		const filesChanged = [expect.stringMatching(/^\/.*\/a\.txt$/), expect.stringMatching(/^\/.*\/made$/)];
		const rewound = { canRewind: true, filesChanged, insertions: 0, deletions: 1 };
		const session = "0b7d4c5e-3f21-4a86-9c1d-5e2f7a90b3c4";
		expect(seen).toMatchObject({ ...finished, dry: rewound, done: rewound, session });
		expect([has("made"), has("a.txt")]).toEqual([false, false]);
	});

	it("asks a question as a tool call", async () => {
		const questions = [{ question: "Which?", header: "x", options: [{ label: "A" }, { label: "B" }] }];
		const { seen } = await play("question", [toolCall("c1", "AskUserQuestion", { questions }), "text: ok"]);
		const asked = { questions: [{ ...questions[0], multiSelect: false }] };
		expect(seen).toMatchObject({ ...finished, asked: [["AskUserQuestion", asked]], told: true });
	});

	it("ends a turn at its limit of model calls, and at its budget", async () => {
		const scripts = [touch("c1", "one"), touch("c2", "two"), "text: ok"].map((each) => `usage: output=10\n${each}`);
		expect((await play("max-turns", scripts)).seen).toMatchObject({ subtype: "error_max_turns", turns: 1 });
		expect((await play("budget", scripts, {}, dollars)).seen).toMatchObject({
			subtype: "error_max_budget_usd",
			count: 1,
		});
		// Without a price nobody could tell.
		expect((await play("budget", scripts)).seen).toMatchObject({ subtype: "error_during_execution", turns: 0 });
	});

	it("answers control requests, or refuses them", async () => {
		const { seen } = await play("controls", ["text: ok"]);
		expect(seen).toMatchObject({
			answers: {
				// Earlier releases return nothing.
				mode: expect.toBeOneOf([{ mode: "acceptEdits" }, "done"]),
				model: "done",
				unknownModel: expect.stringContaining("no-such-model"),
				thinking: "done",
				mcp: [],
				models: [{ value: "m" }],
				rewind: expect.stringContaining("some-id"),
			},
		});
	});
});
