// Background work over the real executable: how it is reported, and what happens to it when a process ends.
import { spawn } from "node:child_process";
import { appendFileSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { createStage, executablePath, type Stage, toolCall } from "../support/executable/executable.ts";
import { isResponse, type Server, type ServerLine } from "../support/executable/running-server.ts";

const id = "11111111-2222-4333-8444-555555555555";
const isLinux = process.platform === "linux";

const start = (command: string, more: object = {}) =>
	toolCall("start", "Shell", { command, run_in_background: true, description: "the job", timeout: 3600, ...more });

interface Runtime {
	readonly status: string;
	readonly worker_pid: number;
	readonly finished_at: number | null;
	readonly failure_reason: string | null;
}

const tasksDir = (stage: Stage) => path.join(stage.sessionDir(id), "tasks");
const taskIds = (stage: Stage) => (existsSync(tasksDir(stage)) ? readdirSync(tasksDir(stage)) : []);
const taskFile = (stage: Stage, name: string) =>
	readFileSync(path.join(tasksDir(stage), taskIds(stage)[0] ?? "", name), "utf8");
const runtimeOf = (stage: Stage): Runtime => JSON.parse(taskFile(stage, "runtime.json"));

const waitFor = (check: () => void, timeout = 5000) => vi.waitFor(check, { timeout, interval: 10 });
const waitForOutput = (stage: Stage, text: string) =>
	waitFor(() => expect(taskFile(stage, "output.log")).toContain(text));
const waitForStatus = (stage: Stage, status: string) => waitFor(() => expect(runtimeOf(stage).status).toBe(status));
/** From here on, a turn that begins gets the notification of a task that ended. */
/** Waits until the end of a task is stored as a whole. */
const waitForNews = (stage: Stage) =>
	waitFor(() => {
		const files = readdirSync(path.join(stage.sessionDir(id), "notifications"), { recursive: true });
		expect(files.map(String).some((file) => file.endsWith("delivery.json"))).toBe(true);
	});
const running = (stage: Stage, word: string) => stage.commands().filter((command) => command.includes(word));

async function turn(server: Server, text: string): Promise<readonly ServerLine[]> {
	server.prompt(text, text);
	return await server.readUntil((line) => isResponse(line, text));
}

const payloads = (lines: readonly ServerLine[], type: string) =>
	lines.flatMap(({ params }) => (params?.type === type ? [params.payload] : []));

const types = (lines: readonly ServerLine[]) => lines.flatMap(({ params }) => params?.type ?? []);

function serve(stage: Stage): Server {
	return stage.serve("--wire", "--yolo", "--session", id);
}

async function close(server: Server): Promise<void> {
	server.endInput();
	expect(await server.exited).toBe(0);
}

function keepAlive(stage: Stage): void {
	appendFileSync(path.join(stage.shareDir, "config.toml"), "\n[background]\nkeep_alive_on_exit = true\n");
}

const news = (status: string, more: object = {}) => [
	{ type: `task.${status}`, payload: expect.objectContaining({ status, ...more }) },
];

describe("a background command", () => {
	it("is reported to client and model in the next turn, and once", async () => {
		const stage = createStage({ scripts: [start("echo one; echo two"), "text: started", "text: over", "text: more"] });
		const server = serve(stage);
		const first = await turn(server, "first");
		const [result] = payloads(first, "ToolResult");
		const [taskId = ""] = taskIds(stage);
		expect(result).toMatchObject({
			return_value: { is_error: false, output: expect.stringContaining(`task_id: ${taskId}\nkind: bash\n`) },
		});
		await waitForNews(stage);
		const second = await turn(server, "second");
		expect(types(second).slice(0, 3)).toEqual(["TurnBegin", "Notification", "StepBegin"]);
		expect(payloads(second, "Notification")).toMatchObject(news("completed", { task_id: taskId, exit_code: 0 }));
		const context = readFileSync(path.join(stage.sessionDir(id), "context.jsonl"), "utf8");
		expect(context.match(/<notification id=/g)).toHaveLength(1);
		expect(context).toContain("Output tail:\\none\\ntwo\\n");
		expect(payloads(await turn(server, "third"), "Notification")).toEqual([]);
		await close(server);
		const again = serve(stage);
		expect(payloads(await turn(again, "fourth"), "Notification")).toEqual([]);
	});

	it("that exceeds its timeout has failed", async () => {
		const stage = createStage({ scripts: [start("echo up; sleep 1000", { timeout: 1 }), "text: started"] });
		await turn(serve(stage), "first");
		await waitForStatus(stage, "failed");
		expect(runtimeOf(stage)).toMatchObject({ timed_out: true, failure_reason: expect.stringContaining("1 s") });
	});

	it.runIf(isLinux)("whose worker is killed ends with it and is reported as lost", async () => {
		const stage = createStage({ scripts: [start("echo up; sleep 1000"), "text: started", "text: over"] });
		const server = serve(stage);
		await turn(server, "first");
		await waitForOutput(stage, "up");
		process.kill(runtimeOf(stage).worker_pid, "SIGKILL");
		await waitForStatus(stage, "lost");
		await waitFor(() => expect(running(stage, "sleep 1000")).toEqual([]));
		await waitForNews(stage);
		expect(payloads(await turn(server, "second"), "Notification")).toMatchObject(news("lost"));
	});
});

describe("when the server ends", () => {
	const goes = [
		["the end of input", (server: Server) => server.endInput()],
		["SIGTERM", (server: Server) => server.kill("SIGTERM")],
	] as const;

	it.each(goes)(
		"%s ends a command that ignores signals, within two seconds, and the next start reports it",
		async (_, end) => {
			const command = "trap '' TERM INT HUP; sleep 1000 & echo up; while :; do sleep 1000; done";
			const stage = createStage({ scripts: [start(command), "text: started"] });
			const server = serve(stage);
			await turn(server, "first");
			await waitForOutput(stage, "up");
			const begun = performance.now();
			end(server);
			expect(await server.exited).toBe(0);
			expect(performance.now() - begun).toBeLessThan(2000);
			expect(running(stage, "sleep 1000")).toEqual([]);
			expect(runtimeOf(stage)).toMatchObject({ status: "killed", failure_reason: "The session ended." });
			stage.setScripts(["text: over"]);
			const again = serve(stage);
			expect(payloads(await turn(again, "second"), "Notification")).toMatchObject(news("killed"));
			await close(again);
		},
	);

	it("kill -9 ends the command, and the next start reports it", async () => {
		const stage = createStage({ scripts: [start("sleep 1000 & echo up; sleep 1000"), "text: started"] });
		const server = serve(stage);
		await turn(server, "first");
		await waitForOutput(stage, "up");
		server.kill("SIGKILL");
		await server.exited;
		await waitForStatus(stage, "killed");
		await waitFor(() => expect(stage.commands()).toEqual([]));
		const [taskId] = taskIds(stage);
		stage.setScripts([toolCall("list", "TaskList", { active_only: false }), "text: over"]);
		const again = serve(stage);
		const lines = await turn(again, "second");
		expect(payloads(lines, "Notification")).toMatchObject(news("killed", { task_id: taskId }));
		expect(payloads(lines, "ToolResult")).toMatchObject([
			{ return_value: { output: expect.stringContaining(`background_tasks: 1\n1. task_id: ${taskId}\n`) } },
		]);
		await close(again);
	});

	it.each(["an end", "kill -9"])("with keep_alive_on_exit the command outlives %s, and is found again", async (how) => {
		const done = "until [ -e go ]; do sleep 0.05; done; echo finished";
		const stage = createStage({ scripts: [start(`echo up; ${done}`), "text: started"] });
		keepAlive(stage);
		const server = serve(stage);
		await turn(server, "first");
		await waitForOutput(stage, "up");
		if (how === "an end") await close(server);
		else server.kill("SIGKILL");
		await server.exited;
		expect(runtimeOf(stage).status).toBe("running");

		const [taskId] = taskIds(stage);
		const interaction = { task_id: taskId };
		stage.setScripts([
			toolCall("look", "TaskOutput", interaction),
			"text: goes on",
			`${toolCall("wait", "TaskOutput", { ...interaction, block: true })}\n${toolCall("go", "Shell", { command: "touch go" })}`,
			"text: over",
		]);
		const again = serve(stage);
		const looked = await turn(again, "second");
		expect(payloads(looked, "ToolResult")).toMatchObject([
			{ return_value: { output: expect.stringMatching(/^retrieval_status: not_ready\n[\s\S]*status: running\n/) } },
		]);
		const waited = await turn(again, "third");
		expect(payloads(waited, "Notification")).toMatchObject(news("completed", { task_id: taskId }));
		expect(payloads(waited, "ToolResult")).toContainEqual(
			expect.objectContaining({
				tool_call_id: "wait",
				return_value: expect.objectContaining({
					output: expect.stringMatching(/^retrieval_status: success\n[\s\S]*\[output\]\nup\nfinished\n$/),
				}),
			}),
		);
		await close(again);
	});

	it("a command that stayed alive is ended by TaskStop in the next server, with everything it started", async () => {
		const stage = createStage({ scripts: [start("sleep 1000 & setsid sleep 1000 & echo up; wait"), "text: started"] });
		keepAlive(stage);
		const persistence = serve(stage);
		await turn(persistence, "first");
		await waitForOutput(stage, "up");
		await close(persistence);
		const stop = toolCall("stop", "TaskStop", { task_id: taskIds(stage)[0], reason: "enough" });
		stage.setScripts([stop, "text: stopped", "text: over"]);
		const again = serve(stage);
		const lines = await turn(again, "second");
		expect(payloads(lines, "ToolResult")).toMatchObject([
			{ return_value: { is_error: false, message: "The stop was requested." } },
		]);
		await waitForStatus(stage, "killed");
		expect(runtimeOf(stage)).toMatchObject({ interrupted: true, failure_reason: "enough" });
		await waitFor(() => expect(running(stage, "sleep 1000")).toEqual([]));
		await waitForNews(stage);
		expect(payloads(await turn(again, "third"), "Notification")).toMatchObject(news("killed"));
		await close(again);
	});

	it("a command that stayed alive is ended by a server without keep_alive_on_exit", async () => {
		const stage = createStage({ scripts: [start("echo up; sleep 1000"), "text: started"] });
		const settings = { ...JSON.parse(stage.configText), background: { keep_alive_on_exit: true } };
		const persistence = stage.serve("--wire", "--yolo", "--session", id, "--config", JSON.stringify(settings));
		await turn(persistence, "first");
		await waitForOutput(stage, "up");
		await close(persistence);
		stage.setScripts(["text: over"]);
		const again = serve(stage);
		await turn(again, "second");
		await close(again);
		await waitForStatus(stage, "killed");
		await waitFor(() => expect(running(stage, "sleep 1000")).toEqual([]));
	});
});

describe("the worker of a command", () => {
	const spec = {
		version: 1,
		id: "bash-00000001",
		kind: "bash",
		session_id: id,
		description: "the job",
		created_at: 1,
		command: "echo up; sleep 1000",
		shell_path: "/bin/bash",
		timeout_s: null,
	};

	/** A task without a kernel, and a worker for it that looks for nothing by itself. */
	async function startWorker(stage: Stage) {
		const directory = path.join(tasksDir(stage), spec.id);
		mkdirSync(directory, { recursive: true });
		writeFileSync(path.join(directory, "spec.json"), JSON.stringify({ ...spec, cwd: stage.workDir }));
		const hour = String(3_600_000);
		const flags = ["--task-dir", directory, "--heartbeat-interval-ms", hour, "--control-poll-interval-ms", hour];
		const worker = spawn(executablePath, ["__background-task-worker", ...flags], { env: { ...stage.environment } });
		onTestFinished(() => void worker.kill("SIGKILL"));
		const exited = new Promise<number | null>((resolve) => worker.once("exit", (code) => resolve(code)));
		await waitForOutput(stage, "up");
		await waitForStatus(stage, "running");
		return { directory, worker, exited };
	}

	it("reads its requests at once when the lifeline has a line", async () => {
		const stage = createStage();
		const { directory, worker, exited } = await startWorker(stage);
		const control = { kill_requested_at: 1, kill_reason: "enough", force: false };
		writeFileSync(path.join(directory, "control.json"), JSON.stringify(control));
		worker.stdin.write("look\n");
		expect(await exited).toBe(0);
		expect(runtimeOf(stage)).toMatchObject({ status: "killed", failure_reason: "enough" });
		expect(running(stage, "sleep 1000")).toEqual([]);
	});

	it.each(["SIGTERM", "SIGINT", "SIGHUP"] as const)("ends its command when %s ends it", async (signal) => {
		const stage = createStage();
		const { worker, exited } = await startWorker(stage);
		worker.kill(signal);
		expect(await exited).toBe(0);
		expect(runtimeOf(stage)).toMatchObject({ status: "killed", failure_reason: expect.stringContaining(signal) });
		expect(running(stage, "sleep 1000")).toEqual([]);
	});

	it("reports a wrong command line and a directory that is no task", async () => {
		const stage = createStage();
		const run = (...flags: string[]) => stage.run("__background-task-worker", ...flags);
		expect(await run()).toMatchObject({ code: 2, stderr: expect.stringContaining("--task-dir") });
		expect(await run("--task-dir", stage.workDir, "--grace", "1")).toMatchObject({
			code: 2,
			stderr: expect.stringContaining("--grace"),
		});
		expect(await run("--task-dir", stage.workDir)).toMatchObject({ code: 1, stdout: "" });
	});
});
