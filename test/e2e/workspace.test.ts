// The flags that say what an agent works with: `--agent`, `--add-dir`, `--skills-dir`, `--max-ralph-iterations`.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { createStage, type Stage, toolCall } from "../support/executable/executable.ts";
import { outline, type Server } from "../support/executable/running-server.ts";

const sessionId = "5ac1e9f4-0000-4000-8000-0000000000b1";

const contextOf = (stage: Stage, name = "context.jsonl") =>
	readFileSync(path.join(stage.sessionDir(sessionId), name), "utf8");

async function end(server: Server): Promise<void> {
	server.endInput();
	expect(await server.exited).toBe(0);
}

/** The names of the commands that a handshake lists. */
async function commandNames(server: Server): Promise<unknown[]> {
	server.initialize();
	const { result } = await server.response("initialize");
	const commands = result?.["slash_commands"];
	return Array.isArray(commands) ? commands.map(({ name }) => name) : [];
}

describe("--agent okabe", () => {
	it("goes back to a checkpoint by its own mail", async () => {
		const mail = { message: "The file says hello.", checkpoint_id: 1 };
		const stage = createStage({
			scripts: [toolCall("c1", "ReadFile", { path: "a.txt" }), toolCall("c2", "SendDMail", mail), "text: done"],
		});
		writeFileSync(path.join(stage.workDir, "a.txt"), "hello\n");
		const server = stage.serve("--wire", "--session", sessionId, "--agent", "okabe");
		server.prompt("What is in a.txt?");
		const lines = await server.readUntil((line) => line.id === "prompt");
		expect(outline(lines).filter((word) => word === "StepBegin")).toHaveLength(3);
		await end(server);
		expect(contextOf(stage)).toContain("The file says hello.");
		expect(contextOf(stage)).not.toContain("ReadFile\\");
		expect(contextOf(stage, "context_1.jsonl")).toContain('"name":"ReadFile"');
	});

	it("is one of two agents", async () => {
		const stage = createStage();
		expect(await stage.run("--wire", "--agent", "nobody")).toMatchObject({ code: 2, stdout: "" });
	});
});

describe("--add-dir", () => {
	it("adds a directory for good, and one of the work dir not at all", async () => {
		const stage = createStage({ scripts: [toolCall("c1", "Glob", { pattern: "*.md", directory: "" }), "text: done"] });
		const sibling = path.join(stage.shareDir, "beside");
		mkdirSync(sibling);
		writeFileSync(path.join(sibling, "notes.md"), "x");
		stage.setScripts([toolCall("c1", "Glob", { pattern: "*.md", directory: sibling }), "text: done"]);
		const server = stage.serve("--wire", "--session", sessionId, "--add-dir", sibling, "--add-dir", ".");
		server.prompt("Look.");
		expect((await server.message("ToolResult")).params?.payload).toMatchObject({
			return_value: { is_error: false, output: "notes.md" },
		});
		await server.response("prompt");
		await end(server);
		const state = JSON.parse(readFileSync(path.join(stage.sessionDir(sessionId), "state.json"), "utf8"));
		expect(state.additional_dirs).toEqual([sibling]);
		expect(contextOf(stage)).toContain("notes.md");

		const again = stage.serve("--wire", "--session", sessionId);
		again.prompt("Look again.");
		expect((await again.message("ToolResult")).params?.payload).toMatchObject({ return_value: { is_error: false } });
		await again.response("prompt");
		await end(again);
	});

	it("must be an existing directory", async () => {
		const stage = createStage();
		const { code, stderr } = await stage.run("--wire", "--add-dir", "nowhere");
		expect(code).toBe(2);
		expect(stderr).toContain(`--add-dir: there is no directory ${path.join(stage.workDir, "nowhere")}`);
	});
});

describe("--skills-dir", () => {
	it("replaces the project's skills; those of the program always remain", async () => {
		const stage = createStage({ scripts: ["text: noted"] });
		for (const [directory, name] of [
			[".kimi/skills", "mine"],
			["other", "theirs"],
		] as const) {
			mkdirSync(path.join(stage.workDir, directory), { recursive: true });
			writeFileSync(path.join(stage.workDir, directory, `${name}.md`), `Do it as ${name}.\n`);
		}
		const plain = await commandNames(stage.serve("--wire"));
		expect(plain).toEqual(expect.arrayContaining(["skill:kimi-cli-help", "skill:mine", "skill:skill-creator"]));
		const server = stage.serve("--wire", "--session", sessionId, "--skills-dir", "other");
		const names = await commandNames(server);
		expect(names).toEqual(expect.arrayContaining(["skill:kimi-cli-help", "skill:skill-creator", "skill:theirs"]));
		expect(names).not.toContain("skill:mine");
		server.prompt("/skill:theirs today");
		await server.response("prompt");
		await end(server);
		expect(contextOf(stage)).toContain("Do it as theirs.\\n\\nUser request:\\ntoday");
		expect(contextOf(stage)).toContain("- theirs");
	});
});

describe("--max-ralph-iterations", () => {
	it("repeats a prompt until the model stops it", async () => {
		const stage = createStage({
			scripts: ["text: Half.", "text: <choice>CONTINUE</choice>", "text: <choice>STOP</choice>"],
		});
		const server = stage.serve("--wire", "--session", sessionId, "--max-ralph-iterations", "-1");
		server.prompt("Do it.");
		const words = outline(await server.readUntil((line) => line.id === "prompt"));
		expect(words.filter((word) => word === "TurnBegin")).toHaveLength(4);
		expect(words.at(-1)).toBe("finished");
		await end(server);
	});
});
