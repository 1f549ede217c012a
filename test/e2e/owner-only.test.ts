// What the program keeps in its share directory can be read by its owner alone, whichever part of it has written it.
import {
	chmodSync,
	existsSync,
	lstatSync,
	mkdirSync,
	readdirSync,
	readFileSync,
	rmSync,
	statSync,
	symlinkSync,
	writeFileSync,
} from "node:fs";
import path from "node:path";
import { describe, expect, it, vi } from "vitest";
import { createStage, type Stage, toolCall } from "../support/executable/executable.ts";
import type { Server } from "../support/executable/running-server.ts";

const id = "11111111-2222-4333-8444-555555555555";
const report = `text: ${"All of it is as it should be, and nothing was changed. ".repeat(5)}`;
const shell = (callId: string, command: string, more: object = {}) => toolCall(callId, "Shell", { command, ...more });

/** What lies below a directory, with its permission bits, as far as others than its owner may do anything with it. */
function openToOthers(directory: string): string[] {
	return readdirSync(directory, { withFileTypes: true, recursive: true })
		.map((entry) => path.join(entry.parentPath, entry.name))
		.filter((file) => (lstatSync(file).mode & 0o077) !== 0)
		.map((file) => `${path.relative(directory, file)} ${(lstatSync(file).mode & 0o777).toString(8)}`)
		.sort();
}

const everything = [
	toolCall("todo", "SetTodoList", { todos: [{ title: "a", status: "pending" }] }),
	`${shell("spill", "yes 0123456789 | head -c 300000")}`,
	toolCall("agent", "Agent", { description: "a task", prompt: "Do it" }),
	report,
	shell("task", "echo in the background", { run_in_background: true, description: "the job" }),
	"text: done",
];

async function close(server: Server): Promise<void> {
	server.endInput();
	expect(await server.exited).toBe(0);
}

async function runEverything(stage: Stage): Promise<void> {
	const server = stage.serve("--wire", "--yolo", "--session", id);
	server.prompt("go", "go");
	expect(await server.response("go")).toMatchObject({ result: { status: "finished" } });
	const notifications = path.join(stage.sessionDir(id), "notifications");
	await vi.waitFor(() => expect(existsSync(notifications)).toBe(true), { timeout: 5000, interval: 10 });
	await close(server);

	const planning = stage.serve("--wire", "--plan", "--session", id);
	stage.setScripts(["text: It needs a plan."]);
	planning.prompt("how?", "how");
	await planning.response("how");
	await close(planning);
	const { plan_slug: slug } = JSON.parse(readFileSync(path.join(stage.sessionDir(id), "state.json"), "utf8"));
	stage.setScripts([
		toolCall("write", "WriteFile", { path: path.join(stage.shareDir, "plans", `${slug}.md`), content: "# Plan" }),
		"text: planned",
		"text: in short",
	]);
	const second = stage.serve("--wire", "--yolo", "--session", id);
	second.prompt("plan it", "p");
	expect(await second.response("p")).toMatchObject({ result: { status: "finished" } });
	for (const [name, text] of [
		["export", `/export ${path.join(stage.shareDir, "sessions", "talk.md")}`],
		["compact", "/compact"],
		["clear", "/clear"],
	] as const) {
		second.prompt(text, name);
		await second.response(name);
	}
	await close(second);
}

describe("the share directory", () => {
	it("holds nothing for others that a session, its agents, its tasks and the commands have made", async () => {
		const stage = createStage({ scripts: everything });
		// Made by the program itself, with the provider of the command line.
		await runEverything(stage);
		expect(await stage.run("mcp", "add", "files", "--", "true")).toMatchObject({ code: 0 });
		const plugin = path.join(stage.workDir, "plugin");
		mkdirSync(plugin);
		writeFileSync(path.join(plugin, "plugin.json"), JSON.stringify({ name: "demo", version: "1" }));
		writeFileSync(path.join(plugin, "run"), "#!/bin/sh\n", { mode: 0o755 });
		expect(await stage.run("plugin", "install", plugin)).toMatchObject({ code: 0 });
		const archive = path.join(stage.shareDir, "sessions", "session.zip");
		expect(await stage.run("export", id, "--yes", "--output", archive)).toMatchObject({ code: 0 });
		for (const made of [
			"logs/agentwire.log",
			"plans",
			"plugins/demo/run",
			"mcp.json",
			"kimi.json",
			"sessions/talk.md",
		]) {
			expect(existsSync(path.join(stage.shareDir, made)), made).toBe(true);
		}
		for (const made of [
			"subagents",
			"tasks",
			"notifications",
			"output",
			"state.json",
			"journal.jsonl",
			"context_1.jsonl",
		]) {
			expect(existsSync(path.join(stage.sessionDir(id), made)), made).toBe(true);
		}
		expect(openToOthers(stage.shareDir)).toEqual([]);
		expect(statSync(path.join(stage.shareDir, "plugins/demo/run")).mode & 0o777).toBe(0o700);
	});

	it("is created for its owner only, with the settings file", async () => {
		const stage = createStage();
		rmSync(stage.shareDir, { recursive: true });
		const server = stage.serve("--wire");
		server.initialize();
		await server.response("initialize");
		await close(server);
		expect(existsSync(path.join(stage.shareDir, "config.toml"))).toBe(true);
		expect(statSync(stage.shareDir).mode & 0o777).toBe(0o700);
		expect(openToOthers(stage.shareDir)).toEqual([]);
	});

	it("is created for its owner only by a start that fails, with the log", async () => {
		const stage = createStage();
		rmSync(stage.shareDir, { recursive: true });
		expect(await stage.run("--print", "--config", "theme = 3", "--prompt", "hi")).toMatchObject({ code: 2 });
		expect(readdirSync(stage.shareDir)).toEqual(["logs"]);
		expect(statSync(stage.shareDir).mode & 0o777).toBe(0o700);
		expect(openToOthers(stage.shareDir)).toEqual([]);
	});

	it("is restricted where an earlier version left it open, except for files of others", async () => {
		const stage = createStage({ scripts: everything });
		await runEverything(stage);
		// As an earlier version, and the person, left them.
		for (const entry of readdirSync(stage.shareDir, { withFileTypes: true, recursive: true })) {
			chmodSync(path.join(entry.parentPath, entry.name), entry.isDirectory() ? 0o755 : 0o644);
		}
		chmodSync(stage.shareDir, 0o755);
		const own = path.join(stage.shareDir, "skills", "mine");
		mkdirSync(own, { recursive: true });
		writeFileSync(path.join(own, "SKILL.md"), "# Mine", { mode: 0o644 });
		const linked = path.join(stage.workDir, "linked.json");
		writeFileSync(linked, "{}", { mode: 0o644 });
		symlinkSync(linked, path.join(stage.shareDir, "mcp.json"));
		const project = path.join(stage.workDir, "project.txt");
		writeFileSync(project, "x", { mode: 0o664 });
		chmodSync(project, 0o664);
		stage.setScripts([
			`${toolCall("edit", "WriteFile", { path: project, content: "y" })}\n${toolCall("new", "WriteFile", { path: path.join(stage.workDir, "new.txt"), content: "z" })}`,
			"text: more",
		]);
		const server = stage.serve("--wire", "--yolo", "--session", id);
		server.prompt("/plan off", "off");
		await server.response("off");
		server.prompt("more", "more");
		expect(await server.response("more")).toMatchObject({ result: { status: "finished" } });
		await close(server);
		const session = stage.sessionDir(id);
		for (const closed of [
			"config.toml",
			"kimi.json",
			"logs",
			"logs/agentwire.log",
			"sessions",
			path.relative(stage.shareDir, path.dirname(session)),
			...["", "context.jsonl", "wire.jsonl", "state.json", "journal.jsonl"].map((name) =>
				path.relative(stage.shareDir, path.join(session, name)),
			),
		]) {
			expect((statSync(path.join(stage.shareDir, closed)).mode & 0o077).toString(8), closed).toBe("0");
		}
		// A directory that was there may be shared on purpose; what a person put there is theirs.
		expect(statSync(stage.shareDir).mode & 0o777).toBe(0o755);
		expect(statSync(path.join(own, "SKILL.md")).mode & 0o777).toBe(0o644);
		expect(statSync(linked).mode & 0o777).toBe(0o644);
		expect(statSync(project).mode & 0o777).toBe(0o664);
		expect(statSync(path.join(stage.workDir, "new.txt")).mode & 0o777).toBe(0o666 & ~process.umask());
	});
});
