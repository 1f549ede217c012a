// The worker of a background command over doubles: files in memory, a fake clock, a command that ends when a test says
// so.
import { beforeEach, describe, expect, it } from "vitest";
import { createFakeClock, type FakeClock } from "../../../test/support/host/campaign-clock.ts";
import { createMemoryFiles, type MemoryFiles } from "../../../test/support/store/memory-files.ts";
import { createMemoryLog } from "../../../test/support/store/store-directory.ts";
import { createDeferred } from "../../base/deferred.ts";
import type { Processes, RunOutcome, RunRequest } from "../../ports/processes/port.ts";
import { runTaskWorker } from "./task-worker.ts";

const directory = "/s/tasks/bash-00000001";
const startTime = 1_700_000_000_000;
const origin = { host: "web-1", namespace: "pid:[1]" };
const spec = {
	version: 1,
	id: "bash-00000001",
	kind: "bash",
	session_id: "s",
	description: "the job",
	created_at: 1,
	command: "make",
	shell_path: "/bin/bash",
	cwd: "/w",
	timeout_s: 60,
};

/** One command at a time, which ends when a test says so or when it is aborted. */
function createCommands() {
	const request = createDeferred<RunRequest>();
	const end = createDeferred<RunOutcome["ended"]>();
	let runs = 0;
	const processes: Processes = {
		async run(asked, signal) {
			runs += 1;
			request.resolve(asked);
			const aborted = new Promise<RunOutcome["ended"]>((resolve) => {
				signal.addEventListener("abort", () => resolve({ kind: "aborted" }), { once: true });
				if (signal.aborted) resolve({ kind: "aborted" });
			});
			if (!signal.aborted) asked.onStart?.(77);
			const ended = await Promise.race([end.promise, aborted]);
			return { ended, output: "", errorOutput: "", outputBytes: 0, truncated: false, spilledTo: null };
		},
		endAll: async () => {},
	};
	return { processes, request: request.promise, end: end.resolve, runs: () => runs };
}

describe("the worker of a command", () => {
	let files: MemoryFiles;
	let clock: FakeClock;
	let commands: ReturnType<typeof createCommands>;
	let cut: AbortController;
	let nudge: () => void;
	const log = createMemoryLog();

	beforeEach(async () => {
		files = createMemoryFiles();
		clock = createFakeClock(startTime);
		commands = createCommands();
		cut = new AbortController();
		nudge = () => {};
		log.lines.length = 0;
		await files.makeDirectory(directory);
		await put("spec.json", spec);
	});
	const put = (name: string, value: object) => files.replace(`${directory}/${name}`, JSON.stringify(value));
	const runtime = async () => JSON.parse(String((await files.read(`${directory}/runtime.json`)) ?? "null"));
	const start = () =>
		runTaskWorker({
			directory,
			files,
			processes: commands.processes,
			environment: { PATH: "/bin", KEY: "value" },
			process: { pid: 42, origin },
			heartbeatInterval: 5000,
			controlPollInterval: 500,
			lifeline: {
				cut: cut.signal,
				onNudge(look) {
					nudge = look;
				},
			},
			clock,
			log,
		});
	/** Lets all pending promises settle. */
	const settle = () => new Promise((resolve) => setImmediate(resolve));
	const running = async () => {
		const worker = start();
		const request = await commands.request;
		await settle();
		return { worker, request };
	};

	it("runs the command of the task, with its output in the log and without a password prompt", async () => {
		const { worker, request } = await running();
		expect(request).toMatchObject({
			file: "/bin/bash",
			arguments: ["-c", "make"],
			workDir: "/w",
			environment: {
				PATH: "/bin",
				KEY: "value",
				SHELL: "/bin/bash",
				GIT_TERMINAL_PROMPT: "0",
				GIT_OPTIONAL_LOCKS: "0",
			},
			timeout: 60_000,
		});
		expect(request.input).toBeUndefined();
		expect(await runtime()).toEqual({
			status: "running",
			worker_pid: 42,
			worker_origin: origin,
			child_pid: 77,
			child_pgid: 77,
			started_at: startTime / 1000,
			heartbeat_at: startTime / 1000,
			updated_at: startTime / 1000,
			finished_at: null,
			exit_code: null,
			interrupted: false,
			timed_out: false,
			failure_reason: null,
		});
		await request.outputTo?.sink.append("made\n");
		clock.advance(1500);
		commands.end({ kind: "exited", exitCode: 0 });
		expect(await worker).toBe(true);
		expect(await runtime()).toMatchObject({
			status: "completed",
			exit_code: 0,
			finished_at: startTime / 1000 + 1.5,
			failure_reason: null,
		});
		expect(String(await files.read(`${directory}/output.log`))).toBe("made\n");
		expect(clock.waiting()).toBe(0);
		expect(log.lines).toEqual([]);
	});

	it.each([
		[
			{ kind: "exited", exitCode: 3 },
			{ status: "failed", exit_code: 3, timed_out: false, interrupted: false },
		],
		[
			{ kind: "signalled", signal: "SIGSEGV" },
			{ status: "failed", exit_code: null, failure_reason: /SIGSEGV/ },
		],
		[{ kind: "timed-out" }, { status: "failed", timed_out: true, failure_reason: /60 s/ }],
		[
			{ kind: "not-started", reason: "no such file" },
			{ status: "failed", failure_reason: /no such file/ },
		],
	] as const)(
		"stores how it ended: %j",
		async (ended, { failure_reason: reason, ...facts }: Record<string, unknown>) => {
			const { worker } = await running();
			commands.end(ended);
			expect(await worker).toBe(true);
			expect(await runtime()).toMatchObject(facts);
			if (reason instanceof RegExp) expect((await runtime()).failure_reason).toMatch(reason);
		},
	);

	it("writes heartbeats", async () => {
		const { worker } = await running();
		const beats: number[] = [];
		for (let beat = 1; beat <= 2; beat += 1) {
			clock.advance(5000);
			await settle();
			beats.push((await runtime()).heartbeat_at * 1000 - startTime);
		}
		expect(beats).toEqual([5000, 10_000]);
		commands.end({ kind: "exited", exitCode: 0 });
		await worker;
	});

	it("stops the command on request, with the reason", async () => {
		const { worker, request } = await running();
		await put("control.json", { kill_requested_at: 1, kill_reason: "enough", force: false });
		clock.advance(500);
		await worker;
		expect(await runtime()).toMatchObject({ status: "killed", interrupted: true, failure_reason: "enough" });
		expect(request.abortPending?.aborted).toBe(false);
	});

	it("checks its control file at once when it is nudged, and does not wait for a forced stop", async () => {
		const { worker, request } = await running();
		await put("control.json", { kill_requested_at: 1, kill_reason: null, force: true });
		nudge();
		await worker;
		expect(await runtime()).toMatchObject({ status: "killed", interrupted: true, failure_reason: expect.any(String) });
		expect(request.abortPending?.aborted).toBe(true);
	});

	it("loses no nudge that comes while it reads its control file", async () => {
		const { worker } = await running();
		const status = files.status.bind(files);
		let looks = 0;
		files.status = async (file) => {
			if (file === directory) {
				looks += 1;
				if (looks === 1) nudge();
				if (looks === 2) await put("control.json", { kill_requested_at: 1, kill_reason: "enough", force: false });
			}
			return await status(file);
		};
		nudge();
		await worker;
		expect(await runtime()).toMatchObject({ status: "killed", failure_reason: "enough" });
	});

	it("starts nothing when a stop was already requested", async () => {
		await put("control.json", { kill_requested_at: 1, kill_reason: "enough", force: false });
		await start();
		expect(await runtime()).toMatchObject({ status: "killed", child_pid: null, failure_reason: "enough" });
	});

	it("stops the command soon after the starting process has ended", async () => {
		const { worker } = await running();
		cut.abort("The program is gone.");
		await worker;
		expect(await runtime()).toMatchObject({ status: "killed", failure_reason: "The program is gone." });
	});

	it("then kills a command that does not end by itself", async () => {
		const request = createDeferred<RunRequest>();
		const over = createDeferred<void>();
		commands.processes = {
			...commands.processes,
			async run(asked) {
				request.resolve(asked);
				await over.promise;
				return {
					ended: { kind: "aborted" },
					output: "",
					errorOutput: "",
					outputBytes: 0,
					truncated: false,
					spilledTo: null,
				};
			},
		};
		const worker = start();
		const { abortPending } = await request.promise;
		cut.abort("gone");
		clock.advance(299);
		await settle();
		expect(abortPending?.aborted).toBe(false);
		clock.advance(1);
		await settle();
		expect(abortPending?.aborted).toBe(true);
		over.resolve();
		await worker;
	});

	it("stops the command when the files of the task are removed", async () => {
		const { worker } = await running();
		await files.remove(directory);
		clock.advance(500);
		expect(await worker).toBe(true);
		expect(log.lines.map(({ message }) => message)).toContain("the state of a background command could not be stored");
	});

	it.each([
		["there is no task", null],
		["the task is a subagent", { ...spec, kind: "agent", kind_payload: { agent_id: "a1", subagent_type: "coder" } }],
	])("runs nothing when %s", async (_why, content) => {
		await files.remove(`${directory}/spec.json`);
		if (content !== null) await put("spec.json", { ...content, command: null });
		expect(await start()).toBe(false);
		expect(commands.runs()).toBe(0);
	});

	it("fails the task when its output cannot be stored", async () => {
		await files.makeDirectory(`${directory}/output.log`);
		await start();
		expect(await runtime()).toMatchObject({ status: "failed", failure_reason: expect.stringContaining("EISDIR") });
		expect(commands.runs()).toBe(0);
	});
});
