// TaskList, TaskOutput and TaskStop over tasks that are plain data.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
	briefOf,
	call,
	createToolPlace,
	prepareCall,
	type ToolPlace,
} from "../../../../test/support/host/tool-environment.ts";
import { createPlanDouble } from "../../../../test/support/sessions/plan-double.ts";
import { noTasks } from "../../../../test/support/sessions/session-doubles.ts";
import type { TaskView } from "../../../api/values/task-status.ts";
import type { TaskOperations } from "../operations.ts";
import type { Tool, ToolEnvironment } from "../tool.ts";
import { createTaskList } from "./task-list.ts";
import { createTaskOutput } from "./task-output.ts";
import { createTaskStop } from "./task-stop.ts";

let place: ToolPlace;
beforeAll(async () => {
	place = await createToolPlace();
});
afterAll(() => place.remove());

const command: TaskView = {
	id: "bash-00000001",
	kind: "bash",
	status: "running",
	description: "the server",
	timeout: 3600,
	command: "serve",
	agent: null,
	exitCode: null,
	interrupted: false,
	timedOut: false,
	reason: null,
	outputPath: "/s/tasks/bash-00000001/output.log",
};
const agent: TaskView = {
	...command,
	id: "agent-00000002",
	kind: "agent",
	status: "awaiting_approval",
	description: "a look",
	command: null,
	agent: { id: "a00000001", type: "explore" },
	reason: "Run command `ls`",
	outputPath: null,
};
const over: TaskView = { ...command, id: "bash-00000003", status: "completed", exitCode: 0 };
const all = [over, agent, command];

interface Double extends TaskOperations {
	readonly happened: string[];
}

function createTasks(changes: Partial<TaskOperations> = {}): Double {
	const happened: string[] = [];
	return {
		...noTasks,
		happened,
		list: async (activeOnly) => (activeOnly ? all.filter(({ status }) => status !== "completed") : all),
		find: async (id) => all.find((task) => task.id === id) ?? null,
		async wait(id, seconds) {
			happened.push(`waited ${seconds} s for ${id}`);
		},
		output: async () => ({ text: "two\nthree\n", previewBytes: 10, size: 10 }),
		async stop(id, reason) {
			happened.push(`stopped ${id}: ${reason}`);
			return { ...command, id };
		},
		...changes,
	};
}

const make = (create: (environment: ToolEnvironment) => Tool, tasks: TaskOperations | null, isPlanning = false): Tool =>
	create({ ...place.environment, tasks, plan: createPlanDouble({ isOn: isPlanning }).plan });

describe("TaskList", () => {
	const run = (value: object, tasks: TaskOperations = createTasks()) => call(make(createTaskList, tasks), value);

	it("lists active tasks, each with a block", async () => {
		expect(await run({})).toEqual({
			is_error: false,
			output: [
				"active_background_tasks: 2",
				"1. task_id: agent-00000002",
				"   kind: agent",
				"   status: awaiting_approval",
				"   description: a look",
				"   agent_id: a00000001",
				"   actual_subagent_type: explore",
				"   reason: Run command `ls`",
				"2. task_id: bash-00000001",
				"   kind: bash",
				"   status: running",
				"   description: the server",
				"   command: serve",
			].join("\n"),
			message: "",
			display: [
				{
					type: "background_task",
					task_id: "agent-00000002",
					kind: "agent",
					status: "awaiting_approval",
					description: "a look",
				},
				{
					type: "background_task",
					task_id: "bash-00000001",
					kind: "bash",
					status: "running",
					description: "the server",
				},
			],
			extras: null,
		});
	});

	it("lists all tasks, up to the given limit", async () => {
		const { output, display } = await run({ active_only: false, limit: 1 });
		expect(String(output).split("\n").slice(0, 2)).toEqual(["background_tasks: 3", "1. task_id: bash-00000003"]);
		expect(display).toHaveLength(1);
	});

	it("reports that there are none", async () => {
		expect(await run({}, noTasks)).toMatchObject({ output: "active_background_tasks: 0\n[no tasks]", display: [] });
		expect((await run({ active_only: false }, noTasks)).output).toBe("background_tasks: 0\n[no tasks]");
	});
});

describe("TaskOutput", () => {
	const run = async (value: object, tasks = createTasks()) =>
		String((await call(make(createTaskOutput, tasks), value)).output);

	it("shows the state of a task without waiting", async () => {
		const tasks = createTasks();
		expect((await run({ task_id: command.id }, tasks)).split("\n")).toEqual([
			"retrieval_status: not_ready",
			"task_id: bash-00000001",
			"kind: bash",
			"status: running",
			"description: the server",
			"command: serve",
			"interrupted: false",
			"timed_out: false",
			"output_path: /s/tasks/bash-00000001/output.log",
			"output_size_bytes: 10",
			"output_preview_bytes: 10",
			"output_truncated: false",
			"full_output_available: true",
			"full_output_tool: ReadFile",
			"hint: All there is so far is shown below.",
			"",
			"[output]",
			"two",
			"three",
			"",
		]);
		expect(tasks.happened).toEqual([]);
	});

	it("waits when requested, and reports that the time limit was reached", async () => {
		const tasks = createTasks();
		expect(await run({ task_id: command.id, block: true }, tasks)).toMatch(/^retrieval_status: timeout\n/);
		expect(await run({ task_id: command.id, block: true, timeout: 0 }, tasks)).toMatch(/^retrieval_status: timeout\n/);
		expect(tasks.happened).toEqual(["waited 30 s for bash-00000001", "waited 0 s for bash-00000001"]);
	});

	it.each([
		[{ status: "completed", exitCode: 0 }, ["terminal_reason: completed", "exit_code: 0"]],
		[
			{ status: "failed", exitCode: 3, reason: "It broke." },
			["terminal_reason: failed", "exit_code: 3", "reason: It broke."],
		],
		[{ status: "failed", timedOut: true, reason: "Too slow." }, ["terminal_reason: timed_out", "reason: Too slow."]],
		[{ status: "killed", interrupted: true, reason: "enough" }, ["terminal_reason: killed", "reason: enough"]],
		[{ status: "lost", reason: "Gone." }, ["terminal_reason: lost", "reason: Gone."]],
	] as const)("reports how a task ended: %j", async (change, lines) => {
		const text = await run({ task_id: "x" }, createTasks({ find: async () => ({ ...command, ...change }) }));
		expect(text).toMatch(/^retrieval_status: success\n/);
		const from = text.indexOf("terminal_reason");
		expect(text.slice(from).split("\n").slice(0, lines.length)).toEqual(lines);
	});

	it("names the file of a long output, and reports when there is none", async () => {
		const long = createTasks({ output: async () => ({ text: "end", previewBytes: 3, size: 100_000 }) });
		const text = await run({ task_id: command.id }, long);
		expect(text).toContain("output_size_bytes: 100000\noutput_preview_bytes: 3\noutput_truncated: true\n");
		expect(text).toMatch(/full_output_tool: ReadFile\nhint: ReadFile .*\n\n\[output\]\nend$/);
		const inMemory = await run({ task_id: agent.id });
		expect(inMemory).toContain("full_output_available: false\nhint: All there is so far is shown below.\n\n[output]\n");
		expect(inMemory).not.toContain("output_path");
	});

	it("refuses unknown ids", async () => {
		const tool = make(createTaskOutput, createTasks());
		expect(briefOf(await call(tool, { task_id: "../x" }))).toBe("Task not found");
	});
});

describe("TaskStop", () => {
	it("requests approval with the task, and reports that the stop was requested", async () => {
		const tasks = createTasks();
		const block = {
			type: "background_task",
			task_id: "bash-00000001",
			kind: "bash",
			status: "running",
			description: "the server",
		};
		const prepared = await prepareCall(make(createTaskStop, tasks), { task_id: command.id, reason: "enough" });
		expect(prepared).toMatchObject({
			approval: {
				action: "stop background task",
				description: "Stop background task `bash-00000001`",
				display: [block],
			},
			hasEffect: true,
		});
		expect(tasks.happened).toEqual([]);
		expect(await prepared.execute()).toEqual({
			is_error: false,
			output: "task_id: bash-00000001\nkind: bash\nstatus: running\ndescription: the server\ncommand: serve",
			message: "The stop was requested.",
			display: [block],
			extras: null,
		});
		expect(tasks.happened).toEqual(["stopped bash-00000001: enough"]);
	});

	it("requires no approval for an ended task", async () => {
		const tasks = createTasks();
		expect(await call(make(createTaskStop, tasks), { task_id: over.id })).toMatchObject({
			is_error: false,
			message: "The task was over already.",
		});
		expect(tasks.happened).toEqual([]);
	});

	it("refuses in plan mode and for an unknown task", async () => {
		const tasks = createTasks();
		const inPlanMode = make(createTaskStop, tasks, true);
		expect(briefOf(await call(inPlanMode, { task_id: command.id }))).toBe("Blocked in plan mode");
		expect(briefOf(await call(make(createTaskStop, tasks), { task_id: "x" }))).toBe("Task not found");
		expect(tasks.happened).toEqual([]);
	});
});

it.each([
	["TaskList", createTaskList, {}],
	["TaskOutput", createTaskOutput, { task_id: "x" }],
	["TaskStop", createTaskStop, { task_id: "x" }],
] as const)("%s is not available for a subagent", async (_name, create, value) => {
	expect(briefOf(await call(make(create, null), value))).toBe("Background task unavailable");
});
