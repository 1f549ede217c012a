import { readFile } from "node:fs/promises";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
	briefOf,
	call,
	createToolPlace,
	prepareCall,
	type ToolPlace,
} from "../../../test/support/host/tool-environment.ts";
import { noTasks } from "../../../test/support/sessions/session-doubles.ts";
import type { TaskView } from "../../api/values/task-status.ts";
import type { CommandRequest } from "./operations.ts";
import { createShell } from "./shell.ts";
import type { Tool } from "./tool.ts";

let place: ToolPlace;
let shell: Tool;
beforeEach(async () => {
	place = await createToolPlace();
	shell = createShell(place.environment);
});
afterEach(() => place.remove());

describe("Shell", () => {
	it("requests approval with the command and returns its output", async () => {
		const prepared = await prepareCall(shell, { command: "pwd" });
		expect(prepared).toMatchObject({
			approval: {
				action: "run command",
				description: "Run command `pwd`",
				display: [{ type: "shell", language: "bash", command: "pwd" }],
			},
			hasEffect: true,
		});
		expect(await prepared.execute()).toEqual({
			is_error: false,
			output: `${place.at("work")}\n`,
			message: "Command executed successfully.",
			display: [],
			extras: null,
		});
	});

	it("sets SHELL and GIT_TERMINAL_PROMPT, and sends no input", async () => {
		const command = 'cat; echo "$SHELL $GIT_TERMINAL_PROMPT $HOME"';
		expect((await call(shell, { command })).output).toMatch(/^\/.*bash 0 .*\/home\n$/);
		const { environment } = place;
		const asking = createShell({
			...environment,
			environment: { ...environment.environment, GIT_TERMINAL_PROMPT: "1" },
		});
		expect((await call(asking, { command: "echo $GIT_TERMINAL_PROMPT" })).output).toBe("1\n");
	});

	it("does not let `git status` write the index, which would run a planted hook", async () => {
		const plant = `git init -q . && echo a > a && git add a && printf '#!/bin/sh\\necho ran >> hooked\\n' > .git/hooks/post-index-change && chmod +x .git/hooks/post-index-change`;
		const stale = "touch -d '2001-01-01' a";
		await call(shell, { command: `${plant} && ${stale}` });
		const result = await call(shell, { command: "git status --short; ls" });
		expect(result.output).toContain("A  a");
		expect(result.output).not.toContain("hooked");
		const asked = await call(shell, {
			command: `${stale.replace("2001", "2002")}; GIT_OPTIONAL_LOCKS=1 git status --short; cat hooked`,
		});
		expect(asked.output).toContain("ran");
	});

	it("reports the exit code, and the last lines in the brief", async () => {
		const result = await call(shell, { command: `printf 'a\\nb\\n\\nc\\nd\\ne\\n${"f".repeat(300)}\\n'; exit 7` });
		expect(result).toMatchObject({ is_error: true, message: "Command failed with exit code: 7." });
		expect(briefOf(result)).toBe(`Failed with exit code: 7\nb\nc\nd\ne\n${"f".repeat(197)}...`);
	});

	it("kills the command at the timeout and returns the output so far", async () => {
		const result = await call(shell, { command: "echo begun; sleep 60", timeout: 1 });
		expect(result).toMatchObject({ is_error: true, output: "begun\n", message: expect.stringContaining("1 s") });
		expect(briefOf(result)).toBe("Killed by timeout (1s)\nbegun");
	});

	it("reports a signal", async () => {
		expect(briefOf(await call(shell, { command: "kill -9 $$" }))).toBe("Ended by signal SIGKILL");
	});

	it("ends when aborted", async () => {
		const abort = new AbortController();
		const running = (await prepareCall(shell, { command: "sleep 60" })).execute(abort.signal);
		abort.abort();
		expect(briefOf(await running)).toBe("Cancelled");
	});

	it.each([
		[{ command: "  " }, "Empty command"],
		[{ command: "true", timeout: 301 }, "Invalid arguments"],
		[{ command: " ", run_in_background: true, description: "x" }, "Empty command"],
		[{ command: "true", run_in_background: true }, "Invalid arguments"],
		[{ command: "true", run_in_background: true, description: " " }, "Invalid arguments"],
	])("refuses %j", async (value, brief) => {
		expect(briefOf(await call(shell, value))).toBe(brief);
	});

	it("accepts a call with an explicit foreground", async () => {
		expect((await call(shell, { command: "true", timeout: 300, run_in_background: false })).is_error).toBe(false);
	});

	it("reports that it cannot be started", async () => {
		const lost = createShell({ ...place.environment, workDir: place.at("missing") });
		expect(briefOf(await call(lost, { command: "true" }))).toBe("Execution failed");
	});

	it("runs a command that is too long for an argument as any other", async () => {
		const long = `: '${"x".repeat(150_000)}'`;
		const place = "echo $0 $# $BASH_SOURCE; readlink /proc/self/fd/0; cat; f() { return 3; }; f";
		const [short, result] = [
			await call(shell, { command: place }),
			await call(shell, { command: `${long}\n${place}` }),
		];
		expect(result).toEqual(short);
		const document = `cat <<'END' | wc -c\n${"é".repeat(100_000)}\nEND\necho "$(printf a)"; exit 4`;
		expect(await call(shell, { command: document })).toMatchObject({
			output: "200001\na\n",
			message: "Command failed with exit code: 4.",
		});
	});

	it("stores all of a long output in a file and names it", async () => {
		const whole = `${Array.from({ length: 100_000 }, (_, index) => index + 1).join("\n")}\n`;
		const file = place.at("output", "shell-call_1.log");
		const result = await call(shell, { command: "seq 1 100000; exit 1" }, "call/1");
		expect(result.message).toBe(
			`Command failed with exit code: 1. The output was shortened to fit. All of the output is in \`${file}\`; ReadFile can show it.`,
		);
		expect(briefOf(result)).toBe("Failed with exit code: 1\n99996\n99997\n99998\n99999\n100000");
		const output = String(result.output);
		const [head = "", tail = ""] = output.split(/\[\.\.\. \d+ characters in \d+ lines left out \.\.\.\]\n/);
		expect(whole.startsWith(head) && whole.endsWith(tail)).toBe(true);
		expect(output.length).toBeLessThanOrEqual(50_000);
		expect([head.length, tail.length].map((length) => Math.round(length / 1000))).toEqual([12, 37]);
		expect(await readFile(file, "utf8")).toBe(whole);

		const again = await call(shell, { command: "printf 'x%.0s' $(seq 1 3000)" }, "call/1");
		const second = place.at("output", "shell-call_1-2.log");
		expect(again.output).toBe(`${"x".repeat(950)}[... 1100 characters left out ...]${"x".repeat(950)}`);
		expect(again.message).toContain(second);
		expect(await readFile(second, "utf8")).toBe("x".repeat(3000));
		expect(await readFile(file, "utf8")).toBe(whole);
	});
});

describe("Shell in the background", () => {
	const task: TaskView = {
		id: "bash-0a1b2c3d",
		kind: "bash",
		status: "starting",
		description: "the server",
		timeout: 3600,
		command: "serve --port 1",
		agent: null,
		exitCode: null,
		interrupted: false,
		timedOut: false,
		reason: null,
		outputPath: "/s/tasks/bash-0a1b2c3d/output.log",
	};
	const value = { command: "serve --port 1", run_in_background: true, description: " the server ", timeout: 3600 };
	const started: [CommandRequest, string][] = [];
	const withTasks = () =>
		createShell({
			...place.environment,
			tasks: {
				...noTasks,
				async startCommand(request, toolCallId) {
					started.push([request, toolCallId]);
					return { ok: true, task };
				},
			},
		});

	it("does not repeat a very long command", async () => {
		const tasks = {
			...noTasks,
			startCommand: async () => ({ ok: true, task: { ...task, command: "x".repeat(9000) } }) as const,
		};
		const result = await call(createShell({ ...place.environment, tasks }), value);
		expect(result.output).toContain(`command: ${"x".repeat(1997)}...\n`);
	});

	it("requests another approval than in the foreground, and starts the approved command", async () => {
		const prepared = await prepareCall(withTasks(), value, "c1");
		expect(prepared).toMatchObject({
			approval: {
				action: "run background command",
				description: "Run background command `serve --port 1`",
				display: [{ type: "shell", language: "bash", command: "serve --port 1" }],
			},
			hasEffect: true,
		});
		expect(started).toEqual([]);
		const result = await prepared.execute();
		const request = { command: "serve --port 1", description: "the server", timeout: 3600, outsideSandbox: false };
		expect(started).toEqual([[{ ...request, shellPath: expect.stringMatching(/\/bash$/) }, "c1"]]);
		expect(result).toMatchObject({
			is_error: false,
			message: "Background task started.",
			display: [
				{ type: "brief", text: "Started bash-0a1b2c3d" },
				{
					type: "background_task",
					task_id: "bash-0a1b2c3d",
					kind: "bash",
					status: "starting",
					description: "the server",
				},
			],
		});
		const lines = String(result.output).split("\n");
		expect(lines.slice(0, 6)).toEqual([
			"task_id: bash-0a1b2c3d",
			"kind: bash",
			"status: starting",
			"description: the server",
			"command: serve --port 1",
			"automatic_notification: true",
		]);
		expect(lines.slice(6).map((line) => line.split(":")[0])).toEqual([
			"next_step",
			"next_step",
			"next_step",
			"human_shell_hint",
		]);
	});

	it("shows a command that a person can paste", async () => {
		const spaced: TaskView = { ...task, outputPath: "/it's here/output.log" };
		const startCommand = async () => ({ ok: true, task: spaced }) as const;
		const tool = createShell({ ...place.environment, tasks: { ...noTasks, startCommand } });
		expect((await call(tool, value)).output).toMatch(/tail -f '\/it'\\''s here\/output\.log'$/);
	});

	it("reports why it could not be started", async () => {
		expect(briefOf(await call(shell, value))).toBe("Start failed");
	});

	it("is not available for a subagent", async () => {
		const ofSubagent = createShell({ ...place.environment, tasks: null });
		expect(briefOf(await call(ofSubagent, value))).toBe("Background task unavailable");
	});
});

describe("Shell whose file cannot be looked for", () => {
	it("looks for it again with the next command", async () => {
		const { files } = place.environment;
		let isStuck = true;
		const status: typeof files.status = (file) =>
			isStuck
				? Promise.reject(Object.assign(new Error("ETIMEDOUT: no answer"), { code: "ETIMEDOUT" }))
				: files.status(file);
		const tool = createShell({ ...place.environment, files: { ...files, status } });
		const run = async () => await (await prepareCall(tool, { command: "echo hello" })).execute();
		expect(await run()).toMatchObject({ is_error: true, message: expect.stringContaining("ETIMEDOUT") });
		isStuck = false;
		expect(await run()).toMatchObject({ is_error: false, output: "hello\n" });
	});
});

describe("Shell with a sandbox", () => {
	const explained = "The sandbox has no network.";
	const sandboxed = (missing: string | null) =>
		createShell({
			...place.environment,
			sandbox: { missing, outside: place.environment.processes, explain: async () => explained },
		});

	it("offers to run a command outside of it, which is an act of its own kind", async () => {
		const tool = sandboxed(null);
		expect(Object.keys((await tool.parameters())["properties"] ?? {})).toContain("outside_sandbox");
		expect(Object.keys((await createShell(place.environment).parameters())["properties"] ?? {})).not.toContain(
			"outside_sandbox",
		);
		expect((await prepareCall(tool, { command: "make" })).approval).toMatchObject({
			action: "run command",
			subjects: [{ kind: "command", text: "make", cwd: place.environment.workDir }],
		});
		expect((await prepareCall(tool, { command: "make", outside_sandbox: true })).approval).toMatchObject({
			action: "run command outside of the sandbox",
			subjects: [{ kind: "command", text: "make", outsideSandbox: true }],
			description: "Run command `make` outside of the sandbox",
		});
	});

	it("says when the sandbox looks like the reason of a failure, and only for what ran in it", async () => {
		const tool = sandboxed(null);
		expect((await (await prepareCall(tool, { command: "false" })).execute()).message).toMatch(
			/ The sandbox has no network\.$/,
		);
		const outside = await prepareCall(tool, { command: "false", outside_sandbox: true });
		expect((await outside.execute()).message).not.toContain(explained);
	});

	it("that is not there takes every command as one outside of it", async () => {
		const tool = sandboxed("there is no bwrap");
		expect((await prepareCall(tool, { command: "make" })).approval).toMatchObject({
			subjects: [{ outsideSandbox: true }],
			description: "Run command `make` outside of the sandbox, because there is none here: there is no bwrap",
		});
	});
});
