// Print mode as scripts use it: the built executable in shell commands, its output through pipes, its exit codes.
import { spawn } from "node:child_process";
import { existsSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it, vi } from "vitest";
import { hasSandbox } from "../support/executable/bubblewrap.ts";
import { createStage, executablePath, runExecutable, type Stage, toolCall } from "../support/executable/executable.ts";
import { hasTerminal, onTerminal } from "../support/executable/terminal.ts";
import { fixture, writeServers } from "../support/mcp/mcp-stage.ts";

/** Runs a shell script in the work dir; in it `$agentwire` is the executable and `$node` is Node. */
function shell(stage: Stage, script: string) {
	const env = { ...stage.environment, agentwire: executablePath, node: process.execPath };
	return runExecutable("/bin/sh", ["-c", script], { cwd: stage.workDir, env });
}

const lines = (text: string) => text.split("\n").filter((line) => line !== "");
const objects = (text: string): unknown[] => lines(text).map((line) => JSON.parse(line));
const shellCall = (command: string) => toolCall("call-1", "Shell", { command });
const user = (content: unknown) => JSON.stringify({ role: "user", content });
const toStdin = (...messages: readonly string[]) => `printf '%s\\n' ${messages.map((each) => `'${each}'`).join(" ")}`;

describe("text output", () => {
	it("shows the answer, the calls and their results, and on stderr how to continue", async () => {
		const stage = createStage({
			scripts: [`text: I look.\n${shellCall("echo one; echo two")}`, "think: so\ntext: Two lines."],
		});
		expect(await shell(stage, '"$agentwire" --print --session s --prompt "what is here?"')).toEqual({
			code: 0,
			stdout: 'I look.\n> Shell {"command":"echo one; echo two"}\n< Shell: one (2 lines)\nTwo lines.\n',
			stderr: expect.stringMatching(/^Commands run .*\n\nTo resume this session: agentwire -r s\n$/),
		});
	});

	it("reads its prompt from a pipe, a file or a here-document", async () => {
		const stage = createStage({ scripts: ["text: yes"] });
		writeFileSync(path.join(stage.workDir, "prompt.txt"), "from a file\n");
		const script = `
			echo "from a pipe" | "$agentwire" --quiet --session a
			"$agentwire" --quiet --session b < prompt.txt
			"$agentwire" --quiet --session c <<-END
				from here
				and on
			END`;
		expect(await shell(stage, script)).toMatchObject({ code: 0, stdout: "yes\nyes\nyes\n" });
		expect(["a", "b", "c"].map((id) => inputsOf(stage, id))).toEqual([
			["from a pipe"],
			["from a file"],
			["from here\nand on"],
		]);
	});

	it("names on stderr the MCP servers that cannot be used, and not on stdout", async () => {
		const stage = createStage({ scripts: ["text: Done."] });
		writeServers(stage, { gone: fixture("exit", "3"), good: fixture() });
		const { code, stdout, stderr } = await shell(stage, '"$agentwire" --quiet --session s -p go');
		expect([code, stdout]).toEqual([0, "Done.\n"]);
		const log = path.join(stage.shareDir, "logs", "agentwire.log");
		expect(stderr.split("\n")[0]).toBe(
			`The MCP server "gone" cannot be used, and its tools are missing: it did not start, or does not answer. ${log} has the reason.`,
		);
		expect(stderr).not.toContain("good");
		expect(readFileSync(log, "utf8")).toContain("gone");
	});

	it("is nothing but the last message with --quiet", async () => {
		const stage = createStage({ scripts: [`text: I look.\n${shellCall("true")}`, "text: Done."] });
		const { stdout } = await shell(stage, 'answer=$("$agentwire" --quiet -p go) && echo "It says: $answer"');
		expect(stdout).toBe("It says: Done.\n");
	});
});

describe("commands", () => {
	const shareDirCall = shellCall('ls "$KIMI_SHARE_DIR/sessions" >/dev/null && echo seen');
	const run = async (program: string, ...words: readonly string[]) => {
		const stage = createStage({ scripts: [shareDirCall, "text: Done."] });
		const link = path.join(stage.workDir, program);
		symlinkSync(executablePath, link);
		return await shell(stage, `./${program} ${words.join(" ")} --print-format people --print -p go`);
	};

	it.runIf(hasSandbox())("run in a sandbox with the machine's network, and stderr says so once", async () => {
		const { stdout, stderr } = await run("agentwire");
		expect(stdout).toContain("Shell failed");
		expect(stderr).toMatch(/^Commands run in a sandbox: .* --yolo runs them with your rights\.\n\nTo resume/);
		const call = shellCall('readlink /proc/self/ns/net; touch a && rm a && echo "in $PWD"');
		const stage = createStage({ scripts: [call, "text: Done."] });
		const { stdout: both } = await shell(stage, 'readlink /proc/self/ns/net; "$agentwire" --print -p go');
		const [outside = ""] = lines(both);
		expect(both.split(outside)).toHaveLength(3);
	});

	it.each([
		["agentwire", "--yolo"],
		["kimi", ""],
	])("run with the user's rights for %s %s", async (program, flag) => {
		const { stdout, stderr } = await run(program, flag);
		expect(stdout).toContain("Shell: seen");
		expect(stderr).not.toContain("Commands run");
	});
});

describe("background work", () => {
	const inBackground = (command: string, timeout: number) =>
		toolCall("b1", "Shell", { command, timeout, run_in_background: true, description: "a short job" });

	it("is awaited, and the agent is notified of its end", async () => {
		const stage = createStage({
			scripts: [inBackground("sleep 0.3; echo finished > done.txt", 30), "text: Started.", "text: It is over."],
		});
		const { code, stdout } = await shell(stage, '"$agentwire" --print --session s -p "do it" && cat done.txt');
		expect(code).toBe(0);
		expect(stdout).toContain("Started.");
		expect(stdout).toMatch(/It is over\.\nfinished\n$/);
		expect(readFileSync(path.join(stage.sessionDir("s"), "context.jsonl"), "utf8")).toContain("<task-notification>");
	});

	it("is ended when it takes too long, with 1", async () => {
		const stage = createStage({ scripts: [inBackground("sleep 30; touch late.txt", 60), "text: Started."] });
		const config = JSON.stringify({ ...JSON.parse(stage.configText), background: { print_wait_ceiling_s: 1 } });
		const { code, stdout } = await runExecutable(executablePath, ["--print", "-p", "do it", "--config", config], {
			cwd: stage.workDir,
			env: stage.environment,
		});
		expect(code).toBe(1);
		expect(stdout).toMatch(/Background tasks were still running after 1 s and were ended: bash-[a-z0-9]{8}\./);
		await vi.waitFor(() => expect(stage.commands()).toEqual([]));
		expect(existsSync(path.join(stage.workDir, "late.txt"))).toBe(false);
	});
});

describe("an empty prompt on stdin", () => {
	it.each([
		["of a file without a byte", "< /dev/null"],
		["of a pipe with blanks", "<<-END\n\n  \nEND"],
	])("%s is nothing to do: no output, no session, exit code 0", async (_name, input) => {
		const stage = createStage();
		for (const flags of ["--print", "--quiet", "--print --output-format stream-json"]) {
			const ran = await shell(stage, `"$agentwire" ${flags} ${input}`);
			expect(ran).toEqual({ code: 0, stdout: "", stderr: "" });
		}
		expect(stage.sessionIds()).toEqual([]);
	});
});

describe("an endless prompt on stdin", () => {
	it("is refused once it is longer than a prompt may be, and read no further", async () => {
		const stage = createStage();
		const ends = { cwd: stage.workDir, env: stage.environment };
		const done = await runExecutable("/bin/sh", ["-c", `yes | "$0" --print`, executablePath], ends);
		expect(done).toMatchObject({ code: 2, stdout: "" });
		expect(done.stderr).toContain("stdin cannot be read: it has more than 100 MiB");
	});
});

describe("stream-json output", () => {
	it("is the conversation, a message a line", async () => {
		const stage = createStage({ scripts: [`text: I look.\n${shellCall("echo hello")}`, "think: so\ntext: Hello."] });
		const { code, stdout } = await shell(stage, '"$agentwire" --print -p hi --output-format stream-json');
		expect(code).toBe(0);
		const call = { type: "function", id: "call-1", function: { name: "Shell", arguments: '{"command":"echo hello"}' } };
		expect(objects(stdout)).toEqual([
			{ role: "assistant", content: "I look.", tool_calls: [call] },
			{
				role: "tool",
				content: [
					{ type: "text", text: "<system>Command executed successfully.</system>" },
					{ type: "text", text: "hello\n" },
				],
				tool_call_id: "call-1",
			},
			{
				role: "assistant",
				content: [
					{ type: "think", think: "so", encrypted: null },
					{ type: "text", text: "Hello." },
				],
			},
		]);
	});

	it("goes through a pipe into a program", async () => {
		const stage = createStage({ scripts: ["text: 42"] });
		const reader = 'JSON.parse(require("fs").readFileSync(0)).content';
		const script = `"$agentwire" --print -p hi --output-format stream-json | "$node" -p '${reader}'`;
		expect(await shell(stage, script)).toMatchObject({ code: 0, stdout: "42\n" });
	});

	it("is one message with --final-message-only", async () => {
		const stage = createStage({ scripts: [`text: I look.\n${shellCall("true")}`, "think: so\ntext: Done."] });
		const { stdout } = await shell(
			stage,
			'"$agentwire" --print -p hi --output-format stream-json --final-message-only',
		);
		expect(stdout).toBe('{"role":"assistant","content":"Done."}\n');
	});

	it("does not have what a failed attempt said", async () => {
		const stage = createStage({ scripts: ["think: half an answer", "text: whole"] });
		const { code, stdout } = await shell(stage, '"$agentwire" --print -p hi --output-format stream-json');
		expect(code).toBe(0);
		expect(objects(stdout)).toEqual([{ role: "assistant", content: "whole" }]);
	});
});

describe("stream-json input", () => {
	it("is a turn for each user message, and skips the rest with a line on stderr", async () => {
		const stage = createStage({ scripts: ["text: first", "text: second"] });
		const messages = [
			user("one"),
			"nonsense",
			'{"role":"system","content":"be nice"}',
			"",
			user([{ type: "text", text: "two" }]),
		];
		const script = `${toStdin(...messages)} | "$agentwire" --print --session s --input-format stream-json --output-format stream-json`;
		const { code, stdout, stderr } = await shell(stage, script);
		expect(code).toBe(0);
		expect(objects(stdout)).toEqual([
			{ role: "assistant", content: "first" },
			{ role: "assistant", content: "second" },
		]);
		expect(stderr).toMatch(/^Line 2 .*not JSON\.\nLine 3 .*"system".*\n\nTo resume/);
		expect(inputsOf(stage, "s")).toEqual(["one", [{ type: "text", text: "two" }]]);
	});

	it("is answered as it comes", async () => {
		const stage = createStage({ scripts: ["text: first", "text: second"] });
		const program = stage.serve("--print", "--input-format", "stream-json", "--output-format", "stream-json");
		program.write(`${user("one")}\n`);
		expect(await program.read()).toEqual({ role: "assistant", content: "first" });
		program.write(`${user("two")}\n`);
		expect(await program.read()).toEqual({ role: "assistant", content: "second" });
		program.endInput();
		expect(await program.readAll()).toEqual([]);
		expect(await program.exited).toBe(0);
	});

	it("follows the prompt of the command line, and ends with the first turn that fails", async () => {
		const stage = createStage({ scripts: ["text: zeroth", "error: 400 no", "text: never"] });
		const script = `${toStdin(user("one"), user("two"))} | "$agentwire" --print -p zero --input-format stream-json`;
		expect(await shell(stage, script)).toMatchObject({ code: 1, stdout: "zeroth\nError: no\n" });
	});

	it("may be empty", async () => {
		const stage = createStage();
		const script = '"$agentwire" --print --input-format stream-json < /dev/null';
		expect(await shell(stage, script)).toEqual({ code: 0, stdout: "", stderr: "" });
		expect(stage.sessionIds()).toEqual([]);
	});
});

describe("exit codes", () => {
	const outOfLuck = (error: string) => [error, error, error];
	it.each([
		["a status that may pass", outOfLuck("error: 503 busy"), "busy", 75],
		["too many requests", outOfLuck("error: 429 slow down"), "slow down", 75],
		["a lost connection", outOfLuck("error: connection gone"), "gone", 75],
		["a timeout", outOfLuck("error: timeout late"), "late", 75],
		["an empty answer", outOfLuck("think: hm"), "The model sent an empty answer.", 75],
		["a status that will not pass", ["error: 401 who are you"], "who are you", 1],
	])("%s", async (_name, scripts, message, code) => {
		const stage = createStage({ scripts });
		const flags = ["--print", "-p", "hi", "--max-retries-per-step", "1"];
		expect(await stage.run(...flags)).toMatchObject({ code, stdout: `Error: ${message}\n` });
		const json = await stage.run(...flags, "--output-format", "stream-json", "--final-message-only");
		expect(json.code).toBe(code);
		expect(json.stdout).toBe(`${message}\n`);
	});

	it("are those of a shell's && and ||", async () => {
		const stage = createStage({ scripts: ["error: 503 busy"] });
		const script = `
			"$agentwire" --quiet -p hi --max-retries-per-step 1 > answer.txt && echo ok || echo "failed with $?"
			cat answer.txt`;
		expect(await shell(stage, script)).toMatchObject({ code: 0, stdout: "failed with 75\nError: busy\n" });
	});

	it("0 for a repeated prompt, with one last message", async () => {
		const stage = createStage({ scripts: ["text: begun", "text: more <choice>STOP</choice>"] });
		const { code, stdout } = await stage.run("--quiet", "-p", "hi", "--max-ralph-iterations", "3");
		expect({ code, stdout }).toEqual({ code: 0, stdout: "more <choice>STOP</choice>\n" });
	});

	it("1 after the last step, with the number of steps", async () => {
		const stage = createStage({ scripts: [shellCall("true"), shellCall("true")] });
		const { code, stdout } = await stage.run("--quiet", "-p", "hi", "--max-steps-per-turn", "1");
		expect(code).toBe(1);
		expect(stdout).toMatch(/^Error: Max number of steps reached: 1\..*--max-steps-per-turn.*\n$/);
	});

	it("1 after the last repetition of the Ralph loop, with the setting that limits it", async () => {
		const stage = createStage({ scripts: ["text: begun", "text: <choice>CONTINUE</choice>"] });
		const { code, stdout } = await stage.run("--quiet", "-p", "hi", "--max-ralph-iterations", "1");
		expect(code).toBe(1);
		expect(stdout).toMatch(/^Error: Max number of steps reached: 2\..*--max-ralph-iterations.*\n$/);
		expect(stdout).not.toContain("--max-steps-per-turn");
	});

	it("1 without a model, naming the one asked for", async () => {
		expect(await createStage().run("--quiet", "-p", "hi", "-m", "none")).toMatchObject({
			code: 1,
			stdout: 'Error: LLM not set: the settings do not have the model "none", but these: m\n',
		});
	});

	it("0 for a side question, whose answer is printed", async () => {
		const stage = createStage({ scripts: ["text: Because."] });
		expect(await stage.run("--print", "-p", "/btw why?")).toMatchObject({ code: 0, stdout: "Because.\n" });
		expect(await stage.run("--quiet", "-p", "/btw why?")).toMatchObject({ code: 0, stdout: "Because.\n" });
		const { code, stdout } = await stage.run("--print", "--output-format", "stream-json", "-p", "/btw why?");
		expect(code).toBe(0);
		expect(objects(stdout)).toEqual([{ role: "assistant", content: "Because." }]);
	});

	it("1 for such a question that the model does not answer", async () => {
		const stage = createStage({ scripts: ["no script"] });
		const { code, stdout } = await stage.run("--quiet", "-p", "/btw why?");
		expect(code).toBe(1);
		expect(stdout).toMatch(/^Error: .*no script.*\n$/);
	});

	it("1 for a command that needs the model, naming the one asked for", async () => {
		const stage = createStage();
		await stage.run("--quiet", "-p", "hi", "--session", "s");
		expect(await stage.run("--quiet", "-p", "/compact", "-m", "none", "--session", "s")).toMatchObject({
			code: 1,
			stdout: 'Error: LLM not set: the settings do not have the model "none", but these: m\n',
		});
	});

	it("1 for settings that cannot be used, on stderr", async () => {
		const stage = createStage();
		writeFileSync(path.join(stage.shareDir, "config.toml"), "default_model =");
		const { code, stdout, stderr } = await stage.run("--print", "-p", "hi");
		expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
		expect(stderr).toMatch(/config\.toml/);
	});

	it.each<[string, readonly string[], RegExp]>([
		["nothing to continue", ["--print", "-p", "hi", "--continue"], /--continue/],
		["an unknown format", ["--print", "-p", "hi", "--output-format", "xml"], /--output-format/],
		["an option of print mode without it", ["--output-format", "text"], /--print/],
		["two modes", ["--print", "--wire"], /Cannot combine/],
		["--quiet in JSON", ["--quiet", "-p", "hi", "--output-format", "stream-json"], /Cannot combine/],
	])("2 for %s", async (_name, argv, said) => {
		const stage = createStage();
		const { code, stdout, stderr } = await stage.run(...argv);
		expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
		expect(stderr).toMatch(said);
		expect(stage.sessionIds()).toEqual([]);
	});
});

describe("nobody at the keyboard", () => {
	it("approves without a request, and persists nothing of it", async () => {
		const stage = createStage({ scripts: [shellCall("echo hi > made"), "text: ok"] });
		expect(await stage.run("--quiet", "-p", "hi", "--session", "s")).toMatchObject({ code: 0, stdout: "ok\n" });
		expect(existsSync(path.join(stage.workDir, "made"))).toBe(true);
		const state = JSON.parse(readFileSync(path.join(stage.sessionDir("s"), "state.json"), "utf8"));
		expect(state.approval).toMatchObject({ yolo: false, afk: false });
		expect(readFileSync(path.join(stage.sessionDir("s"), "context.jsonl"), "utf8")).not.toContain("afk");
	});

	it("answers questions by itself", async () => {
		const question = { question: "Which?", header: "", options: [{ label: "a" }, { label: "b" }] };
		const stage = createStage({
			scripts: [toolCall("call-1", "AskUserQuestion", { questions: [question] }), "text: I took a."],
		});
		const { code, stdout } = await stage.run("--print", "-p", "hi");
		expect(code).toBe(0);
		expect(stdout).toMatch(/^> AskUserQuestion .*\n< AskUserQuestion.*\nI took a\.\n$/);
	});

	it("plans, and carries the plan out", async () => {
		const stage = createStage({ scripts: ["text: I plan."] });
		await stage.run("--print", "-p", "plan it", "--plan", "--session", "s");
		const state = JSON.parse(readFileSync(path.join(stage.sessionDir("s"), "state.json"), "utf8"));
		const file = path.join(stage.shareDir, "plans", `${state.plan_slug}.md`);
		stage.setScripts([
			toolCall("call-1", "WriteFile", { path: file, content: "# The plan\n" }),
			toolCall("call-2", "ExitPlanMode", {}),
			"text: Done.",
		]);
		const { code, stdout } = await stage.run("--print", "-p", "go on", "-S", "s", "--output-format", "stream-json");
		expect(code).toBe(0);
		expect(stdout).toContain("# The plan");
		expect(objects(stdout).at(-1)).toEqual({ role: "assistant", content: "Done." });
		expect(JSON.parse(readFileSync(path.join(stage.sessionDir("s"), "state.json"), "utf8")).plan_mode).toBe(false);
	});

	it("ended by /afk refuses what is requested, and plans are shown", async () => {
		const stage = createStage({ scripts: ["text: I plan."] });
		await stage.run("--print", "-p", "plan it", "--plan", "--session", "s");
		const state = JSON.parse(readFileSync(path.join(stage.sessionDir("s"), "state.json"), "utf8"));
		const file = path.join(stage.shareDir, "plans", `${state.plan_slug}.md`);
		stage.setScripts([
			toolCall("call-1", "WriteFile", { path: file, content: "# The plan\n" }),
			toolCall("call-2", "ExitPlanMode", {}),
			toolCall("call-3", "Shell", { command: "echo no > made" }),
			"text: Still here.",
		]);
		const script = `${toStdin(user("/afk"), user("go on"))} | "$agentwire" --print -S s --input-format stream-json --output-format stream-json`;
		const { code, stdout } = await shell(stage, script);
		expect(code).toBe(0);
		const printed = objects(stdout);
		expect(printed).toContainEqual({ type: "PlanDisplay", payload: { content: "# The plan\n", file_path: file } });
		expect(printed).toContainEqual({
			role: "tool",
			content: expect.stringContaining("Nobody is there to be asked"),
			tool_call_id: "call-3",
		});
		expect(printed.at(-1)).toEqual({ role: "assistant", content: "Still here." });
		expect(existsSync(path.join(stage.workDir, "made"))).toBe(false);
	});
});

describe("sessions", () => {
	it("continue with --continue, also after a run that failed", async () => {
		const stage = createStage({ scripts: ["text: ok"] });
		const script = `
			"$agentwire" --quiet -p one
			"$agentwire" --quiet --continue -p two
			"$agentwire" --quiet --continue --model none -p three
			echo four | "$agentwire" --quiet --continue`;
		expect((await shell(stage, script)).stdout).toMatch(/^ok\nok\nError: .*\nok\n$/);
		const ids = stage.sessionIds();
		expect(ids).toHaveLength(1);
		expect(inputsOf(stage, ids[0] ?? "")).toEqual(["one", "two", "three", "four"]);
	});

	it("can be continued by a server", async () => {
		const stage = createStage({ scripts: ["text: ok"] });
		await stage.run("--quiet", "-p", "one", "--session", "s");
		const server = stage.serve("--wire", "--session", "s");
		server.prompt("two");
		expect(await server.response("prompt")).toMatchObject({ result: { status: "finished" } });
		server.endInput();
		expect(await server.exited).toBe(0);
		expect(inputsOf(stage, "s")).toEqual(["one", "two"]);
	});
});

/** A running program whose output is text; `begun` resolves with its first piece. */
function startReading(stage: Stage, ...flags: readonly string[]) {
	const child = spawn(executablePath, flags, { cwd: stage.workDir, env: stage.environment });
	let stdout = "";
	let stderr = "";
	child.stdout.setEncoding("utf8").on("data", (text: string) => {
		stdout += text;
	});
	child.stderr.setEncoding("utf8").on("data", (text: string) => {
		stderr += text;
	});
	return {
		begun: new Promise<void>((resolve) => child.stdout.once("data", () => resolve())),
		exited: new Promise<number | null>((resolve) => child.once("close", resolve)),
		stdout: () => stdout,
		stderr: () => stderr,
		kill: (signal: NodeJS.Signals) => child.kill(signal),
	};
}

describe("being stopped", () => {
	async function startSleeping(stage: Stage) {
		const program = startReading(stage, "--print", "-p", "hi", "--session", "s", "--output-format", "stream-json");
		await program.begun;
		if (process.platform === "linux") {
			await vi.waitFor(() => expect(stage.commands()).toContain("sleep 1000"), { timeout: 5000, interval: 20 });
		}
		return program;
	}
	const nothingRuns = (stage: Stage) =>
		vi.waitFor(() => expect(stage.commands()).toEqual([]), { timeout: 3000, interval: 20 });

	it.each([
		["SIGINT", 130],
		["SIGTERM", 143],
		["SIGHUP", 129],
	] as const)("%s during a tool ends the turn and the tool, with %i", async (signal, code) => {
		const stage = createStage({ scripts: [shellCall("sleep 1000 & sleep 1000")] });
		const program = await startSleeping(stage);
		const before = performance.now();
		program.kill(signal);
		expect(await program.exited).toBe(code);
		expect(lines(program.stdout()).at(-1)).toBe("Interrupted by user");
		expect(performance.now() - before).toBeLessThan(2000);
		expect(stage.loggedTypes("s").at(-1)).toBe("TurnEnd");
		expect(stage.lastSessionId()).toBe("s");
		await nothingRuns(stage);
	});

	it("a second SIGINT ends it at once", async () => {
		const stage = createStage({ scripts: [shellCall("sleep 1000")] });
		const hook = { event: "SessionEnd", command: "sleep 1000" };
		const config = JSON.stringify({ ...JSON.parse(stage.configText), hooks: [hook] });
		const program = startReading(stage, "--print", "-p", "hi", "--config", config, "--output-format", "stream-json");
		await program.begun;
		program.kill("SIGINT");
		await vi.waitFor(() => expect(program.stdout()).toContain("Interrupted by user\n"), { interval: 20 });
		// The hook may take a second.
		const before = performance.now();
		program.kill("SIGINT");
		expect(await program.exited).toBe(130);
		expect(performance.now() - before).toBeLessThan(900);
		expect(program.stderr()).toMatch(/^(?:Commands run .*\n)?$/);
	});

	it("while it waits for a message, ends it as well", async () => {
		const stage = createStage({ scripts: ["text: first"] });
		const flags = ["--session", "s", "--input-format", "stream-json", "--output-format", "stream-json"];
		const program = stage.serve("--print", ...flags);
		program.write(`${user("one")}\n`);
		await program.read();
		await vi.waitFor(() => expect(stage.loggedTypes("s").at(-1)).toBe("TurnEnd"));
		program.kill("SIGINT");
		expect(await program.readAll()).toEqual([]);
		expect(await program.exited).toBe(130);
	});

	it("while it waits for the end of its prompt, ends it as well", async () => {
		const stage = createStage();
		const child = spawn(executablePath, ["--print"], { cwd: stage.workDir, env: stage.environment });
		const exited = new Promise((resolve) => child.once("exit", resolve));
		// More than a pipe holds: it is written once somebody reads.
		await new Promise((resolve) => child.stdin.write("x".repeat(1_000_000), resolve));
		child.kill("SIGTERM");
		expect(await exited).toBe(143);
		expect(stage.sessionIds()).toEqual([]);
	});

	it.each(["text", "stream-json"])(
		"a reader of %s that goes away ends the turn without output, with 141",
		async (format) => {
			const script = Array.from({ length: 20_000 }, (_, n) => `text: part ${n} of a long answer `).join("\n");
			const first = `text: begin${"x".repeat(200_000)}\n${toolCall("call-1", "SetTodoList", { todos: [] })}`;
			const stage = createStage({ scripts: [first, script] });
			const flags = `--print -p hi --session s --output-format ${format}`;
			const command = `{ "$agentwire" ${flags}; echo "code $?" >&2; } | head -c 100 | wc -c`;
			const { stdout, stderr } = await shell(stage, command);
			expect(stdout.trim()).toBe("100");
			expect(stderr).toBe("code 141\n");
			expect(stage.loggedTypes("s").at(-1)).toBe("TurnEnd");
		},
	);

	it("a disk that is full ends the turn and is named", async () => {
		if (!existsSync("/dev/full")) return;
		const { code, stderr } = await shell(createStage(), '"$agentwire" --print -p hi > /dev/full');
		expect(code).toBe(1);
		expect(stderr).toMatch(/^Cannot write to stdout: ENOSPC.*\n$/);
	});

	it("a slow reader gets the whole output", async () => {
		const parts = Array.from({ length: 20_000 }, (_, n) => `part ${n}`);
		const stage = createStage({ scripts: [parts.map((part) => `text: ${part},`).join("\n")] });
		const { stdout } = await shell(stage, '"$agentwire" --quiet -p hi | { sleep 2.5; cat; }');
		expect(stdout).toBe(`${parts.map((part) => `${part},`).join("")}\n`);
	});
});

describe("the progress line", () => {
	it.runIf(hasTerminal)("is shown on the stderr of a terminal only, and is erased in the end", async () => {
		const stage = createStage({ scripts: [`text: begin\n${shellCall("sleep 0.6")}`, "text: end"] });
		const script = onTerminal('TERM=xterm "$agentwire" --print -p hi --session s > answer.txt');
		const { stdout } = await shell(stage, script);
		expect(stdout).toContain('Shell {"command":"sleep 0.6"}, step 1, ');
		expect(stdout.split("\u001b[K").at(-1)).toBe("\r\nTo resume this session: agentwire -r s\r\n");
		expect(readFileSync(path.join(stage.workDir, "answer.txt"), "utf8")).toBe(
			'begin\n> Shell {"command":"sleep 0.6"}\n< Shell: Command executed successfully.\nend\n',
		);
	});

	it.runIf(hasTerminal)("gives way to text on the same terminal", async () => {
		const stage = createStage({ scripts: [`text: begin\n${shellCall("sleep 0.6")}`, "text: end"] });
		const { stdout } = await shell(stage, onTerminal('TERM=xterm "$agentwire" --print -p hi'));
		expect(stdout).toContain(" s\r\u001b[K< Shell: Command executed successfully.\r\nend\r\n");
	});
});

describe("a server", () => {
	it("does not use a prompt of the command line, and logs that", async () => {
		const stage = createStage();
		const server = stage.serve("--wire", "--prompt", "hi");
		server.initialize();
		await server.response("initialize");
		server.endInput();
		expect(await server.exited).toBe(0);
		expect(stage.sessionIds()).toEqual([]);
		expect(readFileSync(path.join(stage.shareDir, "logs", "agentwire.log"), "utf8")).toContain(
			"A prompt on the command line",
		);
	});
});

/** What the turns of a session were begun with. */
function inputsOf(stage: Stage, sessionId: string): unknown[] {
	return lines(readFileSync(path.join(stage.sessionDir(sessionId), "wire.jsonl"), "utf8")).flatMap((line) => {
		const { message } = JSON.parse(line);
		return message?.type === "TurnBegin" ? [message.payload.user_input] : [];
	});
}
