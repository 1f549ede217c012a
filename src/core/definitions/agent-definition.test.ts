// biome-ignore-all lint/suspicious/noTemplateCurlyInString: templates are written so.
// Agent files with all they name, from YAML to what the program uses.
import { describe, expect, it } from "vitest";
import { createMemoryFiles } from "../../../test/support/store/memory-files.ts";
import { type Log, silentLog } from "../../base/log.ts";
import { type AgentDefinition, loadAgentDefinition } from "./agent-definition.ts";
import { AgentFileError } from "./agent-file-error.ts";
import { agentTypes } from "./agent-types.ts";
import type { PromptVariables } from "./prompt-variables.ts";

const variables: PromptVariables = {
	now: "2026-01-02T03:04:05+01:00",
	workDir: "/work",
	workDirListing: "└── a",
	agentsMd: "Use tabs.",
	skills: "### User",
	additionalDirsInfo: "",
	os: "Linux",
	shell: "bash (/bin/bash)",
};

const tools = {
	defaults: ["t:Agent", "t:Shell", "t:Read"],
	availability: (toolPath: string) =>
		["t:Agent", "t:Shell", "t:Read", "t:Think"].includes(toolPath)
			? "there"
			: toolPath === "t:Web"
				? "absent"
				: "unknown",
	isForSubagents: (toolPath: string) => toolPath !== "t:Agent",
} as const;

type Tree = Readonly<Record<string, string>>;

async function load(tree: Tree, log: Log = silentLog, warnings: string[] = []): Promise<AgentDefinition> {
	const files = createMemoryFiles();
	await files.makeDirectory("/a/sub");
	for (const [name, text] of Object.entries({ "system.md": "Prompt", ...tree }))
		await files.replace(`/a/${name}`, text);
	const warn = (sentence: string) => void warnings.push(sentence);
	return await loadAgentDefinition("/a/agent.yaml", { files, tools, variables, log, warn });
}

async function problems(tree: Tree): Promise<readonly string[]> {
	const thrown = await load(tree).catch((error: unknown) => error);
	if (!(thrown instanceof AgentFileError)) throw new Error(`Not refused: ${String(thrown)}`);
	expect(thrown.message.split("\n").slice(1)).toHaveLength(thrown.problems.length);
	return thrown.problems.map(({ file, key, reason }) => `${file}|${key}|${reason}`);
}

/** An agent file with these lines below `agent`. */
const agent = (...lines: string[]) => `version: 1\nagent:\n${lines.map((line) => `  ${line}\n`).join("")}`;
const whole = ["name: mine", "system_prompt_path: ./system.md", "tools: [t:Shell, t:Read]"];

describe("an agent file", () => {
	it("defines every property of an agent", async () => {
		const definition = await load({
			"agent.yaml": agent(...whole, "system_prompt_args: { GREETING: hello, WORDS: [a, b], DEPTH: 2 }", "unknown: 1"),
			"system.md":
				"\n${GREETING} {% for word in WORDS %}${word}{% endfor %} ${DEPTH}{% if ROLE_ADDITIONAL %}x{% endif %}\n",
		});
		expect(definition).toEqual({
			name: "mine",
			toolPaths: ["t:Shell", "t:Read"],
			prompt: expect.any(Function),
			role: "",
			types: [],
		});
		expect(definition.prompt?.(variables)).toBe("hello ab 2");
	});

	it("fills its prompt with time, place and environment", async () => {
		const names = ["NOW", "WORK_DIR", "WORK_DIR_LS", "AGENTS_MD", "SKILLS", "ADDITIONAL_DIRS_INFO", "OS", "SHELL"];
		const { prompt } = await load({
			"agent.yaml": agent(...whole, "system_prompt_args: { KIMI_OS: Plan 9 }"),
			"system.md": names.map((name) => `\${KIMI_${name}}`).join("|"),
		});
		expect(prompt?.({ ...variables, additionalDirsInfo: "/more" })).toBe(
			"2026-01-02T03:04:05+01:00|/work|└── a|Use tabs.|### User|/more|Plan 9|bash (/bin/bash)",
		);
	});

	it.each(["version: 1", 'version: "1"', "version:", ""])("reads version 1: '%s'", async (version) => {
		const source = agent(...whole).replace("version: 1", version);
		expect(await load({ "agent.yaml": source })).toMatchObject({ name: "mine" });
	});

	it("selects its tools with tools, allowed_tools and exclude_tools", async () => {
		const paths = async (...lines: string[]) => (await load({ "agent.yaml": agent(...lines) })).toolPaths;
		expect(await paths(...whole, "allowed_tools: [t:Think]")).toEqual(["t:Think"]);
		expect(await paths(...whole, "exclude_tools: [t:Shell, t:Unknown]")).toEqual(["t:Read"]);
		expect(await paths(...whole, "allowed_tools: [t:Shell, t:Think]", "exclude_tools: [t:Shell]")).toEqual(["t:Think"]);
		expect(await paths(...whole, "allowed_tools:")).toEqual([]);
		expect(await paths("extend: default", "tools: null")).toEqual([]);
		expect(await paths("extend: default", "tools: [t:Read, t:Read]")).toEqual(["t:Read"]);
	});

	it("warns of excluded tools that there are not, which would be there without anybody knowing", async () => {
		const warnings: string[] = [];
		const lines = agent("extend: default", "exclude_tools: [shell, 't:Reed', t:Web, t:Read]");
		expect((await load({ "agent.yaml": lines }, silentLog, warnings)).toolPaths).toEqual(["t:Agent", "t:Shell"]);
		expect(warnings).toEqual([
			"/a/agent.yaml: agent.exclude_tools: 'shell' is not the path of a tool, so it removes nothing; did you mean 't:Shell'?",
			"/a/agent.yaml: agent.exclude_tools: 't:Reed' is not the path of a tool, so it removes nothing; docs/guides/agents.md lists the paths",
		]);
	});

	it("omits unknown tools, and logs them", async () => {
		const logged: unknown[] = [];
		const log: Log = { ...silentLog, info: (message, fields) => logged.push([message, fields]) };
		expect((await load({ "agent.yaml": agent("extend: default", "tools: [t:Web, t:Read]") }, log)).toolPaths).toEqual([
			"t:Read",
		]);
		expect(logged).toEqual([[expect.any(String), { file: "/a/agent.yaml", tools: ["t:Web"] }]]);
	});
});

describe("inheritance", () => {
	it("can extend the default agent", async () => {
		expect(await load({ "agent.yaml": agent("extend: default") })).toEqual({
			name: "default",
			toolPaths: tools.defaults,
			prompt: null,
			role: "",
			types: agentTypes,
		});
		expect(
			await load({
				"agent.yaml": agent("extend: default", "name: mine", "system_prompt_args: { ROLE_ADDITIONAL: Be kind. }"),
			}),
		).toMatchObject({ name: "mine", prompt: null, role: "Be kind." });
	});

	it("follows a chain of files, with paths relative to the declaring file", async () => {
		const definition = await load({
			"agent.yaml": agent(
				"extend: sub/middle.yaml",
				"name: top",
				"system_prompt_args: { B: 2, C: 3 }",
				"exclude_tools:",
			),
			"sub/middle.yaml": agent("extend: ../base.yaml", "system_prompt_path: here.md", "system_prompt_args: { B: 1 }"),
			"base.yaml": agent(...whole, "system_prompt_args: { A: 1, B: 0 }", "exclude_tools: [t:Shell]"),
			"sub/here.md": "${A}${B}${C}",
		});
		expect(definition).toMatchObject({ name: "top", toolPaths: ["t:Shell", "t:Read"] });
		expect(definition.prompt?.(variables)).toBe("123");
	});

	it("replaces lists and inherits absent keys", async () => {
		const base = agent(...whole, "allowed_tools: [t:Read]", "subagents: { s: { path: s.yaml, description: d } }");
		const tree = { "base.yaml": base, "s.yaml": agent("extend: default") };
		expect(await load({ ...tree, "agent.yaml": agent("extend: base.yaml") })).toMatchObject({
			toolPaths: ["t:Read"],
			types: [{ name: "s" }],
		});
		expect(
			await load({ ...tree, "agent.yaml": agent("extend: base.yaml", "allowed_tools: [t:Shell]", "subagents:") }),
		).toMatchObject({ toolPaths: ["t:Shell"], types: [] });
	});
});

describe("subagents", () => {
	it("are types with their own tools, model and prompt", async () => {
		const { types } = await load({
			"agent.yaml": agent(...whole, "subagents:", "  reviewer: { path: sub/reviewer.yaml, description: reviews. }"),
			"sub/reviewer.yaml": agent(
				"extend: ../agent.yaml",
				"system_prompt_path: reviewer.md",
				"model: small",
				"when_to_use: Before a commit.",
				"allowed_tools: [t:Agent, t:Read]",
			),
			"sub/reviewer.md": "Review ${KIMI_WORK_DIR}.",
		});
		expect(types).toEqual([
			{
				name: "reviewer",
				whenToUse: "reviews. Before a commit.",
				toolPaths: ["t:Read"],
				model: "small",
				prompt: expect.any(Function),
				role: "",
				startsWithGit: false,
			},
		]);
		expect(types[0]?.prompt?.(variables)).toBe("Review /work.");
	});

	it("can have our own prompt and a role", async () => {
		const { types } = await load({
			"agent.yaml": agent(...whole, "subagents: { s: { path: s.yaml, description: d } }"),
			"s.yaml": agent("extend: default", "system_prompt_args: { ROLE_ADDITIONAL: You look. }"),
		});
		expect(types).toMatchObject([
			{ name: "s", whenToUse: "d", toolPaths: ["t:Shell", "t:Read"], model: null, prompt: null, role: "You look." },
		]);
	});
});

describe("faults", () => {
	it("in the file itself", async () => {
		expect(await problems({})).toEqual(["/a/agent.yaml||there is no such file"]);
		expect(await problems({ "agent.yaml": "" })).toEqual(["/a/agent.yaml|agent|is required"]);
		expect(await problems({ "agent.yaml": "- 1" })).toEqual(["/a/agent.yaml|agent|is required"]);
		expect(await problems({ "agent.yaml": "agent:" })).toEqual(["/a/agent.yaml|agent|is required"]);
		expect(await problems({ "agent.yaml": "agent: 1" })).toEqual(["/a/agent.yaml|agent|must be a map"]);
		expect(await problems({ "agent.yaml": "agent: [" })).toEqual([
			expect.stringMatching(/^\/a\/agent\.yaml\|\|Invalid YAML: .*line 1, column/),
		]);
		expect(await problems({ "agent.yaml": "a: *none" })).toEqual([
			expect.stringMatching(/^\/a\/agent\.yaml\|\|Invalid YAML: /),
		]);
	});

	it.each(["2", '"1.1"', "[1]", "true"])("in version %s", async (version) => {
		expect(await problems({ "agent.yaml": `version: ${version}\nagent: {}` })).toEqual([
			`/a/agent.yaml|version|${JSON.stringify(JSON.parse(version))} is not supported, only 1 is`,
		]);
	});

	it("in required keys are all reported at once", async () => {
		expect(await problems({ "agent.yaml": agent("model: m") })).toEqual([
			"/a/agent.yaml|agent.name|is required",
			"/a/agent.yaml|agent.system_prompt_path|is required",
			"/a/agent.yaml|agent.tools|is required",
		]);
	});

	it("in values are all reported at once", async () => {
		const source = agent(
			"name: 5",
			"tools: t:Shell",
			"exclude_tools: [1]",
			"subagents: { s: { path: x } }",
			"model: ''",
		);
		expect((await problems({ "agent.yaml": source })).toSorted()).toEqual([
			"/a/agent.yaml|agent.exclude_tools.0|must be a string",
			"/a/agent.yaml|agent.model|must not be empty",
			"/a/agent.yaml|agent.name|must be a string",
			"/a/agent.yaml|agent.subagents.s.description|is required",
			"/a/agent.yaml|agent.tools|must be a list of tool paths",
		]);
	});

	it("in tools are all reported at once", async () => {
		expect(await problems({ "agent.yaml": agent(...whole.slice(0, 2), "tools: [t:Nope, t:Shell, x]") })).toEqual([
			"/a/agent.yaml|agent.tools|Invalid tools: ['t:Nope', 'x']",
		]);
		expect(await problems({ "agent.yaml": agent(...whole, "allowed_tools: [x]") })).toEqual([
			"/a/agent.yaml|agent.allowed_tools|Invalid tools: ['x']",
		]);
	});

	it("in the extended file", async () => {
		expect(await problems({ "agent.yaml": agent("extend: none.yaml") })).toEqual([
			"/a/agent.yaml|agent.extend|there is no such file (/a/none.yaml)",
		]);
		expect(await problems({ "agent.yaml": agent("extend: sub") })).toEqual([
			"/a/agent.yaml|agent.extend|is not a file (/a/sub)",
		]);
		expect(await problems({ "agent.yaml": agent("extend: ./agent.yaml") })).toEqual([
			"/a/agent.yaml|agent.extend|extends itself: agent.yaml -> agent.yaml",
		]);
		expect(await problems({ "agent.yaml": agent("extend: b.yaml"), "b.yaml": agent("extend: agent.yaml") })).toEqual([
			"/a/b.yaml|agent.extend|extends itself: agent.yaml -> b.yaml -> agent.yaml",
		]);
		expect(await problems({ "agent.yaml": agent("extend: b.yaml"), "b.yaml": agent("name: [1]") })).toEqual([
			"/a/b.yaml|agent.name|must be a string",
		]);
	});

	it("in the prompt", async () => {
		expect(
			await problems({
				"agent.yaml": agent(...whole, "system_prompt_path: x.md").replace("  system_prompt_path: ./system.md\n", ""),
			}),
		).toEqual(["/a/agent.yaml|agent.system_prompt_path|there is no such file (/a/x.md)"]);
		expect(await problems({ "agent.yaml": agent(...whole), "system.md": "a\n${NOPE}" })).toEqual([
			"/a/system.md|line 2|the variable 'NOPE' is not defined",
		]);
	});

	it("are reported once, however often a file is read", async () => {
		const subagents = "subagents: { a: { path: sub/a.yaml, description: d }, b: { path: sub/a.yaml, description: d } }";
		expect(
			await problems({
				"agent.yaml": agent(...whole, subagents),
				"sub/a.yaml": agent("extend: ../agent.yaml", "name: []"),
			}),
		).toEqual(["/a/sub/a.yaml|agent.name|must be a string"]);
	});

	it("in circular values", async () => {
		const circle = agent(...whole, "system_prompt_args: &a { x: [*a] }");
		expect(await problems({ "agent.yaml": circle })).toEqual([
			"/a/agent.yaml||its values nest too deeply, or contain themselves",
		]);
	});

	it("in subagents are reported together with its own", async () => {
		expect(
			await problems({
				"agent.yaml": agent(
					"name: mine",
					"system_prompt_path: system.md",
					"tools: [x]",
					"subagents:",
					"  a: { path: none.yaml, description: d }",
					"  b: { path: b.yaml, description: d }",
				),
				"b.yaml": agent("extend: default", "tools: [y]"),
			}),
		).toEqual([
			"/a/agent.yaml|agent.tools|Invalid tools: ['x']",
			"/a/agent.yaml|agent.subagents.a.path|there is no such file (/a/none.yaml)",
			"/a/b.yaml|agent.tools|Invalid tools: ['y']",
		]);
	});
});
