// The files of background work on disk: those of the reference, and what damage does to them.
import { mkdir, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { eventAt } from "../../../../../test/contracts/store-contract.ts";
import { createSteppingClock } from "../../../../../test/support/host/stepping-clock.ts";
import { type PlacedSession, placeFixture } from "../../../../../test/support/store/session-fixtures.ts";
import {
	createMemoryLog,
	createStoreDirectory,
	type StoreDirectory,
} from "../../../../../test/support/store/store-directory.ts";
import { statusChanged } from "../../../../api/values/event.ts";
import { createDiskFiles } from "../../../files/disk-files.ts";
import type { StoredSession } from "../../session-store.ts";
import { type Notification, newRuntime, type TaskSpec } from "../../stored-tasks.ts";
import { createDiskStore } from "../disk-store.ts";
import { newDelivery } from "./notification-files.ts";

const bashId = "bash-qu2h3z8r";
const event = eventAt(statusChanged({ plan_mode: true }));

describe("background tasks of the reference", () => {
	let placed: PlacedSession;
	let session: StoredSession;
	const log = createMemoryLog();
	beforeEach(async () => {
		placed = await placeFixture("background");
		log.lines.length = 0;
		const options = { files: createDiskFiles(), log, clock: createSteppingClock(1_800_000_000_000) };
		const store = createDiskStore({ ...options, shareDir: placed.shareDir, protocolVersion: "1.10" });
		session = await store.openOrCreate(placed.workDir, placed.id);
	});
	afterEach(() => placed.remove());
	const text = (...names: string[]) => readFile(path.join(placed.directory, ...names), "utf8");

	it("are read", async () => {
		const [task] = await session.tasks.list();
		expect(task?.spec).toEqual({
			id: bashId,
			kind: "bash",
			sessionId: placed.id,
			description: "short job",
			toolCallId: "call-1",
			createdAt: 1_795_209_584.202_598_3 * 1000,
			timeout: 60,
			command: { text: "sleep 1; echo finished", shellPath: "/bin/bash", workDir: placed.workDir },
			agent: null,
		});
		expect(await task?.runtime()).toEqual({
			...newRuntime,
			status: "completed",
			workerPid: 5047,
			childPid: 5049,
			startedAt: 1_795_209_585.465_995_8 * 1000,
			heartbeatAt: 1_795_209_586.478_361_6 * 1000,
			updatedAt: 1_795_209_586.478_361_6 * 1000,
			finishedAt: 1_795_209_586.478_361_6 * 1000,
			exitCode: 0,
		});
		expect(await task?.outputTail(100)).toEqual({ bytes: Buffer.from("finished\n"), size: 9 });
		const [persisted] = await session.notifications.list();
		expect(persisted?.notification).toMatchObject({
			id: "n6d998101",
			type: "task.completed",
			dedupeKey: `background_task:${bashId}:completed`,
			targets: ["llm", "wire", "shell"],
			payload: { task_id: bashId, task_kind: "bash", failure_reason: null },
		});
		expect(Object.entries(persisted?.delivery ?? {}).map(([sink, { status }]) => [sink, status])).toEqual([
			["llm", "acked"],
			["wire", "acked"],
			["shell", "pending"],
		]);
		expect(log.lines).toEqual([]);
	});

	it("are written with the same keys in the same order", async () => {
		const keysOf = (content: string) => [...content.matchAll(/^ *"([^"]+)":/gm)].map((match) => match[1]);
		const [known] = await session.tasks.list();
		if (known === undefined) throw new Error("no task");
		const task = await session.tasks.create({ ...known.spec, id: "bash-00000001" });
		await task.setRuntime(newRuntime);
		for (const name of ["spec.json", "runtime.json", "control.json", "consumer.json"]) {
			expect(keysOf(await text("tasks", "bash-00000001", name))).toEqual(keysOf(await text("tasks", bashId, name)));
		}
		expect((await readdir(path.join(placed.directory, "tasks", "bash-00000001"))).sort()).toEqual(
			(await readdir(path.join(placed.directory, "tasks", bashId))).sort(),
		);
		const [persisted] = await session.notifications.list();
		if (persisted === undefined) throw new Error("no notification");
		const notification: Notification = { ...persisted.notification, id: "n00000001" };
		await session.notifications.add({ notification, delivery: newDelivery(notification.targets) });
		for (const name of ["event.json", "delivery.json"]) {
			expect(keysOf(await text("notifications", "n00000001", name))).toEqual(
				keysOf(await text("notifications", "n6d998101", name)),
			);
		}
	});
});

describe("the files of a task", () => {
	let place: StoreDirectory;
	let session: StoredSession;
	let directory: string;
	const log = createMemoryLog();
	const spec: TaskSpec = {
		id: "bash-00000001",
		kind: "bash",
		sessionId: "s",
		description: "the job",
		toolCallId: "c1",
		createdAt: 1000,
		timeout: null,
		command: { text: "true", shellPath: "/bin/bash", workDir: "/w" },
		agent: null,
	};
	beforeEach(async () => {
		place = await createStoreDirectory();
		log.lines.length = 0;
		session = await place.openStore({ log }).openOrCreate(place.workDir, "s");
		directory = path.join(session.directory ?? "", "tasks");
	});
	afterEach(() => place.cleanUp());
	const damage = async (id: string, files: Readonly<Record<string, string>>) => {
		await mkdir(path.join(directory, id), { recursive: true });
		for (const [name, content] of Object.entries(files)) await writeFile(path.join(directory, id, name), content);
	};

	it.each([
		["invalid JSON", "{"],
		["another shape", '{"id":"bash-00000002"}'],
		[
			"another id",
			JSON.stringify({ id: "bash-00000003", kind: "agent", session_id: "s", description: "", created_at: 1 }),
		],
		[
			"no command",
			JSON.stringify({ id: "bash-00000002", kind: "bash", session_id: "s", description: "", created_at: 1 }),
		],
		[
			"no agent",
			JSON.stringify({ id: "bash-00000002", kind: "agent", session_id: "s", description: "", created_at: 1 }),
		],
	])("with %s are ignored, logged and left unchanged", async (_name, content) => {
		await session.tasks.create(spec);
		await damage("bash-00000002", { "spec.json": content });
		expect((await session.tasks.list()).map((task) => task.spec.id)).toEqual([spec.id]);
		expect(await session.tasks.find("bash-00000002")).toBeNull();
		expect(log.lines.map(({ message }) => message)).toContain("a background task could not be read");
		expect(await readFile(path.join(directory, "bash-00000002", "spec.json"), "utf8")).toBe(content);
	});

	it.each(["", "[]", '{"status":"odd"}', '{"status":"running","worker_pid":0}'])(
		"with the state %j are lost, logged and left unchanged",
		async (content) => {
			const task = await session.tasks.create(spec);
			await damage(spec.id, { "runtime.json": content });
			expect(await task.runtime()).toEqual({ ...newRuntime, status: "lost", failureReason: expect.any(String) });
			expect(await readFile(path.join(directory, spec.id, "runtime.json"), "utf8")).toBe(content);
			expect(log.lines.map(({ message }) => message)).toContain("the state of a background task could not be read");
		},
	);

	it("have defaults for absent fields", async () => {
		const task = await session.tasks.create(spec);
		await damage(spec.id, { "runtime.json": '{"status":"running","more":1}' });
		expect(await task.runtime()).toEqual({ ...newRuntime, status: "running" });
	});

	it("do not include unrelated files", async () => {
		await session.tasks.create(spec);
		await writeFile(path.join(directory, "notes.txt"), "");
		await mkdir(path.join(directory, "Not A Task"));
		expect(await session.tasks.list()).toHaveLength(1);
		expect(log.lines).toEqual([]);
	});

	it("may be removed by anybody before their names are on stable storage: the session goes on", async () => {
		await session.tasks.create(spec);
		await rm(directory, { recursive: true });
		await session.commit({ events: [event] }, { sync: true });
		expect(await session.tasks.list()).toEqual([]);
	});

	it("include an output from the start, and the time of its last view", async () => {
		const task = await session.tasks.create(spec);
		expect((await stat(path.join(directory, spec.id, "output.log"))).size).toBe(0);
		await task.noteSeen(5);
		expect(JSON.parse(await readFile(path.join(directory, spec.id, "consumer.json"), "utf8"))).toEqual({
			last_seen_output_size: 5,
			last_viewed_at: expect.any(Number),
		});
	});

	it("of damaged notifications are ignored", async () => {
		const at = path.join(session.directory ?? "", "notifications");
		for (const id of ["n00000001", "n00000002"]) {
			await session.notifications.add({
				notification: {
					id,
					category: "system",
					type: "x",
					sourceKind: "y",
					sourceId: "z",
					title: "",
					body: "",
					severity: "info",
					createdAt: 1,
					payload: {},
					targets: ["llm"],
					dedupeKey: null,
				},
				delivery: {},
			});
		}
		await writeFile(path.join(at, "n00000001", "delivery.json"), '{"sinks":{"llm":{"status":"odd"}}}');
		await mkdir(path.join(at, "n00000003"));
		await writeFile(path.join(at, "n00000003", "event.json"), "{");
		expect((await session.notifications.list()).map(({ notification }) => notification.id)).toEqual(["n00000002"]);
		expect(log.lines.map(({ message }) => message)).toEqual([
			"a notification could not be read",
			"a notification could not be read",
		]);
	});
});
