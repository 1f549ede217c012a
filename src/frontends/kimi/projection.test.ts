import { describe, expect, it } from "vitest";
import { sampleEvents, sampleInteractions } from "../../../test/support/protocol/sample-events.ts";
import type { AgentEvent, EventBody, EventType } from "../../api/values/event.ts";
import { protocolVersion } from "../../formats/protocol-version.ts";
import { noCompatibility } from "../shared/dialect.ts";
import { project as projectFor } from "./projection.ts";

const today = { ...noCompatibility, declared: protocolVersion };
const project = (event: AgentEvent) => projectFor(event, today);

const path = [{ parentToolCallId: "P", agentId: "a1b2c3d4e", subagentType: "coder" }];
const at = (body: EventBody, agentPath = path.slice(0, 0)) => ({ sessionId: "s", turnId: "t", agentPath, at: 0, body });
const sample = (type: EventType, index = 0): EventBody => {
	const body = sampleEvents[type][index];
	if (body === undefined) throw new Error(type);
	return body;
};
const delivered = (body: EventBody, agentPath = path.slice(0, 0)) =>
	project(at(body, agentPath)).map((outgoing) => (outgoing.kind === "notification" ? outgoing.params : outgoing.kind));

describe("events of Kimi Wire", () => {
	it("has deltas of the session's own agent, and merged parts of subagents", () => {
		const streamed: readonly EventType[] = ["content.delta", "tool-call.started", "tool-call.delta"];
		const merged: readonly EventType[] = ["content.completed", "tool.requested", "tool-call.fragment"];
		for (const type of streamed)
			expect([delivered(sample(type)).length, delivered(sample(type), path).length]).toEqual([1, 0]);
		for (const type of merged)
			expect([delivered(sample(type)).length, delivered(sample(type), path).length]).toEqual([0, 1]);
	});

	it("wraps the events of a subagent, but not its interactions", () => {
		expect(delivered(sample("step.started"), path)).toEqual([
			{
				type: "SubagentEvent",
				payload: {
					parent_tool_call_id: "P",
					agent_id: "a1b2c3d4e",
					subagent_type: "coder",
					event: { type: "StepBegin", payload: { n: 1 } },
				},
			},
		]);
		expect(delivered(sample("interaction.requested"), path)).toEqual(["interaction"]);
		expect(delivered(sample("interaction.resolved"), path)).toEqual([
			"settled",
			{ type: "ApprovalResponse", payload: { request_id: "U", response: "reject", feedback: "no" } },
		]);
	});

	it("omits cancelled steps and the resolution of questions, client tools and hooks", () => {
		expect(delivered(sample("step.interrupted", 0))).toEqual([{ type: "StepInterrupted", payload: {} }]);
		expect(delivered(sample("step.interrupted", 1))).toEqual([]);
		expect(delivered(sample("interaction.resolved", 1))).toEqual(["settled"]);
		expect(delivered(sample("interaction.resolved", 2))).toEqual(["settled"]);
		expect(delivered(sample("interaction.resolved", 3))).toEqual(["settled"]);
	});

	it("sends every field of a status", () => {
		expect(delivered(sample("status.changed"))).toEqual([
			{
				type: "StatusUpdate",
				payload: {
					context_usage: null,
					context_tokens: null,
					max_context_tokens: null,
					token_usage: null,
					message_id: null,
					plan_mode: false,
					mcp_status: null,
				},
			},
		]);
	});
});

describe("requests of Kimi Wire", () => {
	const requests = sampleInteractions.flatMap((interaction) =>
		project(at({ type: "interaction.requested", interaction })).flatMap((outgoing) =>
			outgoing.kind === "interaction" ? [outgoing] : [],
		),
	);

	it("have the id of their payload, and a client tool the id of the model's call", () => {
		expect(requests.map(({ id, params }) => [id, params(id)])).toMatchObject([
			["U", { type: "ApprovalRequest", payload: { id: "U" } }],
			["c9", { type: "ToolCallRequest", payload: { id: "c9", name: "open_in_ide", arguments: '{"path":"a"}' } }],
			["Q", { type: "QuestionRequest", payload: { id: "Q", tool_call_id: "c3" } }],
			[
				"0123456789ab",
				{
					type: "HookRequest",
					payload: {
						id: "0123456789ab",
						subscription_id: "s1",
						event: "PreToolUse",
						target: "Shell",
						input_data: { hook_event_name: "PreToolUse", tool_name: "Shell" },
					},
				},
			],
		]);
	});

	it("sends all eleven fields of an approval in order", () => {
		const params = requests[0]?.params("U");
		expect(JSON.stringify(params)).toBe(
			'{"type":"ApprovalRequest","payload":{"id":"U","tool_call_id":"c1","sender":"Shell","action":"run command",' +
				'"description":"Run command `ls`","source_kind":"foreground_turn",' +
				'"source_id":"0123456789abcdef0123456789abcdef","agent_id":null,"subagent_type":null,' +
				'"source_description":null,"display":[{"type":"shell","language":"bash","command":"ls"}]}}',
		);
	});

	it("sends an empty object for a client tool without arguments", () => {
		const interaction = { kind: "client-tool", id: "A", toolCallId: "c9", name: "t", arguments: null } as const;
		const [outgoing] = project(at({ type: "interaction.requested", interaction }));
		expect(outgoing?.kind === "interaction" ? outgoing.params("c9") : null).toEqual({
			type: "ToolCallRequest",
			payload: { id: "c9", name: "t", arguments: "{}" },
		});
	});

	it("accepts valid answers, without their optional fields too", () => {
		const display = [{ type: "chart", points: [1] }];
		const answers = [
			{ request_id: "x", response: "reject", feedback: "F" },
			{ tool_call_id: "x", return_value: { is_error: false, output: "o", message: "", display } },
			{ request_id: "x", answers: { "Which DB?": "pg" } },
			{ request_id: "x", action: "block", reason: "R" },
		].map((result, index) => requests[index]?.readResult(result));
		expect(answers).toEqual([
			{ kind: "approval", decision: "reject", feedback: "F" },
			{
				kind: "client-tool",
				result: {
					is_error: false,
					output: "o",
					message: "",
					display: [{ type: "chart", data: { points: [1] } }],
					extras: null,
				},
			},
			{ kind: "question", answers: { "Which DB?": "pg" } },
			{ kind: "hook", action: "block", reason: "R" },
		]);
	});

	it("fills in the optional fields of a hook's answer", () => {
		expect(requests[3]?.readResult({ request_id: "x" })).toEqual({
			kind: "hook",
			action: "allow",
			reason: "",
		});
	});

	it.each<[number, unknown]>([
		[2, null],
		[2, { answers: {} }],
		[2, { request_id: 1, answers: {} }],
		[2, { request_id: "x" }],
		[2, { request_id: "x", answers: [] }],
		[2, { request_id: "x", answers: { "Which DB?": ["pg"] } }],
		[2, { request_id: "x", answers: { "Which DB?": "pg", Else: 1 } }],
		[3, null],
		[3, { action: "allow" }],
		[3, { request_id: 1 }],
		[3, { request_id: "x", action: "deny" }],
		[3, { request_id: "x", action: null }],
		[3, { request_id: "x", reason: 1 }],
	])("reports the answer to request %d as malformed: %j", (index, result) => {
		expect(requests[index]?.readResult(result)).toBeNull();
	});
});
