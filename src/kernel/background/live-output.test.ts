import { beforeEach, describe, expect, it } from "vitest";
import { createFakeClock, type FakeClock } from "../../../test/support/host/campaign-clock.ts";
import { createMemoryLog } from "../../../test/support/store/store-directory.ts";
import type { EventBodyOf } from "../../api/values/event.ts";
import { createMemoryStore } from "../../ports/store/memory/memory-store.ts";
import type { StoredTask, TaskSpec } from "../../ports/store/stored-tasks.ts";
import { ProgressReports } from "../clients/progress-reports.ts";
import { LiveOutput } from "./live-output.ts";

const spec: TaskSpec = {
	id: "bash-00000001",
	kind: "bash",
	sessionId: "s",
	description: "the server",
	toolCallId: "c1",
	createdAt: 1,
	timeout: 60,
	command: { text: "serve", shellPath: "/bin/bash", workDir: "/w" },
	agent: null,
};

describe("the output of a background command", () => {
	let clock: FakeClock;
	let task: StoredTask;
	let reads: number;
	let isWanted: boolean;
	let delivered: EventBodyOf<"tool.progress">[];
	let live: LiveOutput;
	const log = createMemoryLog();

	beforeEach(async () => {
		clock = createFakeClock();
		const stored = await createMemoryStore().openOrCreate("/w", "s1");
		const created = await stored.tasks.create(spec);
		reads = 0;
		isWanted = true;
		delivered = [];
		log.lines.length = 0;
		task = {
			...created,
			async outputTail(limit) {
				reads += 1;
				return await created.outputTail(limit);
			},
		};
		const wanted = () => isWanted;
		const emitter = { deliverProgress: (_: unknown, body: EventBodyOf<"tool.progress">) => void delivered.push(body) };
		const progress = new ProgressReports({ emitter, clock, isWanted: wanted });
		live = new LiveOutput({ progress, clock, log, isWanted: wanted });
	});
	const settle = () => new Promise((resolve) => setImmediate(resolve));
	const pass = async () => {
		await settle();
		clock.advance(250);
		await settle();
	};
	const take = () => delivered.splice(0).map(({ toolCallId, offset, text }) => `${toolCallId}@${offset} ${text}`);

	it("is reported as it comes, as progress of the call that started it", async () => {
		await task.appendOutput("one\n");
		live.follow(task);
		await settle();
		expect(take()).toEqual(["c1@0 one\n"]);
		await task.appendOutput("two\n");
		await pass();
		expect(take()).toEqual(["c1@4 two\n"]);
		await pass();
		expect(take()).toEqual([]);
		await task.appendOutput("three\n");
		await live.finish(task);
		expect(take()).toEqual(["c1@8 three\n"]);
		await settle();
		expect(clock.waiting()).toBe(0);
	});

	it("is skipped as far as a read does not reach, which the offset shows", async () => {
		await task.appendOutput(`${"€".repeat(20_000)}end`);
		live.follow(task);
		await settle();
		const [first] = delivered;
		expect(first?.text.startsWith("€")).toBe(true);
		expect(first?.text.endsWith("€end")).toBe(true);
		expect(Buffer.byteLength(first?.text ?? "")).toBeGreaterThan(32 * 1024 - 3);
		expect((first?.offset ?? 0) + Buffer.byteLength(first?.text ?? "")).toBe(60_003);
		await live.finish(task);
	});

	it("is not read while no client wants it, and is read again once one does", async () => {
		isWanted = false;
		live.follow(task);
		await task.appendOutput("one\n");
		await pass();
		expect([reads, clock.waiting(), take()]).toEqual([0, 0, []]);
		isWanted = true;
		live.look();
		live.look();
		await settle();
		expect(take()).toEqual(["c1@0 one\n"]);
		isWanted = false;
		await pass();
		expect(clock.waiting()).toBe(0);
		const before = reads;
		await live.finish(task);
		expect(reads).toBe(before);
	});

	it("that cannot be read is logged, and later output is reported", async () => {
		let fails = true;
		const { outputTail } = task;
		const failing: StoredTask = {
			...task,
			outputTail: (limit) => (fails ? Promise.reject(new Error("no disk")) : outputTail(limit)),
		};
		await task.appendOutput("one\n");
		live.follow(failing);
		await settle();
		expect(JSON.stringify(log.lines)).toContain("no disk");
		fails = false;
		await pass();
		expect(take()).toEqual(["c1@0 one\n"]);
		await live.finish(failing);
	});

	it("of a subagent is not followed: its log has it", async () => {
		live.follow({ ...task, spec: { ...spec, kind: "agent" } });
		await settle();
		expect(reads).toBe(0);
	});
});
