import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createToolPlace, issueOf, type ToolPlace } from "../../../test/support/host/tool-environment.ts";
import { allMedia, noMedia, noWeb, searchService } from "../../../test/support/sessions/session-doubles.ts";
import { KernelError } from "../../base/errors.ts";
import { createTools } from "./built-in-tools.ts";
import type { Tool } from "./tool.ts";
import {
	defaultToolPaths,
	isBuiltInToolName,
	isBuiltInToolPath,
	isForSubagents,
	toolAvailability,
} from "./tool-paths.ts";

let place: ToolPlace;
let tools: Tool[];
beforeAll(async () => {
	place = await createToolPlace({ media: allMedia, web: { ...noWeb, searchService } });
	tools = createTools([...defaultToolPaths, "kimi_cli.tools.think:Think"], place.environment);
});
afterAll(() => place.remove());

function named(name: string): Tool {
	const tool = tools.find((candidate) => candidate.name === name);
	if (tool === undefined) throw new Error(name);
	return tool;
}

describe("createTools", () => {
	it("omits tools that require a missing model or service", () => {
		const bare = { ...place.environment, media: noMedia, web: noWeb };
		const names = createTools(defaultToolPaths, bare).map((tool) => tool.name);
		expect(tools.map(({ name }) => name).filter((name) => !names.includes(name))).toEqual([
			"ReadMediaFile",
			"SearchWeb",
			"Think",
		]);
	});

	it("knows the names of all of them, whether or not an agent has them", () => {
		expect(tools.map(({ name }) => name).filter((name) => !isBuiltInToolName(name))).toEqual([]);
		expect(["shell", "ell", "", "shell:Shell", "Nothing"].filter(isBuiltInToolName)).toEqual([]);
	});

	it("has a description for every tool", () => {
		expect(tools.filter((tool) => tool.description.length < 50).map((tool) => tool.name)).toEqual([]);
	});

	it("names unknown paths", () => {
		expect(isBuiltInToolPath("kimi_cli.tools.nothing:Nothing")).toBe(false);
		expect(() =>
			createTools(["kimi_cli.tools.think:Think", "kimi_cli.tools.nothing:Nothing"], place.environment),
		).toThrow(
			new KernelError("invalid-input", "Unknown tools: kimi_cli.tools.nothing:Nothing", {
				data: { tools: ["kimi_cli.tools.nothing:Nothing"] },
			}),
		);
	});
});

describe("arguments", () => {
	it.each([
		["Shell", { command: "x", timeout: "5" }],
		["Shell", { command: "x", timeout: 5.0, unknown: 1 }],
		["Shell", { command: "x", timeout: true }],
		["Glob", { pattern: "x", include_dirs: "False" }],
		["Glob", { pattern: "x", include_dirs: 1, directory: null }],
		["ReadFile", { path: "x", line_offset: " -10 " }],
		["Grep", { pattern: "x", "-A": "2", "-i": "yes" }],
		["StrReplaceFile", { path: "x", edit: { old: "a", new: "b", replace_all: "true" } }],
	])("of %s are accepted leniently: %j", async (name, value) => {
		expect(await issueOf(named(name), value)).toBeNull();
	});

	it.each([
		["Shell", null, "The arguments must be a JSON object."],
		["Shell", {}, "Argument `command` is required."],
		["Shell", { command: 5 }, "Argument `command` is invalid: expected string but received 5."],
		["Shell", { command: "x", timeout: 86_401 }, "Argument `timeout` is invalid: expected <=86400 but received 86401."],
		[
			"ReadFile",
			{ path: "x", line_offset: 0 },
			"Argument `line_offset` is invalid: expected anything but 0 but received 0.",
		],
		["ReadFile", { path: "x", n_lines: 1.5 }, "Argument `n_lines` is invalid: expected integer but received 1.5."],
		["WriteFile", { path: "x", content: "", mode: "add" }, expect.stringContaining("Argument `mode` is invalid")],
		["StrReplaceFile", { path: "x", edit: { old: "a" } }, "Argument `edit.new` is required."],
		["StrReplaceFile", { path: "x", edit: [{ old: "a", new: 1 }] }, expect.stringContaining("`edit.0.new` is invalid")],
		["SetTodoList", { todos: [{ title: "", status: "done" }] }, expect.stringContaining("expected a length >=1")],
		["Grep", { pattern: "x", offset: "x".repeat(200) }, expect.stringMatching(/^.{0,200}…\.$/)],
	])("of %s are refused with their fault: %j", async (name, value, issue) => {
		expect(await issueOf(named(name), value)).toEqual(issue);
	});
});

describe("the tool paths of agent files", () => {
	it("are those of the reference", () => {
		const others = ["web:FetchURL", "dmail:SendDMail", "think:Think", "test:Plus", "test:Compare", "test:Panic"].map(
			(name) => `kimi_cli.tools.${name}`,
		);
		expect([...defaultToolPaths, ...others].filter((toolPath) => toolAvailability(toolPath) === "unknown")).toEqual([]);
		expect(defaultToolPaths.filter((toolPath) => toolAvailability(toolPath) !== "there")).toEqual([]);
		expect(["kimi_cli.tools.shell:shell", "Shell", ""].map(toolAvailability)).toEqual([
			"unknown",
			"unknown",
			"unknown",
		]);
	});

	it("give a subagent no tools that require the person or the session's own agent", () => {
		const names = defaultToolPaths.filter(isForSubagents).map((toolPath) => toolPath.split(":")[1]);
		expect(names).toEqual([
			"Shell",
			"ReadFile",
			"ReadMediaFile",
			"Glob",
			"Grep",
			"WriteFile",
			"StrReplaceFile",
			"SearchWeb",
			"FetchURL",
		]);
	});
});
