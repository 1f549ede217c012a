// Background tasks over doubles: a store in memory, workers controlled by the test, a fake clock.
import path from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { createFakeClock, type FakeClock } from "../../../test/support/host/campaign-clock.ts";
import { briefOf } from "../../../test/support/host/tool-environment.ts";
import { backgroundSettings } from "../../../test/support/sessions/session-doubles.ts";
import { createMemoryFiles } from "../../../test/support/store/memory-files.ts";
import { createMemoryLog } from "../../../test/support/store/store-directory.ts";
import { createDeferred, type Deferred } from "../../base/deferred.ts";
import type { CommandRequest, StartedTask } from "../../core/tools/operations.ts";
import { ownOrigin } from "../../ports/files/living-process.ts";
import { createTaskFiles } from "../../ports/store/disk/background/task-files.ts";
import { createMemoryStore } from "../../ports/store/memory/memory-store.ts";
import type { StoredSession } from "../../ports/store/session-store.ts";
import { newRuntime, type TaskRuntime, type TaskSpec } from "../../ports/store/stored-tasks.ts";
import type { HeldAgent } from "../subagents/subagents.ts";
import { type BackgroundTaskSettings, BackgroundTasks } from "./background-tasks.ts";
import type { StartWorker, WorkerOptions } from "./command-task.ts";
import { Notifications } from "./notifications.ts";
import { createTaskOperations } from "./task-operations.ts";

const deadProcess = 2 ** 30;

interface WorkerDouble {
	readonly options: WorkerOptions;
	readonly gone: Deferred<void>;
	readonly happened: string[];
}

const request: CommandRequest = {
	command: "make",
	description: "the job",
	timeout: 60,
	shellPath: "/bin/bash",
	outsideSandbox: false,
};

describe("the background tasks of a session", () => {
	const store = createMemoryStore();
	let stored: StoredSession;
	let clock: FakeClock;
	let workers: WorkerDouble[];
	let ids: number;
	const log = createMemoryLog();

	beforeEach(async () => {
		await open(`s${Math.random()}`);
		clock = createFakeClock();
		workers = [];
		ids = 0;
		log.lines.length = 0;
	});
	const open = async (id: string): Promise<void> => {
		// Commands need a directory; here it is only a name.
		stored = { ...(await store.openOrCreate("/w", id)), directory: "/s" };
	};
	const startWorker: StartWorker = async (_directory, options) => {
		const worker: WorkerDouble = { options, gone: createDeferred(), happened: [] };
		workers.push(worker);
		return {
			gone: worker.gone.promise,
			nudge: () => void worker.happened.push("nudged"),
			release: () => void worker.happened.push("released"),
		};
	};
	const create = (
		changes: Partial<BackgroundTaskSettings["settings"]> = {},
		parts: Partial<BackgroundTaskSettings> = {},
	): BackgroundTasks => {
		const identifiers = { uuid: () => "", hex: (length: number) => (++ids).toString(16).padStart(length, "0") };
		const notifications = new Notifications({
			stored: stored.notifications,
			clock,
			identifiers,
			log,
			claimStaleAfter: 15_000,
			describeSource: async () => null,
		});
		return new BackgroundTasks({
			isClaimed: () => true,
			settings: { ...backgroundSettings, ...changes },
			startWorker,
			stored,
			notifications,
			liveOutput: { follow() {}, finish: async () => {} },
			clock,
			identifiers,
			log,
			...parts,
		});
	};
	/** Lets all pending promises settle. */
	const settle = () => new Promise((resolve) => setImmediate(resolve));
	const idOf = (started: StartedTask): string => (started.ok ? started.task.id : "");
	const runtimeOf = async (id: string) => (await (await stored.tasks.find(id))?.runtime()) ?? null;
	const controlOf = async (id: string) => (await (await stored.tasks.find(id))?.control()) ?? null;
	const say = async (id: string, change: Partial<TaskRuntime>) => {
		const task = await stored.tasks.find(id);
		await task?.setRuntime({ ...((await task.runtime()) ?? newRuntime), ...change });
	};
	const news = async () => (await stored.notifications.list()).map(({ notification }) => notification.type);
	const activeIds = async (tasks: BackgroundTasks) => (await tasks.active()).map((task) => task.stored.spec.id);

	/** A task as an earlier process left it. */
	const leave = async (change: Partial<TaskRuntime>, spec: Partial<TaskSpec> = {}): Promise<string> => {
		const task = await stored.tasks.create({
			id: "bash-0000000f",
			kind: "bash",
			sessionId: stored.id,
			description: "left",
			toolCallId: "c",
			createdAt: 1,
			timeout: 60,
			command: { text: "make", shellPath: "/bin/bash", workDir: "/w" },
			agent: null,
			...spec,
		});
		await task.setRuntime({ ...newRuntime, ...change });
		return task.spec.id;
	};

	describe("a command", () => {
		it("starts with a worker and the options of the settings", async () => {
			const tasks = create({ keepAliveOnExit: true, workerHeartbeatIntervalMs: 7 });
			const started = await tasks.startCommand(request, "c1");
			expect(started).toMatchObject({
				ok: true,
				task: { kind: "bash", status: "starting", description: "the job", command: "make", timeout: 60, agent: null },
			});
			expect(idOf(started)).toMatch(/^bash-[0-9a-z]{8}$/);
			expect((await stored.tasks.find(idOf(started)))?.spec).toMatchObject({
				sessionId: stored.id,
				toolCallId: "c1",
				createdAt: clock.now(),
				command: { text: "make", shellPath: "/bin/bash", workDir: "/w" },
			});
			expect(await runtimeOf(idOf(started))).toMatchObject({ status: "starting" });
			expect(workers[0]?.options).toEqual({
				heartbeatInterval: 7,
				controlPollInterval: backgroundSettings.waitPollIntervalMs,
				killGracePeriod: backgroundSettings.killGracePeriodMs,
				keep: true,
				outsideSandbox: false,
			});
		});

		it("ends with its worker, and then raises a notification", async () => {
			const tasks = create();
			const id = idOf(await tasks.startCommand(request, "c1"));
			expect(await activeIds(tasks)).toEqual([id]);
			const ended = tasks.wait([id], 60_000, new AbortController().signal);
			await say(id, { status: "completed", exitCode: 0 });
			workers[0]?.gone.resolve();
			expect(await ended).toBe(true);
			expect([await activeIds(tasks), await news()]).toEqual([[], ["task.completed"]]);
		});

		it("whose worker ended without an outcome is lost, or killed when a kill was requested", async () => {
			const tasks = create();
			const [lost, killed] = [
				idOf(await tasks.startCommand(request, "c1")),
				idOf(await tasks.startCommand(request, "c2")),
			];
			await say(lost, { status: "running" });
			await tasks.stop(killed, "enough");
			expect(workers.map(({ happened }) => happened)).toEqual([[], ["nudged"]]);
			expect(await controlOf(killed)).toEqual({ killRequestedAt: clock.now(), killReason: "enough", force: false });
			for (const { gone } of workers) gone.resolve();
			await settle();
			expect(await runtimeOf(lost)).toMatchObject({
				status: "lost",
				interrupted: false,
				finishedAt: clock.now(),
				failureReason: expect.any(String),
			});
			expect(await runtimeOf(killed)).toMatchObject({ status: "killed", interrupted: true, failureReason: "enough" });
			expect((await news()).sort()).toEqual(["task.killed", "task.lost"]);
		});

		it.each([
			["is ended with it", false, "The session ended."],
			["goes on if it may outlive it", true, null],
		])(
			"that is being started when its session ends %s, and is followed no longer",
			async (_name, keeps, killReason) => {
				const gate = createDeferred<void>();
				const slowly: StartWorker = async (...worker) => {
					await gate.promise;
					return await startWorker(...worker);
				};
				const tasks = create({ keepAliveOnExit: keeps }, { startWorker: slowly });
				const starting = tasks.startCommand(request, "c1");
				await settle();
				await tasks.end();
				gate.resolve();
				const id = idOf(await starting);
				expect(await controlOf(id)).toMatchObject({ killReason });
				expect(workers[0]?.happened).toEqual([...(keeps ? [] : ["nudged"]), "released"]);
				expect(await activeIds(tasks)).toEqual([]);
			},
		);

		it("does not start above the limit, and starts when another one has ended", async () => {
			const tasks = create({ maxRunningTasks: 2 });
			const started = await Promise.all([1, 2, 3].map((n) => tasks.startCommand(request, `c${n}`)));
			expect(started.map(({ ok }) => ok)).toEqual([true, true, false]);
			const refused = started[2];
			if (refused === undefined || refused.ok) throw new Error("started");
			expect(briefOf(refused.result)).toBe("Start failed");
			expect(refused.result.message).toContain("2");
			workers[0]?.gone.resolve();
			await settle();
			expect((await tasks.startCommand(request, "c4")).ok).toBe(true);
		});

		it("that cannot be started leaves no files", async () => {
			const tasks = create(
				{ maxRunningTasks: 1 },
				{ startWorker: () => Promise.reject(new Error("no more processes")) },
			);
			const refused = await tasks.startCommand(request, "c1");
			if (refused.ok) throw new Error("started");
			expect(briefOf(refused.result)).toBe("Start failed");
			expect(refused.result.message).toContain("no more processes");
			expect([await stored.tasks.list(), await activeIds(tasks)]).toEqual([[], []]);
			expect((await tasks.startCommand(request, "c2")).ok).toBe(false);
		});

		it("requires a session on disk", async () => {
			const tasks = create({}, { stored: { ...stored, directory: null } });
			const refused = await tasks.startCommand(request, "c1");
			expect(refused.ok ? null : briefOf(refused.result)).toBe("Start failed");
		});

		it("is waited for up to the time limit", async () => {
			const tasks = create();
			const id = idOf(await tasks.startCommand(request, "c1"));
			const never = new AbortController();
			let returned = 0;
			const wait = (signal = never.signal) => tasks.wait([id], 30_000, signal).then(() => (returned += 1));
			const late = wait();
			await settle();
			clock.advance(29_999);
			await settle();
			expect(returned).toBe(0);
			clock.advance(1);
			await late;
			const cancel = new AbortController();
			const cancelled = wait(cancel.signal);
			cancel.abort();
			await cancelled;
			const inTime = wait();
			await say(id, { status: "completed" });
			workers[0]?.gone.resolve();
			await inTime;
			expect(await news()).toEqual(["task.completed"]);
			await wait();
			expect(clock.waiting()).toBe(0);
		});
	});

	it("a subagent that cannot be started leaves no files, and is free again", async () => {
		let released = 0;
		const agent: HeldAgent = {
			id: "a1",
			typeName: "coder",
			isResumed: false,
			run: () => Promise.reject(new Error("not to be run")),
			release: () => void released++,
		};
		const runAgent = () => Promise.reject(new Error("the disk is full"));
		const starter = { runAgent, subagents: { hold: async () => ({ ok: true, agent }) as const } };
		const tasks = create();
		const job = { description: "the job", prompt: "p", type: "coder", model: null, resume: null, timeout: 60 };
		await expect(tasks.startAgent(job, "c1", starter)).rejects.toThrow("the disk is full");
		expect([await stored.tasks.list(), released]).toEqual([[], 1]);
	});

	it("what cannot be started, and whose files cannot be removed either, says why it was not started", async () => {
		const stuck = {
			...stored,
			tasks: {
				...stored.tasks,
				create: async (spec: TaskSpec) => ({
					...(await stored.tasks.create(spec)),
					remove: () => Promise.reject(new Error("the disk is gone")),
				}),
			},
		};
		const agent: HeldAgent = {
			id: "a1",
			typeName: "coder",
			isResumed: false,
			run: () => Promise.reject(new Error("not to be run")),
			release() {},
		};
		const tasks = create(
			{},
			{
				stored: stuck,
				startWorker: () => Promise.reject(new Error("no more processes")),
			},
		);
		const starter = {
			runAgent: () => Promise.reject(new Error("the disk is full")),
			subagents: { hold: async () => ({ ok: true, agent }) as const },
		};
		const refused = await tasks.startCommand(request, "c1");
		expect(refused.ok ? "" : refused.result.message).toContain("no more processes");
		const job = { description: "the job", prompt: "p", type: "coder", model: null, resume: null, timeout: 60 };
		await expect(tasks.startAgent(job, "c2", starter)).rejects.toThrow("the disk is full");
		expect(log.lines.filter(({ message }) => message.includes("was not started could not be removed"))).toHaveLength(2);
	});

	describe("after a restart", () => {
		it("a task that ended meanwhile raises its notification once", async () => {
			await leave({ status: "failed", exitCode: 1 });
			await create().find();
			expect(await news()).toEqual(["task.failed"]);
			await create().find();
			expect(await news()).toEqual(["task.failed"]);
		});

		it("a running command is followed through its files to its end", async () => {
			const id = await leave({ status: "running", workerPid: process.pid, heartbeatAt: clock.now() });
			const tasks = create();
			expect(await activeIds(tasks)).toEqual([id]);
			clock.advance(500);
			await settle();
			expect(await activeIds(tasks)).toEqual([id]);
			await say(id, { status: "completed" });
			clock.advance(500);
			await settle();
			expect([await activeIds(tasks), await news()]).toEqual([[], ["task.completed"]]);
			expect(clock.waiting()).toBe(0);
		});

		it("a command without a worker is lost, or killed when a kill was requested", async () => {
			const lost = await leave({ status: "running", workerPid: deadProcess });
			const killed = await leave({ status: "running", workerPid: deadProcess }, { id: "bash-0000000e" });
			await (await stored.tasks.find(killed))?.setControl({ killRequestedAt: 1, killReason: "enough", force: false });
			await create().find();
			await settle();
			expect((await runtimeOf(lost))?.status).toBe("lost");
			expect(await runtimeOf(killed)).toMatchObject({ status: "killed", failureReason: "enough" });
			expect((await news()).sort()).toEqual(["task.killed", "task.lost"]);
		});

		it("a command whose worker runs elsewhere is followed as long as that gives signs of life", async () => {
			const workerOrigin = { ...ownOrigin(), host: "web-2", namespace: "pid:[1]" };
			const id = await leave({ status: "running", workerPid: deadProcess, workerOrigin, heartbeatAt: clock.now() });
			const tasks = create();
			expect(await activeIds(tasks)).toEqual([id]);
			await settle();
			expect((await runtimeOf(id))?.status).toBe("running");
			for (let passed = 0; passed <= 15_500; passed += 500) {
				clock.advance(500);
				await settle();
			}
			expect((await runtimeOf(id))?.status).toBe("lost");
		});

		it("a worker without a heartbeat is lost after a while, but not one that slept with the machine", async () => {
			const old = clock.now() - 86_400_000;
			const id = await leave({ status: "running", workerPid: process.pid, heartbeatAt: old });
			const tasks = create();
			await tasks.find();
			await settle();
			const pass = async (milliseconds: number) => {
				for (let passed = 0; passed < milliseconds; passed += 500) {
					clock.advance(500);
					await settle();
				}
			};
			await pass(14_000);
			await say(id, { heartbeatAt: clock.now() });
			await pass(15_000);
			expect((await runtimeOf(id))?.status).toBe("running");
			await pass(1_500);
			expect((await runtimeOf(id))?.status).toBe("lost");
			expect(await activeIds(tasks)).toEqual([]);
		});

		it.each([
			["long ago", 16_000, "lost"],
			["just now", 1000, "starting"],
		])("a command whose worker wrote no state, started %s, is %s", async (_when, age, status) => {
			const id = await leave({ status: "starting", updatedAt: clock.now() - age });
			await create().find();
			await settle();
			expect((await runtimeOf(id))?.status).toBe(status);
		});

		it("a subagent is lost with its process", async () => {
			const agent = { agentId: "a00000001", subagentType: "coder", prompt: "x", modelOverride: null };
			const id = await leave(
				{ status: "awaiting_approval" },
				{ id: "agent-0000000f", kind: "agent", agent, command: null },
			);
			await create().find();
			expect(await runtimeOf(id)).toMatchObject({ status: "lost", failureReason: expect.any(String) });
			expect(await news()).toEqual(["task.lost"]);
		});

		it.each(["", "{", '{"status":"odd"}'])(
			"a task with the state %j is reported as lost, and listed",
			async (content) => {
				const files = createMemoryFiles();
				const tasks = createTaskFiles("/s", {
					files,
					log,
					replace: async (file, text) => {
						await files.makeDirectory(path.dirname(file));
						await files.replace(file, text);
					},
					change: (_directory, work) => work(),
					now: () => clock.now(),
				});
				stored = { ...stored, tasks };
				const id = await leave({ status: "running" });
				const file = `/s/tasks/${id}/runtime.json`;
				await files.replace(file, content);
				const subject = create();
				await subject.find();
				expect([await activeIds(subject), await news()]).toEqual([[], ["task.lost"]]);
				const operations = createTaskOperations(subject, tasks);
				expect(await operations.list(false)).toMatchObject([{ id, status: "lost", reason: expect.any(String) }]);
				expect(await operations.list(true)).toEqual([]);
				await create().find();
				expect(await news()).toEqual(["task.lost"]);
				expect(String(await files.read(file))).toBe(content);
			},
		);

		it("a command is stopped through its control file, and killed at the end of the session", async () => {
			const id = await leave({ status: "running", workerPid: process.pid, heartbeatAt: clock.now() });
			const tasks = create();
			await tasks.find();
			await tasks.stop(id, "enough");
			expect(await controlOf(id)).toMatchObject({ killReason: "enough", force: false });
			const ended = tasks.end();
			await settle();
			clock.advance(1000);
			await settle();
			expect(await controlOf(id)).toMatchObject({ force: true });
			clock.advance(600);
			await ended;
			expect((await runtimeOf(id))?.status).toBe("running");
		});

		it("a storage error is logged, and the rest continues", async () => {
			await leave({ status: "completed" });
			await leave({ status: "completed" }, { id: "bash-0000000e", createdAt: 2 });
			let failures = 1;
			const { notifications } = stored;
			const add: typeof notifications.add = (persisted) =>
				failures-- > 0 ? Promise.reject(new Error("disk full")) : notifications.add(persisted);
			stored = { ...stored, notifications: { ...notifications, add } };
			await create().find();
			expect(await news()).toEqual(["task.completed"]);
			expect(log.lines).toMatchObject([{ level: "warn", fields: { cause: "disk full" } }]);
		});
	});

	describe("at the end of the session", () => {
		it("nothing happens without tasks", async () => {
			const tasks = create();
			await tasks.end();
			await tasks.end();
			expect(clock.waiting()).toBe(0);
		});

		it("commands are stopped, and their end is stored", async () => {
			const tasks = create();
			const id = idOf(await tasks.startCommand(request, "c1"));
			const ended = tasks.end();
			await settle();
			expect(await controlOf(id)).toMatchObject({ killReason: "The session ended." });
			expect(workers[0]?.happened).toEqual(["nudged"]);
			await say(id, { status: "killed", failureReason: "The session ended." });
			workers[0]?.gone.resolve();
			await ended;
			expect(await news()).toEqual(["task.killed"]);
			expect(clock.waiting()).toBe(0);
		});

		it("a command that does not end in time is released, which kills it", async () => {
			const tasks = create();
			await tasks.startCommand(request, "c1");
			const ended = tasks.end();
			await settle();
			clock.advance(1000);
			await settle();
			expect(workers[0]?.happened).toEqual(["nudged", "released"]);
			clock.advance(600);
			await ended;
			expect(await news()).toEqual([]);
		});

		it("a command that outlives the session is released and left alone", async () => {
			const tasks = create({ keepAliveOnExit: true });
			const id = idOf(await tasks.startCommand(request, "c1"));
			await tasks.end();
			expect(await controlOf(id)).toMatchObject({ killRequestedAt: null });
			expect(workers[0]?.happened).toEqual(["released"]);
			expect(await activeIds(tasks)).toEqual([]);
		});

		it("nothing is started any more", async () => {
			const tasks = create();
			void tasks.end();
			const refused = await tasks.startCommand(request, "c1");
			expect(refused.ok ? null : briefOf(refused.result)).toBe("Start failed");
			expect(workers).toEqual([]);
		});
	});
});
