// Secrets that definition files lead to, with the built executable: they reach no prompt, no log and no client.
import { execFile } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import { promisify } from "node:util";
import { describe, expect, it, vi } from "vitest";
import { createStage, executablePath, type Stage, toolCall } from "../support/executable/executable.ts";
import type { Server } from "../support/executable/running-server.ts";

const id = "11111111-2222-4333-8444-555555555555";
const secret = "sk-not-to-be-told-0123456789";

interface SecretStage {
	readonly stage: Stage;
	/** A file that holds the secret. */
	readonly key: string;
	readonly variables: Readonly<Record<string, string>>;
}

function createSecretStage(scripts: readonly string[] = ["text: done"]): SecretStage {
	const stage = createStage({ scripts });
	const home = path.join(path.dirname(stage.workDir), "home");
	const key = path.join(home, ".ssh", "id_rsa");
	mkdirSync(path.dirname(key), { recursive: true });
	writeFileSync(key, `# ${secret}\n`);
	return { stage, key, variables: { HOME: home, SOME_KEY: secret } };
}

/** Everything that session and process have persisted. */
function persistedIn(directory: string): string {
	return readdirSync(directory, { withFileTypes: true, recursive: true })
		.filter((entry) => entry.isFile())
		.map((entry) => readFileSync(path.join(entry.parentPath, entry.name), "utf8"))
		.join("\n");
}

async function end(server: Server): Promise<void> {
	server.endInput();
	await server.exited;
}

/** The lines up to the answer of a prompt, as text. */
async function said(server: Server, text: string): Promise<string> {
	server.prompt(text, text);
	return JSON.stringify(await server.readUntil((line) => line.id === text));
}

function putSkill(directory: string, key: string): void {
	mkdirSync(path.join(directory, "harmless"), { recursive: true });
	symlinkSync(key, path.join(directory, "harmless", "SKILL.md"));
	symlinkSync(key, path.join(directory, "flat.md"));
}

describe("a link to a file of secrets", () => {
	it("adds nothing to the prompt as AGENTS.md or as a skill", async () => {
		const { stage, key, variables } = createSecretStage();
		symlinkSync(key, path.join(stage.workDir, "AGENTS.md"));
		mkdirSync(path.join(stage.workDir, ".kimi"));
		symlinkSync("../AGENTS.md", path.join(stage.workDir, ".kimi", "AGENTS.md"));
		putSkill(path.join(stage.workDir, ".kimi", "skills"), key);
		putSkill(path.join(stage.shareDir, "skills"), key);
		const server = stage.serveWith(variables, "--wire", "--session", id);
		server.initialize();
		expect(JSON.stringify(await server.response("initialize"))).not.toContain("harmless");
		expect(await said(server, "hi")).toContain('"finished"');
		for (const command of ["/import AGENTS.md", "/skill:harmless"])
			expect(await said(server, command)).not.toContain(secret);
		await end(server);
		const persisted = persistedIn(stage.shareDir);
		expect(persisted).not.toContain(secret);
		expect(persisted).toContain(`${key} may hold secrets and is not read`);
	});

	it("is no agent file, prompt or included template", async () => {
		const { stage, key, variables } = createSecretStage();
		const at = (name: string) => path.join(stage.workDir, name);
		symlinkSync(key, at("agent.yaml"));
		symlinkSync(path.dirname(key), at("docs"));
		writeFileSync(at("prompt.yaml"), "agent:\n  name: a\n  system_prompt_path: docs/id_rsa\n  tools: []\n");
		writeFileSync(at("include.yaml"), "agent:\n  name: a\n  system_prompt_path: prompt.md\n  tools: []\n");
		writeFileSync(at("prompt.md"), '{% include "docs/../docs/id_rsa" %}\n');
		for (const name of ["agent.yaml", "prompt.yaml", "include.yaml"]) {
			const server = stage.serveWith(variables, "--wire", "--agent-file", at(name));
			expect(await server.exited, name).toBe(1);
			expect(server.stderr).toContain("may hold secrets and is not read");
			expect(server.stderr).not.toContain(secret);
		}
	});

	it("is no settings file, no file of MCP servers and no manifest", async () => {
		const { stage, key, variables } = createSecretStage();
		symlinkSync(key, path.join(stage.workDir, "config.toml"));
		symlinkSync(key, path.join(stage.workDir, "mcp.json"));
		for (const flags of [
			["--config-file", path.join(stage.workDir, "config.toml")],
			["--mcp-config-file", path.join(stage.workDir, "mcp.json")],
		]) {
			const server = stage.serveWith(variables, "--wire", ...flags);
			expect(await server.exited).toBe(1);
			expect(server.stderr).toContain("may hold secrets and is not read");
			expect(server.stderr).not.toContain(secret);
		}
		mkdirSync(path.join(stage.shareDir, "plugins", "demo"), { recursive: true });
		symlinkSync(key, path.join(stage.shareDir, "plugins", "demo", "plugin.json"));
		const server = stage.serveWith(variables, "--wire");
		await said(server, "hi");
		await end(server);
		expect(persistedIn(stage.shareDir)).not.toContain(secret);
	});

	it("is no output of a task", async () => {
		const job = { command: "echo one", run_in_background: true, description: "the job" };
		const { stage, key, variables } = createSecretStage([toolCall("start", "Shell", job), "text: done"]);
		const first = stage.serveWith(variables, "--wire", "--yolo", "--session", id);
		await said(first, "hi");
		const tasks = path.join(stage.sessionDir(id), "tasks");
		const [task = ""] = readdirSync(tasks);
		const output = path.join(tasks, task, "output.log");
		await vi.waitFor(() => expect(readFileSync(output, "utf8")).toBe("one\n"), { timeout: 5000, interval: 10 });
		await end(first);
		rmSync(output);
		symlinkSync(key, output);
		stage.setScripts([toolCall("look", "TaskOutput", { task_id: task }), "text: done"]);
		const server = stage.serveWith(variables, "--wire", "--session", id);
		const delivered = await said(server, "go on");
		expect(delivered).toContain("[The output cannot be read: ");
		expect(delivered).not.toContain(secret);
		await end(server);
	});

	it("is no plan", async () => {
		const { stage, key, variables } = createSecretStage();
		const first = stage.serveWith(variables, "--wire", "--plan", "--session", id);
		await said(first, "hi");
		await end(first);
		const { plan_slug: slug } = JSON.parse(readFileSync(path.join(stage.sessionDir(id), "state.json"), "utf8"));
		mkdirSync(path.join(stage.shareDir, "plans"), { recursive: true });
		symlinkSync(key, path.join(stage.shareDir, "plans", `${slug}.md`));
		stage.setScripts([toolCall("exit", "ExitPlanMode", {}), "text: done"]);
		const server = stage.serveWith(variables, "--wire", "--afk", "--session", id);
		expect(await said(server, "/plan view")).toContain("The plan cannot be read");
		expect(await said(server, "go on")).not.toContain(secret);
		await end(server);
		expect(persistedIn(stage.sessionDir(id))).not.toContain(secret);
	});
});

describe("settings", () => {
	it("are read from a pipe that a shell puts in place of a file", async () => {
		const { stage, variables } = createSecretStage();
		const command = '"$0" --print --prompt hi --config-file <(cat "$1")';
		const { stdout } = await promisify(execFile)(
			"bash",
			["-c", command, executablePath, path.join(stage.shareDir, "config.toml")],
			{ cwd: stage.workDir, env: { ...stage.environment, ...variables } },
		);
		expect(stdout).toContain("done");
	});

	it("are not shown by the tools that read, and neither is the environment of the process", async () => {
		const { stage, key, variables } = createSecretStage();
		const config = path.join(stage.shareDir, "config.toml");
		writeFileSync(config, `${readFileSync(config, "utf8")}\n# ${secret}\n`);
		const other = path.join(stage.workDir, "other.toml");
		writeFileSync(other, readFileSync(config, "utf8"));
		symlinkSync(key, path.join(stage.workDir, "notes.txt"));
		const paths = [config, other, "/proc/self/environ", path.join(stage.workDir, "notes.txt")];
		const calls = paths.flatMap((file, index) => [
			toolCall(`r${index}`, "ReadFile", { path: file }),
			...["content", "files_with_matches", "count_matches"].map((output_mode) =>
				toolCall(`g${index}-${output_mode}`, "Grep", { pattern: "sk-not", path: file, output_mode }),
			),
		]);
		stage.setScripts([calls.join("\n"), "text: done"]);
		const server = stage.serveWith(variables, "--wire", "--session", id, "--config-file", other);
		const delivered = await said(server, "look");
		await end(server);
		expect(delivered).not.toContain(secret);
		expect(delivered.match(/"text":"Sensitive file"/g)).toHaveLength(calls.length);
		expect(existsSync(path.join(stage.sessionDir(id), "wire.jsonl"))).toBe(true);
		expect(persistedIn(stage.sessionDir(id))).not.toContain(secret);
	});
});
