import { describe, expect, it, vi } from "vitest";
import { createFakeClock } from "../../../test/support/host/campaign-clock.ts";
import type { Command } from "../../api/commands.ts";
import type { TurnOutcome } from "../../api/values/event.ts";
import type { TaskView } from "../../api/values/task-status.ts";
import { sleep } from "../../base/clock.ts";
import { createDeferred } from "../../base/deferred.ts";
import { awaitBackgroundWork } from "./print-background.ts";

const task = (id: string, timeout: number | null): TaskView => ({
	id,
	kind: "bash",
	status: "running",
	description: id,
	timeout,
	command: "sleep",
	agent: null,
	exitCode: null,
	interrupted: false,
	timedOut: false,
	reason: null,
	outputPath: null,
});

/** `news` counts what the agent has not heard of. */
function createSubject(tasks: TaskView[], outcome: TurnOutcome = { status: "finished" }) {
	const clock = createFakeClock();
	const controller = new AbortController();
	let next = createDeferred<void>();
	const ran: { readonly input: unknown; readonly origin: unknown }[] = [];
	let news = 0;
	let ended = 0;
	const send = async (command: Command): Promise<unknown> => {
		if (command.type === "tasks.list") return { tasks: [...tasks], hasNews: news > 0 };
		if (command.type === "tasks.end") {
			ended += tasks.length;
			tasks.length = 0;
			return null;
		}
		if (command.type !== "tasks.wait") throw new Error(`Nobody sends ${command.type} here.`);
		const pause = sleep(clock, command.seconds * 1000, controller.signal);
		return await Promise.race([next.promise.then(() => ({ ended: true })), pause.then(() => ({ ended: false }))]);
	};
	const session = { send: vi.fn().mockImplementation(send) };
	let during = () => {};
	const turns = {
		async run(input: unknown, origin?: unknown) {
			ran.push({ input, origin });
			news = 0;
			during();
			return outcome;
		},
	};
	return {
		clock,
		controller,
		ran,
		/** What happens while the next turn runs. */
		onTurn(happens: () => void) {
			during = () => {
				during = () => {};
				happens();
			};
		},
		/** News that nobody waited for. */
		report: () => {
			news += 1;
		},
		endedTasks: () => ended,
		/** The first task ends. */
		async end() {
			await new Promise((resolve) => setImmediate(resolve));
			tasks.shift();
			news += 1;
			const reported = next;
			next = createDeferred();
			reported.resolve();
			await new Promise((resolve) => setImmediate(resolve));
		},
		wait: (ceiling: number) => awaitBackgroundWork({ session, turns, ceiling }, controller.signal),
	};
}

describe("the wait for background work", () => {
	it("returns at once without tasks", async () => {
		const subject = createSubject([]);
		expect(await subject.wait(10)).toBeNull();
		expect(subject.ran).toEqual([]);
		expect(subject.clock.waiting()).toBe(0);
	});

	it("prompts the agent for each task that ends, with a reminder of the program", async () => {
		const subject = createSubject([task("a", 5), task("b", 8)]);
		const waiting = subject.wait(10);
		await subject.end();
		await subject.end();
		expect(await waiting).toBeNull();
		expect(subject.ran).toHaveLength(2);
		expect(subject.ran[0]).toEqual({ input: expect.stringContaining("<system-reminder>"), origin: { isOwn: true } });
	});

	it.each([
		["the longest of the tasks", 3600, [5, 8], 8],
		["the ceiling, when the tasks may take longer", 6, [5, 8], 6],
		["the ceiling, for a task without a limit", 6, [5, null], 6],
	] as const)("takes no longer than %s", async (_name, ceiling, timeouts, seconds) => {
		const subject = createSubject(timeouts.map((timeout, index) => task(`t${index}`, timeout)));
		const waiting = subject.wait(ceiling);
		await new Promise((resolve) => setImmediate(resolve));
		subject.clock.advance(seconds * 1000 - 1);
		await new Promise((resolve) => setImmediate(resolve));
		expect(subject.clock.waiting()).toBe(1);
		subject.clock.advance(1);
		expect(await waiting).toMatchObject({
			exitCode: 1,
			message: expect.stringContaining("t0, t1"),
		});
	});

	it("continues for tasks that the agent starts when prompted", async () => {
		const tasks = [task("a", 3)];
		const subject = createSubject(tasks);
		subject.onTurn(() => tasks.push(task("b", 60)));
		const waiting = subject.wait(100);
		await subject.end();
		await new Promise((resolve) => setImmediate(resolve));
		subject.clock.advance(59_999);
		await subject.end();
		expect(await waiting).toBeNull();
		expect(subject.ran).toHaveLength(2);
		expect(subject.endedTasks()).toBe(0);
	});

	it("prompts the agent about a task that ended during its last answer", async () => {
		const subject = createSubject([]);
		subject.report();
		expect(await subject.wait(10)).toBeNull();
		expect(subject.ran).toHaveLength(1);
	});

	it("stops tasks that exceed the time limit", async () => {
		const subject = createSubject([task("a", 5), task("b", 5)]);
		const waiting = subject.wait(10);
		await new Promise((resolve) => setImmediate(resolve));
		subject.clock.advance(5000);
		expect(await waiting).toMatchObject({ message: expect.stringContaining("still running") });
		expect(subject.endedTasks()).toBe(2);
	});

	it("ends with a failed turn", async () => {
		const subject = createSubject([task("a", 5), task("b", 5)], { status: "max-steps", limit: "steps", steps: 3 });
		const waiting = subject.wait(10);
		await subject.end();
		expect(await waiting).toMatchObject({ message: expect.stringContaining("steps reached") });
	});

	it("ends with the program", async () => {
		const subject = createSubject([task("a", 5)]);
		const waiting = subject.wait(10);
		await new Promise((resolve) => setImmediate(resolve));
		subject.controller.abort();
		expect(await waiting).toBeNull();
	});
});
