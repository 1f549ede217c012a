// The Agent Client Protocol with the official Python client and with acplint. `AGENTWIRE_ACP_PYTHON` names a Python in which
// both are installed: `pip install agent-client-protocol==0.12.1 acplint==0.1.0`.
import { execFile } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import * as v from "valibot";
import { describe, expect, it } from "vitest";
import { createStage, executablePath, type Stage, toolCall } from "../support/executable/executable.ts";

const python = process.env["AGENTWIRE_ACP_PYTHON"] ?? "";
if (python === "") console.warn("skipped: editors in Python (AGENTWIRE_ACP_PYTHON names no Python)");

const scenario = fileURLToPath(new URL("../fixtures/acp/scenario.py", import.meta.url));
const run = promisify(execFile);
const shell = (id: string) => toolCall(id, "Shell", { command: `touch ${id}` });

/** Plays a scenario of the fixture; what it reports. */
async function play(stage: Stage, name: string): Promise<unknown> {
	const { stdout } = await run(python, [scenario, executablePath, stage.workDir, name], {
		env: { ...stage.environment, PATH: process.env["PATH"] },
	});
	return JSON.parse(stdout);
}

describe.skipIf(python === "")("the Python client", () => {
	it("prompts, decides, cancels, chooses, lists and loads", { timeout: 60_000 }, async () => {
		const scripts = ["think: hm\ntext: hello", shell("c1"), "text: done", shell("c2"), shell("c3"), shell("c4")];
		const stage = createStage({ scripts });
		expect(await play(stage, "run")).toEqual({
			version: 1,
			answers: ["end_turn", "end_turn", "end_turn", "end_turn"],
			titles: ["touch c1", "touch c2", "touch c3"],
			cancelled: "cancelled",
			mode: "yolo",
			kinds: expect.arrayContaining(["agent_message_chunk", "agent_thought_chunk", "tool_call", "tool_call_update"]),
			listed: [true],
			loaded: 5,
			unknown: -32_002,
		});
	});

	it("provides files and forms, allows for the session, steers and forks", { timeout: 60_000 }, async () => {
		const edit = { path: "a.txt", edit: { old: "unsaved", new: "changed" } };
		const questions = [{ question: "Which?", options: [{ label: "A" }, { label: "B" }] }];
		const scripts = [
			toolCall("c1", "StrReplaceFile", edit),
			"text: edited",
			toolCall("c2", "AskUserQuestion", { questions }),
			"text: asked",
			toolCall("c3", "Shell", { command: "touch a" }),
			toolCall("c4", "Shell", { command: "touch a" }),
			"text: touched",
		];
		const stage = createStage({ scripts });
		writeFileSync(path.join(stage.workDir, "a.txt"), "saved\n");
		expect(await play(stage, "provide")).toEqual({
			"signed in": true,
			answers: ["end_turn", "end_turn", "end_turn"],
			steering: { outcome: "promptRequired" },
			fork: [true, "end_turn"],
			// The fork begins with the first script again.
			titles: ["Edit a.txt", "touch a", "Edit a.txt"],
			diffs: [
				["unsaved", "changed"],
				["unsaved", "changed"],
			],
			written: [
				["a.txt", "changed\n"],
				["a.txt", "changed\n"],
			],
			forms: ["Which?"],
		});
		expect(readFileSync(path.join(stage.workDir, "a.txt"), "utf8")).toBe("saved\n");
	});
});

/**
 * What acplint 0.1.0 finds that is not ours: it speaks of a protocol that never was. It asks for the version "1" as a text,
 * sends prompts as `content` in the place of `prompt`, which are refused, and waits for what such a prompt would bring; it
 * knows updates by names like `agentMessageChunk`, and wants a `label` of a config option. It signs out whether or not
 * that is offered and anybody is signed in.
 */
const notOurs = [
	"initialize_v1",
	"logout",
	"protocol_version_returned",
	"new_session",
	"agent_message_chunk_received",
	"prompt_stop_reason",
	"schema_initialize",
	"schema_session_new",
];

const reportSchema = v.object({
	results: v.array(v.object({ name: v.string(), status: v.string(), message: v.nullish(v.string()) })),
});

describe.skipIf(python === "")("acplint", () => {
	it("finds nothing that is ours", { timeout: 120_000 }, async () => {
		const stage = createStage({ scripts: Array.from({ length: 50 }, () => "text: hello") });
		const file = path.join(stage.workDir, "..", "report.json");
		const argv = ["--agent", executablePath, "--agent-args", "acp", "--cwd", stage.workDir, "--timeout", "2"];
		await run(path.join(path.dirname(python), "acplint"), [...argv, "--output", "json", "--output-file", file], {
			env: { ...stage.environment, PATH: process.env["PATH"] },
			// Its exit code says that there are findings.
		}).catch(() => {});
		const { results } = v.parse(reportSchema, JSON.parse(readFileSync(file, "utf8")));
		expect(results.length).toBeGreaterThan(30);
		const failed = results.filter(({ status }) => status === "FAIL" || status === "ERROR");
		expect(failed.filter(({ name }) => !notOurs.includes(name))).toEqual([]);
	});
});
