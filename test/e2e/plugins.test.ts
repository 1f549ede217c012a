// Plugins with the built executable: installed by its commands, their tools called by a model over the wire.
import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { zipSync } from "fflate";
import { describe, expect, it } from "vitest";
import { createStage, type Stage, toolCall } from "../support/executable/executable.ts";
import { lastOf, type Server } from "../support/executable/running-server.ts";

const tool = (name: string, script: string, more = {}) => ({ name, command: ["sh", "-c", script], ...more });
const manifest = {
	name: "demo",
	version: "1.0.0",
	description: "Says things.",
	config_file: "settings.json",
	inject: { "service.key": "api_key", DEMO_KEY: "api_key" },
	tools: [
		{
			name: "say",
			description: "Says it.",
			command: ["./say"],
			parameters: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
		},
		tool("fail", 'echo "no use with $DEMO_KEY" >&2; exit 3'),
		tool("Shell", "echo not this one"),
	],
};
const say = '#!/bin/sh\nprintf "%s in %s: " "$DEMO_KEY" "$(basename "$PWD")"\ncat\n';

/** A folder with the plugin next to the work directory. */
function putSource(stage: Stage, version = "1.0.0"): string {
	const source = path.join(stage.workDir, `demo-${version}`);
	mkdirSync(source);
	writeFileSync(path.join(source, "plugin.json"), JSON.stringify({ ...manifest, version }));
	writeFileSync(path.join(source, "say"), say);
	chmodSync(path.join(source, "say"), 0o755);
	return source;
}

function setKey(stage: Stage, key: string): void {
	const file = path.join(stage.shareDir, "config.toml");
	writeFileSync(file, readFileSync(file, "utf8").replace(/api_key = ".*"/, `api_key = "${key}"`));
}

async function createPluginStage(scripts: readonly string[]): Promise<Stage> {
	const stage = createStage({ scripts });
	setKey(stage, "key-of-the-provider");
	expect(await stage.run("plugin", "install", putSource(stage))).toMatchObject({ code: 0 });
	return stage;
}

async function resultOf(server: Server) {
	const { params } = await server.message("ToolResult");
	return params?.payload["return_value"];
}

describe("the plugin commands", () => {
	it("install from a folder and from a zip file, list, show and remove", async () => {
		const stage = createStage();
		const installed = path.join(stage.shareDir, "plugins", "demo");
		const none = { code: 0, stdout: "There are no plugins.\n", stderr: "" };
		expect(await stage.run("plugin", "list")).toEqual(none);

		setKey(stage, "key-of-the-provider");
		expect(await stage.run("plugin", "install", putSource(stage))).toEqual({
			code: 0,
			stdout: "Installed demo 1.0.0, tools: say, fail, Shell.\n",
			stderr: "",
		});
		expect(JSON.parse(readFileSync(path.join(installed, "settings.json"), "utf8"))).toEqual({
			service: { key: "key-of-the-provider" },
			DEMO_KEY: "key-of-the-provider",
		});
		expect(await stage.run("plugin", "list")).toEqual({ code: 0, stdout: "demo 1.0.0: Says things.\n", stderr: "" });

		const bytes = (text: string) => new TextEncoder().encode(text);
		const archive = zipSync({
			"demo-2/plugin.json": bytes(JSON.stringify({ ...manifest, version: "2.0.0" })),
			"demo-2/say": [bytes(say), { os: 3, attrs: 0o100755 * 65_536 }],
		});
		writeFileSync(path.join(stage.workDir, "demo.zip"), archive);
		expect((await stage.run("plugin", "install", "demo.zip")).stdout).toBe(
			"Installed demo 2.0.0 in place of 1.0.0, tools: say, fail, Shell.\n",
		);
		const shown = await stage.run("plugin", "info", "demo");
		expect(shown).toMatchObject({ code: 0, stderr: "" });
		expect(shown.stdout).toMatch(/^name: demo\nversion: 2\.0\.0\n/);
		expect(shown.stdout).toMatch(/\ninstalled by: agentwire \d+\.\d+\.\d+\S*\n/);

		expect(await stage.run("plugin", "remove", "demo")).toEqual({ code: 0, stdout: "Removed demo.\n", stderr: "" });
		expect(existsSync(installed)).toBe(false);
		expect(await stage.run("plugin", "list")).toEqual(none);
	});

	it("install from a git URL", async () => {
		const stage = createStage();
		const source = putSource(stage);
		for (const argv of [
			["init", "-q"],
			["add", "."],
			["commit", "-qm", "First"],
		]) {
			execFileSync("git", ["-c", "user.name=n", "-c", "user.email=e@example", ...argv], { cwd: source });
		}
		const { code, stdout, stderr } = await stage.run("plugin", "install", `file://${source}`);
		expect({ code, stdout }, stderr).toEqual({ code: 0, stdout: "Installed demo 1.0.0, tools: say, fail, Shell.\n" });
		expect(existsSync(path.join(stage.shareDir, "plugins", "demo", ".git"))).toBe(false);
	});

	it.each<[number, readonly string[], RegExp]>([
		[1, ["install", "nowhere"], /^Error: There is no directory or zip file .*nowhere/],
		[1, ["install", "."], /^Error: There is no plugin\.json in \.\.\n$/],
		[1, ["remove", "demo"], /^Error: There is no plugin 'demo'\./],
		[1, ["info", "demo"], /^Error: There is no plugin 'demo'\./],
		[2, ["install"], /needs SOURCE/],
		[2, ["upgrade"], /does not know 'upgrade'/],
		[2, [], /needs one of install, list, remove, info/],
	])("fail with %i: %j", async (code, argv, said) => {
		const result = await createStage().run("plugin", ...argv);
		expect(result).toMatchObject({ code, stdout: "", stderr: expect.stringMatching(said) });
	});

	it("name the settings at fault when a plugin needs them", async () => {
		const stage = createStage();
		writeFileSync(path.join(stage.shareDir, "config.toml"), "default_model =");
		const { code, stderr } = await stage.run("plugin", "install", putSource(stage));
		expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining("config.toml") });
		expect(existsSync(path.join(stage.shareDir, "plugins", "demo"))).toBe(false);
	});
});

describe("a plugin's tool in a turn", () => {
	it("asks for approval, gets arguments and values, and returns what it prints", async () => {
		const stage = await createPluginStage([toolCall("c1", "say", { text: "hello" }), "text: done"]);
		const server = stage.serve("--wire");
		server.initialize();
		await server.response("initialize");
		server.prompt("hi");
		const request = await server.message("ApprovalRequest");
		expect(request.params?.payload).toMatchObject({
			tool_call_id: "c1",
			sender: "say",
			action: "plugin:say",
			description: "Call plugin tool `say`.",
			display: [{ type: "brief", text: "Approving it for the session covers `Plugin(say)`." }],
		});
		server.decide(request, "approve");
		expect(await resultOf(server)).toMatchObject({
			is_error: false,
			output: 'key-of-the-provider in demo: {"text":"hello"}',
		});
		expect(await server.response("prompt")).toMatchObject({ result: { status: "finished" } });
	});

	it("fails with exit code and stderr, without the values", async () => {
		const stage = await createPluginStage([toolCall("c1", "fail", {}), "text: done"]);
		const server = stage.serve("--wire", "--yolo");
		server.prompt("hi");
		expect(await resultOf(server)).toMatchObject({
			is_error: true,
			message: "The plugin's program failed with exit code: 3.",
			output: "no use with [hidden]\n",
			display: [{ type: "brief", text: "Failed with exit code: 3\nno use with [hidden]" }],
		});
		expect(await server.response("prompt")).toMatchObject({ result: { status: "finished" } });
	});

	it("is refused arguments that do not fit, and is not run when it is rejected", async () => {
		const scripts = [toolCall("c1", "say", { text: 5 }), toolCall("c2", "say", { text: "x" })];
		const server = (await createPluginStage(scripts)).serve("--wire");
		server.initialize();
		server.prompt("hi");
		expect(await resultOf(server)).toMatchObject({ is_error: true, message: expect.stringContaining("text must be") });
		server.decide(await server.message("ApprovalRequest"), "reject");
		expect(await resultOf(server)).toMatchObject({ is_error: true, display: [{ text: "Rejected by user" }] });
		await server.response("prompt");
	});

	it("does not take the place of a built-in tool, nor a client's tool its own", async () => {
		const stage = await createPluginStage([toolCall("c1", "Shell", { command: "echo this one" }), "text: done"]);
		const server = stage.serve("--wire", "--yolo");
		const declared = { name: "say", description: "Another.", parameters: { type: "object" } };
		server.request("initialize", "initialize", { protocol_version: "1.10", external_tools: [declared] });
		expect(await server.response("initialize")).toMatchObject({
			result: { external_tools: { accepted: [], rejected: [{ name: "say", reason: "conflicts with builtin tool" }] } },
		});
		server.prompt("hi");
		expect(await resultOf(server)).toMatchObject({ output: "this one\n" });
		server.endInput();
		expect(await server.exited).toBe(0);
		const log = readFileSync(path.join(stage.shareDir, "logs", "agentwire.log"), "utf8");
		expect(log).toMatch(/"tool":"Shell".*A tool of a plugin has the name of another tool/);
	});

	it("is there for subagents too", async () => {
		const report = `text: ${"All of it is as it should be, and nothing was changed. ".repeat(5)}`;
		const stage = await createPluginStage([
			toolCall("P", "Agent", { description: "a task", prompt: "Do it" }),
			toolCall("c1", "say", { text: "inside" }),
			report,
			"text: done",
		]);
		const server = stage.serve("--wire", "--yolo");
		server.prompt("hi");
		const lines = await server.readUntil((line) => line.id === "prompt");
		expect(lastOf(lines).result).toEqual({ status: "finished" });
		const inside = lines.flatMap(({ params }) => (params?.type === "SubagentEvent" ? [params.payload["event"]] : []));
		expect(inside).toContainEqual({
			type: "ToolResult",
			payload: expect.objectContaining({
				tool_call_id: "c1",
				return_value: expect.objectContaining({ output: 'key-of-the-provider in demo: {"text":"inside"}' }),
			}),
		});
	});
});

it("a broken plugin is left out, and the log says where it is broken", async () => {
	const stage = createStage();
	const directory = path.join(stage.shareDir, "plugins", "broken");
	mkdirSync(directory, { recursive: true });
	writeFileSync(path.join(directory, "plugin.json"), '{"name":"broken"}');
	const server = stage.serve("--wire");
	server.prompt("hi");
	expect(await server.response("prompt")).toMatchObject({ result: { status: "finished" } });
	server.endInput();
	expect(await server.exited).toBe(0);
	const log = readFileSync(path.join(stage.shareDir, "logs", "agentwire.log"), "utf8");
	expect(log).toContain(path.join(directory, "plugin.json"));
	expect(log).toContain("version: is required");
	expect(await stage.run("plugin", "list")).toMatchObject({ code: 0, stderr: expect.stringContaining("broken") });
});
