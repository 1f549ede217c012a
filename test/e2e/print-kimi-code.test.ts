// What wrappers of kimi-code rely on: the built executable as they start it, the lines that they read, and the session
// that they continue by the id of the last line.
import { readFileSync, symlinkSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { createStage, executablePath, runExecutable, type Stage, toolCall } from "../support/executable/executable.ts";

const shellCall = (command: string) => toolCall("call-1", "Shell", { command });
const objects = (text: string): Record<string, unknown>[] =>
	text
		.split("\n")
		.filter((line) => line !== "")
		.map((line) => JSON.parse(line));
const json = ["--output-format", "stream-json"];

/** The executable under another name. */
function link(stage: Stage, name: string): string {
	const target = path.join(stage.workDir, "..", name);
	symlinkSync(executablePath, target);
	return target;
}

describe("the stream of -p", () => {
	it("has what was said and done, how it ended, and how to continue", async () => {
		const stage = createStage({
			scripts: [`think: hm\ntext: I look.\n${shellCall("echo hello")}`, "think: so\ntext: Hello."],
		});
		const { code, stdout, stderr } = await stage.run("-p", "hi", ...json);
		const [id] = stage.sessionIds();
		expect(objects(stdout)).toEqual([
			{ role: "meta", type: "system.version", version: expect.stringMatching(/^\d+\.\d+\.\d+/) },
			{
				role: "assistant",
				content: "I look.",
				tool_calls: [
					{ type: "function", id: "call-1", function: { name: "Shell", arguments: '{"command":"echo hello"}' } },
				],
			},
			{ role: "tool", tool_call_id: "call-1", content: "hello\n" },
			{ role: "assistant", content: "Hello." },
			{
				role: "meta",
				type: "turn.result",
				status: "finished",
				usage: {
					input_tokens: expect.any(Number),
					output_tokens: expect.any(Number),
					cache_read_tokens: 0,
					cache_creation_tokens: 0,
				},
			},
			{
				role: "meta",
				type: "session.resume_hint",
				session_id: `session_${id}`,
				command: `agentwire -r session_${id}`,
				content: `To resume this session: agentwire -r session_${id}`,
			},
		]);
		expect({ code, stderr }).toEqual({ code: 0, stderr: expect.stringMatching(/^Commands run .*\n$/) });
	});

	it("has {} for the arguments of a call that the model gave none", async () => {
		const call = JSON.stringify({ id: "c1", name: "TaskList", arguments: "" });
		const stage = createStage({ scripts: [`tool_call: ${call}`, "text: none"] });
		const { stdout } = await stage.run("-p", "hi", ...json);
		expect(objects(stdout)[1]).toMatchObject({ tool_calls: [{ function: { name: "TaskList", arguments: "{}" } }] });
	});

	it("passes unknown slash commands to the model", async () => {
		const stage = createStage({ scripts: ["text: I read it."] });
		const { stdout } = await stage.run("-p", "/review src/a.ts", ...json);
		expect(objects(stdout)[1]).toEqual({ role: "assistant", content: "I read it." });
	});

	it("exits 1 under the name kimi-code for an unknown session", async () => {
		const stage = createStage();
		const options = { cwd: stage.workDir, env: stage.environment };
		const ran = await runExecutable(link(stage, "kimi-code"), ["-p", "hi", "--session", "session_gone"], options);
		expect(ran).toMatchObject({ code: 1, stdout: "" });
		expect(ran.stderr).toContain('There is no session "session_gone".');
		expect(stage.sessionIds()).toEqual([]);
	});

	it("is chosen by the variable too", async () => {
		const stage = createStage();
		const env = { ...stage.environment, KIMI_MODEL_OUTPUT_FORMAT: "stream-json" };
		const { stdout } = await runExecutable(executablePath, ["-p", "hi"], { cwd: stage.workDir, env });
		expect(objects(stdout).map(({ role, type }) => type ?? role)).toEqual([
			"system.version",
			"assistant",
			"turn.result",
			"session.resume_hint",
		]);
	});

	it("names a retry and drops what the failed attempt said", async () => {
		const stage = createStage({ scripts: ["think: half an answer", "text: whole"] });
		const { stdout } = await stage.run("-p", "hi", ...json);
		const [, retry, answer] = objects(stdout);
		expect(retry).toMatchObject({
			role: "meta",
			type: "turn.step.retrying",
			failed_attempt: 1,
			next_attempt: 2,
			max_attempts: 3,
			delay_ms: expect.any(Number),
			error_name: expect.any(String),
			error_message: expect.any(String),
		});
		expect(answer).toEqual({ role: "assistant", content: "whole" });
	});

	it.each([
		["a refused key", ["error: 401 who are you"], 1, { code: "provider-failed", message: "who are you" }],
		["a busy provider", ["error: 503 busy"], 75, { code: "provider-failed", message: "busy" }],
	])("ends with the error of %s, and the exit code", async (_name, scripts, code, error) => {
		const stage = createStage({ scripts });
		const ran = await stage.run("-p", "hi", ...json, "--max-retries-per-step", "1");
		const [result] = objects(ran.stdout).filter(({ type }) => type === "turn.result");
		expect(result).toMatchObject({ status: "failed", error });
		expect(ran).toMatchObject({ code, stderr: `${error.message}\n` });
	});

	it("says that the steps were used up", async () => {
		const stage = createStage({ scripts: [shellCall("true"), shellCall("true")] });
		const ran = await stage.run("-p", "hi", ...json, "--max-steps-per-turn", "1");
		expect(objects(ran.stdout).find(({ type }) => type === "turn.result")).toMatchObject({
			status: "max_steps",
			error: { code: "max-steps" },
		});
		expect(ran.code).toBe(1);
	});

	it("says that it was stopped", async () => {
		const stage = createStage({ scripts: [`text: I wait.\n${shellCall("sleep 30")}`] });
		const program = stage.serve("-p", "hi", ...json);
		expect(await program.read()).toMatchObject({ type: "system.version" });
		expect(await program.read()).toMatchObject({ role: "assistant", content: "I wait." });
		program.kill("SIGTERM");
		const rest = await program.readAll();
		expect(rest.find((line) => "type" in line && line.type === "turn.result")).toMatchObject({ status: "cancelled" });
		expect(rest.at(-1)).toMatchObject({ type: "session.resume_hint" });
		expect(await program.exited).toBe(143);
	});

	it("is that of kimi-cli with --print", async () => {
		const stage = createStage();
		const { stdout } = await stage.run("--print", "-p", "hi", ...json);
		expect(stdout).toBe('{"role":"assistant","content":"done"}\n');
	});
});

describe("a session", () => {
	it("is continued by its id with the prefix, without it, and by -c under the name kimi-code", async () => {
		const stage = createStage({ scripts: ["text: one", "text: two", "text: three", "text: four"] });
		const name = link(stage, "kimi-code");
		const run = async (...argv: string[]) => {
			const options = { cwd: stage.workDir, env: stage.environment };
			const { code, stdout } = await runExecutable(name, [...argv, ...json], options);
			expect(code).toBe(0);
			const hint = objects(stdout).at(-1);
			expect(hint?.["command"]).toBe(`kimi-code -r ${hint?.["session_id"]}`);
			return String(hint?.["session_id"]);
		};
		const id = await run("-p", "first");
		expect(await run("-r", id, "-p", "second")).toBe(id);
		expect(await run("-S", id.replace("session_", ""), "-p", "third")).toBe(id);
		expect(await run("-c", "-p", "fourth")).toBe(id);
		expect(stage.sessionIds()).toEqual([id.replace("session_", "")]);
		const context = readFileSync(path.join(stage.sessionDir(id.replace("session_", "")), "context.jsonl"), "utf8");
		for (const prompt of ["first", "second", "third", "fourth"]) expect(context).toContain(prompt);
	});
});

describe("--print under the name kimi", () => {
	it("is what bridges of kimi-cli parse", async () => {
		const stage = createStage({ scripts: [`think: hm\ntext: I look.\n${shellCall("echo hello")}`, "text: Done."] });
		const options = { cwd: stage.workDir, env: stage.environment };
		const { code, stdout } = await runExecutable(link(stage, "kimi"), ["--print", "-p", "hi"], options);
		expect(code).toBe(0);
		const outline = stdout.split("\n").filter((line) => /^\w/.test(line));
		expect(outline.slice(0, 5)).toEqual([
			"hi",
			"TurnBegin(user_input='hi')",
			"StepBegin(n=1)",
			"ThinkPart(type='think', think='hm', encrypted=None)",
			"TextPart(type='text', text='I look.')",
		]);
		expect(outline.slice(5)).toEqual([
			"ToolCall(",
			"StatusUpdate(",
			"ToolResult(",
			"StepBegin(n=2)",
			"TextPart(type='text', text='Done.')",
			"StatusUpdate(",
			"TurnEnd()",
		]);
		const said = [...stdout.matchAll(/TextPart\(type='text', text='(.*?)'\)/g)].map(([, text]) => text);
		expect(said).toEqual(["I look.", "Done."]);
	});
});
