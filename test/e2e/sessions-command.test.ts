// The command `sessions` as people and programs run it, over this program's sessions and those of kimi-code.
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { createStage, executablePath, runExecutable, type Stage, toolCall } from "../support/executable/executable.ts";

const foreign = "session_0b0e1e1c-9d53-4a43-a1bb-2f9a34b5b7a1";

/** A session as kimi-code stores it; returns its home. */
function storeKimiCodeSession(stage: Stage): string {
	const home = path.join(stage.workDir, "..", "kimi-code-home");
	const directory = path.join(home, "sessions", "wd_work_0123abcd", foreign);
	mkdirSync(path.join(directory, "agents", "main"), { recursive: true });
	const state = { title: "Fix the bug", updatedAt: "2026-07-21T10:00:00.000Z", agents: { main: {} } };
	writeFileSync(path.join(directory, "state.json"), JSON.stringify(state));
	const index = { sessionId: foreign, sessionDir: directory, workDir: "/elsewhere" };
	writeFileSync(path.join(home, "session_index.jsonl"), `${JSON.stringify(index)}\n`);
	const message = (text: string, kind: string) => ({
		type: "context.append_message",
		message: { role: "user", content: [{ type: "text", text }], toolCalls: [], origin: { kind } },
	});
	const loop = (event: object) => ({ type: "context.append_loop_event", event });
	const records = [
		{ type: "metadata", protocol_version: "1.5" },
		{ type: "turn.prompt", input: [{ type: "text", text: "Fix it" }], origin: { kind: "user" } },
		message("Fix it", "user"),
		message("<system-reminder>no</system-reminder>", "injection"),
		loop({ type: "step.begin" }),
		loop({ type: "content.part", part: { type: "think", think: "hm" } }),
		loop({ type: "content.part", part: { type: "text", text: "I look." } }),
		loop({ type: "tool.call", toolCallId: "t", name: "Bash", args: {} }),
		loop({ type: "tool.result", toolCallId: "t", result: { output: "x" } }),
		loop({ type: "step.begin" }),
		loop({ type: "content.part", part: { type: "text", text: "Fixed." } }),
	];
	const lines = [...records.map((record) => JSON.stringify(record)), '{"torn'];
	writeFileSync(path.join(directory, "agents", "main", "wire.jsonl"), lines.join("\n"));
	return home;
}

/** Every file below a directory with its content and time. */
function contentOf(directory: string): unknown[] {
	return readdirSync(directory, { recursive: true, encoding: "utf8" }).map((name) => {
		const file = path.join(directory, name);
		const { mtimeMs } = statSync(file);
		return [name, mtimeMs, statSync(file).isFile() ? readFileSync(file, "utf8") : null];
	});
}

async function createSessions() {
	const stage = createStage({
		scripts: [`text: I look.\n${toolCall("call-1", "Shell", { command: "true" })}`, "text: Done."],
	});
	const home = storeKimiCodeSession(stage);
	const env = { ...stage.environment, KIMI_CODE_HOME: home };
	const run = (...argv: string[]) => runExecutable(executablePath, argv, { cwd: stage.workDir, env });
	expect(await run("--print", "--session", "own", "-p", "What is here?")).toMatchObject({ code: 0 });
	return { stage, home, run };
}

describe("agentwire sessions", () => {
	it("lists and shows those of both stores", async () => {
		const { stage, home, run } = await createSessions();
		const before = contentOf(home);
		const list = await run("sessions", "list", "--json");
		expect(JSON.parse(list.stdout)).toEqual({
			sessions: [
				{
					id: "own",
					store: "agentwire",
					work_dir: stage.workDir,
					title: "What is here?",
					updated_at: expect.any(String),
					archived: false,
				},
				{
					id: foreign,
					store: "kimi-code",
					work_dir: "/elsewhere",
					title: "Fix the bug",
					updated_at: "2026-07-21T10:00:00.000Z",
					archived: false,
				},
			],
		});
		const here = JSON.parse((await run("sessions", "list", "--work-dir", ".", "--json")).stdout);
		expect(here.sessions).toHaveLength(1);
		const table = (await run("sessions", "list")).stdout.split("\n");
		expect(table[0]).toMatch(/^USED \(UTC\) +ID +TITLE +DIRECTORY$/);
		expect(table[2]).toBe(`2026-07-21 10:00  ${foreign}  Fix the bug    /elsewhere (kimi-code)`);

		const own = JSON.parse((await run("sessions", "show", "session_own", "--json")).stdout);
		expect(own.messages).toEqual([
			{ role: "user", text: "What is here?", tools: [] },
			{ role: "assistant", text: "I look.", tools: ["Shell"] },
			{ role: "assistant", text: "Done.", tools: [] },
		]);
		const other = JSON.parse((await run("sessions", "show", foreign.replace("session_", ""), "--json")).stdout);
		expect(other.messages).toEqual([
			{ role: "user", text: "Fix it", tools: [] },
			{ role: "assistant", text: "I look.", tools: ["Bash"] },
			{ role: "assistant", text: "Fixed.", tools: [] },
		]);
		expect((await run("sessions", "show", "own")).stdout).toContain(
			"--- user\nWhat is here?\n\n--- assistant\nI look.\n[calls Shell]",
		);
		expect(await run("sessions", "delete", foreign, "--yes")).toMatchObject({ code: 1, stdout: "" });
		expect(contentOf(home)).toEqual(before);
	});

	it("exports and deletes", async () => {
		const { stage, run } = await createSessions();
		const archive = path.join(stage.workDir, "own.zip");
		expect(await run("sessions", "export", "own", "--output", archive)).toMatchObject({
			code: 0,
			stdout: `${archive}\n`,
		});
		expect(await run("sessions", "delete", "own")).toMatchObject({ code: 2, stderr: expect.stringContaining("--yes") });
		expect(await run("sessions", "delete", "own", "--yes", "--json")).toEqual({
			code: 0,
			stdout: '{"deleted":"own"}\n',
			stderr: "",
		});
		expect(existsSync(stage.sessionDir("own"))).toBe(false);
		expect(await run("sessions", "show", "own")).toMatchObject({
			code: 1,
			stderr: expect.stringContaining("no session"),
		});
	});

	it.each([
		[["sessions", "list"]],
		[["sessions", "show", "own"]],
		[["sessions", "delete", "own", "--yes"]],
		[["sessions", "fork", "own"]],
		[["sessions", "export", "own"]],
		[["export", "own"]],
	])("says of settings that cannot be read what is wrong: %j", async (words) => {
		const stage = createStage();
		const file = path.join(stage.shareDir, "config.toml");
		writeFileSync(file, "theme = 3\n");
		expect(await stage.run(...words)).toEqual({
			code: 1,
			stdout: "",
			stderr: `Error: Invalid configuration file ${file}:\n  theme: must be one of "dark", "light", found a number\n`,
		});
	});

	it.each([
		[[], "needs one of list, show, export, fork, delete"],
		[["fork"], "needs the id of a session"],
		[["fork", "own", "--into"], "--into needs a value (DIR)"],
		[["fork", "own", "--worktree=yes"], "--worktree takes no value"],
		[["fork", "own", "--all"], "does not know '--all'"],
		[["purge"], "does not know 'purge'"],
		[["show"], "needs the id of a session"],
		[["list", "--all"], "does not know '--all'"],
		[["show", "../x"], "cannot be the id of a session"],
	])("refuses %j", async (words, reason) => {
		const { code, stderr } = await createStage().run("sessions", ...words);
		expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining(reason) });
	});
});

/** A session of two turns in a repository: the first writes `a.txt` and `.env`, the second changes both. */
async function createTurns() {
	const stage = createStage();
	writeFileSync(path.join(stage.workDir, ".gitignore"), ".env\nnode_modules/\n");
	mkdirSync(path.join(stage.workDir, "node_modules"));
	writeFileSync(path.join(stage.workDir, "node_modules", "x.js"), "");
	const git = (...words: string[]) =>
		execFileSync("git", ["-c", "user.name=n", "-c", "user.email=e", ...words], { cwd: stage.workDir });
	git("init", "-q");
	git("add", ".gitignore");
	git("commit", "-qm", "First");
	const prompt = async (text: string, command: string) => {
		stage.setScripts([`text: Well.\n${toolCall("call-1", "Shell", { command })}`, "text: Done."]);
		expect(await stage.run("--yolo", "--session", "own", "-p", text)).toMatchObject({ code: 0 });
	};
	await prompt("Write it", "echo one > a.txt; echo KEY=1 > .env");
	await prompt("Change it", "echo two > a.txt; echo KEY=2 > .env");
	return {
		stage,
		git,
		prompt,
		read: (directory: string, name: string) => readFileSync(path.join(directory, name), "utf8"),
	};
}

describe("agentwire sessions fork", () => {
	it("continues a copy of a session, or of its beginning, in the same directory", async () => {
		const { stage, read } = await createTurns();
		const { code, stdout, stderr } = await stage.run("sessions", "fork", "own");
		const [, id = ""] = /^Forked own as (\S+) in /.exec(stdout) ?? [];
		expect({ code, stdout, stderr }).toEqual({
			code: 0,
			stdout: `Forked own as ${id} in ${stage.workDir}.\nContinue it: agentwire -w ${stage.workDir} -r ${id}\n`,
			stderr: "",
		});
		expect((await stage.run("sessions", "show", id)).stdout).toMatch(/Write it.*Change it/s);
		const cut = await stage.run("sessions", "fork", "session_own", "--before", "2", "--json");
		const forked = JSON.parse(cut.stdout);
		expect(forked).toEqual({
			forked: "own",
			id: expect.any(String),
			work_dir: stage.workDir,
			left: [],
			reasons: [],
		});
		const shown = (await stage.run("sessions", "show", forked.id)).stdout;
		expect(shown).toContain("Write it");
		expect(shown).not.toContain("Change it");
		expect(read(stage.workDir, "a.txt")).toBe("two\n");
	});

	it("copies the files as they were before a turn, and names what it could not copy", async () => {
		const { stage, git, read } = await createTurns();
		const beside = `${stage.workDir}-fork`;
		const { code, stdout } = await stage.run("sessions", "fork", "own", "--before=2", "--files");
		expect(code).toBe(0);
		expect(stdout).toContain(` in ${beside}.\nNot copied: node_modules: git ignores the directory`);
		expect([read(beside, "a.txt"), read(beside, ".env")]).toEqual(["one\n", "KEY=1\n"]);
		expect(existsSync(path.join(beside, ".git"))).toBe(false);
		const [, id = ""] = /^Forked own as (\S+) in /.exec(stdout) ?? [];
		stage.setScripts([`text: Look.\n${toolCall("call-3", "Shell", { command: "cat a.txt > seen.txt" })}`, "text: So."]);
		expect(await stage.run("-w", beside, "-r", id, "--yolo", "-p", "Read it")).toMatchObject({ code: 0 });
		expect(read(beside, "seen.txt")).toBe("one\n");
		// The next one does not meet the first.
		expect((await stage.run("sessions", "fork", "own", "--files")).stdout).toContain(` in ${beside}-2.\n`);
		const tree = path.join(stage.workDir, "..", "tree of it");
		const made = await stage.run("sessions", "fork", "own", "--into", "../tree of it", "--worktree");
		expect(made.stdout).toContain(`-w '${tree}' -r `);
		expect([read(tree, "a.txt"), read(tree, ".env")]).toEqual(["two\n", "KEY=2\n"]);
		expect(git("worktree", "list", "--porcelain").toString()).toContain(`worktree ${tree}\n`);
	});

	it("says why there is no fork", async () => {
		const { stage, prompt } = await createTurns();
		await prompt("Read it", "cat a.txt | head -1 && git status");
		const fork = async (...words: string[]) => {
			const { code, stderr } = await stage.run("sessions", "fork", ...words);
			return { code, stderr };
		};
		expect(await fork("other")).toEqual({
			code: 1,
			stderr: `Error: there is no session "other"; 'sessions list' shows them all.\n`,
		});
		expect(await fork("own", "--before", "4")).toEqual({
			code: 1,
			stderr:
				'Error: The session own has no turn "4". Its turns:\n1. Write it (changed files)\n2. Change it (changed files)\n3. Read it\n',
		});
		expect(await fork("own", "--into", "inside")).toEqual({
			code: 1,
			stderr: expect.stringContaining(`inside is inside the work directory ${stage.workDir}.`),
		});
		expect(await fork("own", "--into", "..")).toEqual({
			code: 1,
			stderr: expect.stringContaining("exists and is not empty. Choose a new directory."),
		});
		expect(JSON.parse((await stage.run("sessions", "list", "--json")).stdout).sessions).toHaveLength(1);
	});
});

describe("agentwire store", () => {
	it("archives what it can, although one session is damaged, and names that one", async () => {
		const { stage, run } = await createSessions();
		const [found] = readdirSync(stage.shareDir, { recursive: true, encoding: "utf8" }).filter((file) => {
			return file.endsWith(path.join("own", "journal.jsonl"));
		});
		const journal = path.join(stage.shareDir, found ?? "");
		expect(await run("--print", "--session", "later", "-p", "And now?")).toMatchObject({ code: 0 });
		rmSync(journal);
		mkdirSync(journal);
		const archived = await run("store", "archive", "--older-than", "0m", "--json");
		expect(archived.code).toBe(1);
		const failed = [{ session: "own", reason: expect.stringContaining("Cannot read the session in ") }];
		expect(JSON.parse(archived.stdout)).toEqual({ archived: ["later"], open: [], failed });
		const again = await run("store", "archive", "--older-than", "0m");
		expect(again).toMatchObject({ code: 1, stdout: "Archived: 0.\n" });
		expect(again.stderr).toMatch(/^Not archived: own: Cannot read the session in .*\n$/);
	});
});
