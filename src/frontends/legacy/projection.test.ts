import { describe, expect, it } from "vitest";
import { sampleEvents, sampleInteractions } from "../../../test/support/protocol/sample-events.ts";
import { toolError, toolSuccess } from "../../api/values/content.ts";
import type { AgentPathEntry, EventBody, EventType } from "../../api/values/event.ts";
import { project } from "./projection.ts";

const path: readonly AgentPathEntry[] = [{ parentToolCallId: "P", agentId: "a1", subagentType: "coder" }];
const at = (body: EventBody, agentPath = path.slice(0, 0)) => ({ sessionId: "s", turnId: "t", agentPath, at: 0, body });
const delivered = (body: EventBody, agentPath = path.slice(0, 0)) =>
	project(at(body, agentPath)).flatMap((outgoing) => (outgoing.kind === "notification" ? [outgoing.params] : []));
const result = (value: Extract<EventBody, { type: "tool.result" }>["result"]) =>
	delivered({ type: "tool.result", toolCallId: "c1", result: value });

describe("events of the legacy dialect", () => {
	it("ignores events that it does not know", () => {
		const silent: readonly EventType[] = [
			"turn.started",
			"turn.ended",
			"step.retrying",
			"mcp.loading-started",
			"mcp.loading-ended",
			"notification.raised",
			"interaction.resolved",
			"steer.consumed",
			"plan.displayed",
			"hook.triggered",
			"hook.resolved",
			"side-question.started",
			"side-question.ended",
		];
		for (const type of silent) expect([type, ...sampleEvents[type].flatMap((body) => delivered(body))]).toEqual([type]);
	});

	it("omits an absent payload", () => {
		expect(delivered({ type: "step.interrupted", reason: "cancelled" })).toEqual([{ type: "step_interrupted" }]);
		expect(delivered({ type: "compaction.started" })).toEqual([{ type: "compaction_begin" }]);
		expect(delivered({ type: "compaction.ended" })).toEqual([{ type: "compaction_end" }]);
		expect(delivered({ type: "step.started", n: 2 })).toEqual([{ type: "step_begin", payload: { n: 2 } }]);
	});

	it("sends a status only with a context usage", () => {
		expect(sampleEvents["status.changed"].map((body) => delivered(body))).toEqual([
			[],
			[{ type: "status_update", payload: { context_usage: 0.5 } }],
		]);
	});

	it("omits nulls", () => {
		expect(delivered({ type: "content.delta", part: { type: "think", think: "Hm", encrypted: null } })).toEqual([
			{ type: "content_part", payload: { type: "think", think: "Hm" } },
		]);
		expect(sampleEvents["tool-call.started"].map((body) => delivered(body))).toEqual([
			[
				{
					type: "tool_call",
					payload: { type: "function", id: "c1", function: { name: "Shell", arguments: '{"command":"ls"}' } },
				},
			],
			[{ type: "tool_call", payload: { type: "function", id: "c1", function: { name: "Shell" } } }],
		]);
		expect(sampleEvents["tool-call.delta"].map((body) => delivered(body))).toEqual([
			[{ type: "tool_call_part", payload: { arguments_part: "{}" } }],
			[{ type: "tool_call_part", payload: {} }],
		]);
	});

	it("sends results with their brief, and only the text of an error", () => {
		const image = { type: "image_url", image_url: { url: "u", id: null } } as const;
		expect(result(toolSuccess({ output: "a\n", message: "ok" }))).toEqual([
			{
				type: "tool_result",
				payload: { tool_call_id: "c1", ok: true, result: { output: "a\n", message: "ok", brief: "" } },
			},
		]);
		expect(result(toolSuccess({ output: [image] }))).toEqual([
			{
				type: "tool_result",
				payload: {
					tool_call_id: "c1",
					ok: true,
					result: { output: [{ type: "image_url", image_url: { url: "u" } }], message: "", brief: "" },
				},
			},
		]);
		expect(result(toolError("m", "b", { output: [{ type: "text", text: "t" }, image] }))).toEqual([
			{
				type: "tool_result",
				payload: { tool_call_id: "c1", ok: false, result: { output: "t", message: "m", brief: "b" } },
			},
		]);
	});

	it("wraps subagents under the former name, recursively", () => {
		const twice = [...path, { parentToolCallId: "P2", agentId: null, subagentType: null }];
		expect(delivered({ type: "step.started", n: 1 }, twice)).toEqual([
			{
				type: "subagent_event",
				payload: {
					task_tool_call_id: "P",
					event: {
						type: "subagent_event",
						payload: { task_tool_call_id: "P2", event: { type: "step_begin", payload: { n: 1 } } },
					},
				},
			},
		]);
	});
});

describe("approvals of the legacy dialect", () => {
	const interactions = sampleInteractions.flatMap((interaction) =>
		project(at({ type: "interaction.requested", interaction })),
	);

	it("requests only approvals", () => {
		expect(
			interactions.map((interaction) => (interaction.kind === "interaction" ? interaction.params("U") : interaction)),
		).toEqual([
			{
				type: "approval",
				payload: {
					id: "U",
					tool_call_id: "c1",
					sender: "Shell",
					action: "run command",
					description: "Run command `ls`",
				},
			},
		]);
	});

	it("requires no request_id and ignores feedback", () => {
		const [interaction] = interactions;
		expect(
			interaction?.kind === "interaction" ? interaction.readResult({ response: "reject", feedback: "F" }) : null,
		).toEqual({
			kind: "approval",
			decision: "reject",
			feedback: "",
		});
	});
});
