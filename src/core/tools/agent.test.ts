import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
	briefOf,
	call,
	createToolPlace,
	issueOf,
	prepareCall,
	type ToolPlace,
} from "../../../test/support/host/tool-environment.ts";
import { noAgents, noMedia, noWeb, searchService } from "../../../test/support/sessions/session-doubles.ts";
import { toolSuccess } from "../../api/values/content.ts";
import type { TaskView } from "../../api/values/task-status.ts";
import { createAgent } from "./agent.ts";
import type { AgentOperations, AgentRequest } from "./operations.ts";
import type { ToolEnvironment } from "./tool.ts";

let place: ToolPlace;
let agents: AgentOperations;
let requests: [AgentRequest, string][];

beforeEach(async () => {
	requests = [];
	agents = {
		...noAgents,
		types: [
			{ name: "coder", whenToUse: "does work.", tools: ["Shell", "ReadFile"] },
			{ name: "plan", whenToUse: "designs.", tools: ["ReadFile"] },
		],
		async run(request, toolCallId) {
			requests.push([request, toolCallId]);
			return toolSuccess({ output: "reported" });
		},
	};
	place = await createToolPlace({ agents });
});
afterEach(() => place.remove());

const task = { description: "a task", prompt: "Do it" };

describe("Agent", () => {
	it("lists the types with their tools for the model", () => {
		const { description } = createAgent(agents, place.environment);
		expect(description).toMatch(/- coder: does work\. Tools: Shell, ReadFile\.\n- plan: designs\. Tools: ReadFile\.$/);
	});

	it("lists no tools that require a missing model or service", () => {
		const types = [{ name: "coder", whenToUse: "does work.", tools: ["ReadFile", "ReadMediaFile", "SearchWeb"] }];
		const describe = (changes: Partial<ToolEnvironment>) =>
			createAgent({ ...noAgents, types }, { ...place.environment, ...changes }).description;
		expect(describe({})).toMatch(/Tools: ReadFile\.$/);
		expect(describe({ media: { ...noMedia, takesVideos: true } })).toMatch(/Tools: ReadFile, ReadMediaFile\.$/);
		expect(describe({ web: { ...noWeb, searchService } })).toMatch(/Tools: ReadFile, SearchWeb\.$/);
	});

	it("starts a coder with the session's model and no time limit by default", async () => {
		const tool = createAgent(agents, place.environment);
		expect(await call(tool, task, "P")).toMatchObject({ is_error: false, output: "reported" });
		const reported = { subagent_type: "plan", model: "fast", resume: "a00000001", timeout: 60 };
		await call(tool, { ...task, ...reported }, "Q");
		expect(requests).toEqual([
			[{ ...task, type: "coder", model: null, resume: null, timeout: null }, "P"],
			[{ ...task, type: "plan", model: "fast", resume: "a00000001", timeout: 60 }, "Q"],
		]);
	});

	it("requires no approval and has no effect: the subagent's calls have their own", async () => {
		expect(await prepareCall(createAgent(agents, place.environment), task)).toMatchObject({
			approval: null,
			hasEffect: false,
		});
	});

	it("returns at once in the background, with the task instead of a report", async () => {
		const view: TaskView = {
			id: "agent-0a1b2c3d",
			kind: "agent",
			status: "running",
			description: "a task",
			timeout: 900,
			command: null,
			agent: { id: "a00000001", type: "coder" },
			exitCode: null,
			interrupted: false,
			timedOut: false,
			reason: null,
			outputPath: null,
		};
		const starts: [AgentRequest, string][] = [];
		const start: AgentOperations["start"] = async (request, toolCallId) => {
			starts.push([request, toolCallId]);
			return { ok: true, task: view };
		};
		const tool = createAgent({ ...agents, start }, place.environment);
		const result = await call(tool, { ...task, run_in_background: true, timeout: 60 }, "P");
		expect(starts).toEqual([[{ ...task, type: "coder", model: null, resume: null, timeout: 60 }, "P"]]);
		expect(requests).toEqual([]);
		expect(result).toMatchObject({ is_error: false, message: "Background task started.", display: [] });
		const lines = String(result.output).split("\n");
		expect(lines.slice(0, 7)).toEqual([
			"task_id: agent-0a1b2c3d",
			"kind: agent",
			"status: running",
			"description: a task",
			"agent_id: a00000001",
			"actual_subagent_type: coder",
			"automatic_notification: true",
		]);
		expect(lines.slice(7).map((line) => line.split(":")[0])).toEqual(["next_step", "next_step", "resume_hint"]);
	});

	it("reports why it could not be started in the background", async () => {
		const result = await call(createAgent(agents, place.environment), { ...task, run_in_background: true });
		expect(briefOf(result)).toBe("Background start failed");
		const ofSubagent = createAgent(agents, { ...place.environment, tasks: null });
		expect(briefOf(await call(ofSubagent, { ...task, run_in_background: true }))).toBe("Background task unavailable");
		expect(requests).toEqual([]);
	});

	it.each([
		[{ prompt: "Do it" }],
		[{ description: "a task" }],
		[{ ...task, prompt: "" }],
		[{ ...task, timeout: 29 }],
		[{ ...task, timeout: 3601 }],
		[{ ...task, timeout: 30.5 }],
		[{ ...task, model: 1 }],
	])("refuses %j", async (value) => {
		expect(await issueOf(createAgent(agents, place.environment), value)).not.toBeNull();
	});

	it("treats null as absent", async () => {
		expect(
			await issueOf(createAgent(agents, place.environment), { ...task, model: null, resume: null, timeout: null }),
		).toBeNull();
	});
});
