// biome-ignore-all lint/suspicious/noTemplateCurlyInString: templates are written so.
// Agents of one's own, as the built executable runs them: their tools, their prompt, their subagents, their faults.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { createStage, type Stage, toolCall } from "../support/executable/executable.ts";

function write(stage: Stage, files: Readonly<Record<string, string>>): string {
	for (const [name, text] of Object.entries(files)) {
		const file = path.join(stage.workDir, name);
		mkdirSync(path.dirname(file), { recursive: true });
		writeFileSync(file, text);
	}
	return path.join(stage.workDir, "agents/agent.yaml");
}

/** The system prompt of a directory with a context. */
const promptOf = (directory: string): unknown =>
	JSON.parse(readFileSync(path.join(directory, "context.jsonl"), "utf8").split("\n")[0] ?? "").content;

describe("--agent-file", () => {
	it("takes a tool away and gives a prompt", async () => {
		const stage = createStage({ scripts: [toolCall("c1", "Shell", { command: "echo hi" }), "text: done"] });
		write(stage, {
			"agents/agent.yaml":
				"agent:\n  extend: default\n  system_prompt_path: prompt.md\n  exclude_tools: ['kimi_cli.tools.shell:Shell']\n",
			"agents/prompt.md": "You work in ${KIMI_WORK_DIR}.\n",
		});
		const server = stage.serve("--wire", "--session", "s", "--agent-file", "agents/agent.yaml");
		server.prompt("hi");
		expect((await server.message("ToolResult")).params?.payload).toMatchObject({
			tool_call_id: "c1",
			return_value: { is_error: true, message: "Tool `Shell` not found" },
		});
		expect(await server.response("prompt")).toMatchObject({ result: { status: "finished" } });
		server.endInput();
		expect(await server.exited).toBe(0);
		expect(promptOf(stage.sessionDir("s"))).toBe(`You work in ${stage.workDir}.`);
	});

	it("brings subagents", async () => {
		const report = `text: ${"The change is sound. ".repeat(12)}`;
		const call = { description: "review it", prompt: "Review the change.", subagent_type: "reviewer" };
		const stage = createStage({
			scripts: [
				toolCall("c1", "Agent", call),
				toolCall("c2", "WriteFile", { path: "a.txt", content: "a" }),
				report,
				"text: done",
			],
		});
		const file = write(stage, {
			"agents/agent.yaml":
				"agent:\n  extend: default\n  subagents:\n    reviewer: { path: ./reviewer.yaml, description: reviews a change. }\n",
			"agents/reviewer.yaml":
				"agent:\n  extend: default\n  system_prompt_path: reviewer.md\n  allowed_tools: ['kimi_cli.tools.file:ReadFile']\n",
			"agents/reviewer.md": "You review ${KIMI_WORK_DIR}.\n",
		});
		const server = stage.serve("--wire", "--session", "s", "--agent-file", file);
		server.prompt("review");
		const lines = await server.readUntil((line) => line.params?.type === "ToolResult");
		const delivered = lines.flatMap(({ params }) => (params?.type === "SubagentEvent" ? [params.payload] : []));
		expect(new Set(delivered.map((payload) => payload["subagent_type"]))).toEqual(new Set(["reviewer"]));
		expect(delivered.map((payload) => payload["event"])).toContainEqual(
			expect.objectContaining({
				type: "ToolResult",
				payload: expect.objectContaining({
					return_value: expect.objectContaining({ is_error: true, message: "Tool `WriteFile` not found" }),
				}),
			}),
		);
		expect(lines.at(-1)?.params?.payload).toMatchObject({
			tool_call_id: "c1",
			return_value: { is_error: false, output: expect.stringContaining("actual_subagent_type: reviewer") },
		});
		await server.response("prompt");
		server.endInput();
		expect(await server.exited).toBe(0);
		const subagents = path.join(stage.sessionDir("s"), "subagents");
		const [id = ""] = readdirSync(subagents);
		expect(promptOf(path.join(subagents, id))).toBe(`You review ${stage.workDir}.`);
	});

	it("with faults prevents the start, and all of them are reported", async () => {
		const stage = createStage();
		const file = write(stage, {
			"agents/agent.yaml": "agent:\n  tools: ['kimi_cli.tools.shell:Shell', 'my.tools:Nope', 'my.tools:Neither']\n",
		});
		const { code, stdout, stderr } = await stage.run("--wire", "--agent-file", file);
		expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
		expect(stderr).toContain(`${file}: agent.name: is required\n`);
		expect(stderr).toContain(`${file}: agent.system_prompt_path: is required\n`);
		expect(stderr).toContain(`${file}: agent.tools: Invalid tools: ['my.tools:Nope', 'my.tools:Neither']\n`);
		expect(stage.sessionIds()).toEqual([]);
	});

	it("names the line of a prompt that uses what is not defined", async () => {
		const stage = createStage();
		const file = write(stage, {
			"agents/agent.yaml": "agent: { extend: default, system_prompt_path: prompt.md }\n",
			"agents/prompt.md": "Hello\n${NOPE}\n",
		});
		const { code, stdout, stderr } = await stage.run("--wire", "--agent-file", file);
		expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
		expect(stderr).toContain("agents/prompt.md: line 2: the variable 'NOPE' is not defined\n");
	});

	it("without tools for plan mode is refused together with --plan", async () => {
		const stage = createStage();
		const exclude = "exclude_tools: ['kimi_cli.tools.plan:ExitPlanMode', 'kimi_cli.tools.plan.enter:EnterPlanMode']";
		const file = write(stage, { "agents/agent.yaml": `agent:\n  extend: default\n  name: doer\n  ${exclude}\n` });
		const { code, stdout, stderr } = await stage.run("--wire", "--plan", "--agent-file", file);
		expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
		expect(stderr).toContain("--plan: the agent 'doer' has no tools for plan mode");
		expect(stage.sessionIds()).toEqual([]);
	});

	it.each([
		["agents/none.yaml", /--agent-file: there is no file .*\/agents\/none\.yaml/],
		[".", /--agent-file: is a directory: /],
	])("%s is a usage error", async (file, said) => {
		const { code, stdout, stderr } = await createStage().run("--wire", "--agent-file", file);
		expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
		expect(stderr).toMatch(said);
	});
});

describe("the agent file of the documentation", () => {
	it("works", async () => {
		const page = readFileSync(new URL("../../docs/guides/agents.md", import.meta.url), "utf8");
		const blocks = [...page.matchAll(/^`([\w.-]+)`:\n\n```\w*\n([\s\S]*?)```$/gm)];
		const files = Object.fromEntries(blocks.map(([, name, text]) => [`agents/${name}`, text ?? ""]));
		expect(Object.keys(files)).toEqual(["agents/agent.yaml", "agents/prompt.md", "agents/reviewer.yaml"]);
		const stage = createStage();
		const server = stage.serve("--wire", "--session", "s", "--agent-file", write(stage, files));
		server.prompt("hi");
		expect(await server.response("prompt")).toMatchObject({ result: { status: "finished" } });
		server.endInput();
		expect(await server.exited).toBe(0);
		expect(promptOf(stage.sessionDir("s"))).toMatch(/^You keep the documentation of this project\.\n/);
	});
});
