import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
	briefOf,
	call,
	createToolPlace,
	issueOf,
	prepareCall,
	type ToolPlace,
} from "../../test/support/tool-environment.ts";
import { toolSuccess } from "../events/content.ts";
import { createAgent } from "./agent.ts";
import type { AgentOperations, AgentRequest } from "./operations.ts";

let place: ToolPlace;
let requests: [AgentRequest, string][];

beforeEach(async () => {
	requests = [];
	const agents: AgentOperations = {
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
	it("names the types with their tools to the model", () => {
		const { description } = createAgent(place.environment);
		expect(description).toMatch(/- coder: does work\. Tools: Shell, ReadFile\.\n- plan: designs\. Tools: ReadFile\.$/);
	});

	it("starts a coder in the session's model without a deadline, unless told otherwise", async () => {
		const tool = createAgent(place.environment);
		expect(await call(tool, task, "P")).toMatchObject({ is_error: false, output: "reported" });
		const told = { subagent_type: "plan", model: "fast", resume: "a00000001", timeout: 60 };
		await call(tool, { ...task, ...told }, "Q");
		expect(requests).toEqual([
			[{ ...task, type: "coder", model: null, resume: null, timeout: null }, "P"],
			[{ ...task, type: "plan", model: "fast", resume: "a00000001", timeout: 60 }, "Q"],
		]);
	});

	it("asks for no approval and counts as no effect: what the subagent does is asked and recorded by itself", async () => {
		expect(await prepareCall(createAgent(place.environment), task)).toMatchObject({ approval: null, hasEffect: false });
	});

	it("does not run in the background", async () => {
		const result = await call(createAgent(place.environment), { ...task, run_in_background: true });
		expect(briefOf(result)).toBe("Background start failed");
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
		expect(await issueOf(createAgent(place.environment), value)).not.toBeNull();
	});

	it("takes nulls for what is left out", async () => {
		expect(
			await issueOf(createAgent(place.environment), { ...task, model: null, resume: null, timeout: null }),
		).toBeNull();
	});
});
