import { describe, expect, it } from "vitest";
import { allSamples, sampleEvents, sampleInteractions } from "../../test/support/protocol/sample-events.ts";
import type { EventBody, EventType } from "../api/values/event.ts";
import { toMessage } from "./message-conversion.ts";
import { fromRecord, isRecorded, toRecord } from "./record.ts";

const neverPersisted: ReadonlySet<EventType> = new Set<EventType>([
	"content.delta",
	"tool-call.started",
	"tool-call.delta",
	"budget.warning",
	"interaction.resolved",
	"usage.counted",
	"permission.decided",
	"session-hook.started",
	"session-hook.ended",
	"tool.started",
	"tool.progress",
	"tool.ended",
	"tool.outcome-unknown",
	"recovery.reported",
	"steer.accepted",
	"mode.changed",
	"model.changed",
	"title.changed",
	"files.snapshot",
	"files.restored",
	"session.rewound",
	"client.attached",
	"client.detached",
	"session.reset",
]);
const isPersisted = (body: EventBody) =>
	!neverPersisted.has(body.type) &&
	!(
		body.type === "interaction.requested" &&
		(body.interaction.kind === "approval" || body.interaction.kind === "hook")
	) &&
	!(body.type === "step.interrupted" && body.reason === "cancelled");
const persisted = allSamples.filter(isPersisted);
const path = [{ parentToolCallId: "P", agentId: "a1b2c3d4e", subagentType: "coder" }];

/** Values that are not logged are null when they are read from the log. */
const asRead = (body: EventBody): EventBody => {
	if (body.type === "turn.ended") return { ...body, outcome: null };
	if (body.type === "interaction.requested" && body.interaction.kind === "client-tool")
		return { ...body, interaction: { ...body.interaction, id: body.interaction.toolCallId } };
	return body;
};

describe("records of the log", () => {
	it.each(persisted.map((body) => [body.type, body] as const))("restore %s", (_type, body) => {
		const record = JSON.parse(JSON.stringify(toRecord({ body, agentPath: [] })));
		expect(fromRecord(record)).toEqual({ agentPath: [], body: asRead(body) });
	});

	it("exist for exactly the events that are said to have one", () => {
		for (const body of allSamples)
			expect([body, isRecorded({ body })]).toEqual([body, toRecord({ body, agentPath: [] }) !== null]);
	});

	it("restore events of subagents, nested ones too", () => {
		const body = sampleEvents["content.completed"][0];
		if (body === undefined) throw new Error("no sample");
		const agentPath = [...path, { parentToolCallId: "P2", agentId: null, subagentType: null }];
		expect(fromRecord(JSON.parse(JSON.stringify(toRecord({ body, agentPath }))))).toEqual({ agentPath, body });
	});

	it("omit approvals, hooks, deltas and cancelled steps", () => {
		expect(allSamples.filter((body) => !isPersisted(body)).map((body) => toRecord({ body, agentPath: [] }))).toEqual(
			allSamples.filter((body) => !isPersisted(body)).map(() => null),
		);
	});

	it("do not wrap the interactions of subagents", () => {
		const interaction = sampleInteractions[2];
		if (interaction === undefined) throw new Error("no sample");
		expect(toRecord({ body: { type: "interaction.requested", interaction }, agentPath: path })?.type).toBe(
			"QuestionRequest",
		);
	});
});

describe("records of older versions", () => {
	const read = (type: string, payload: unknown) => fromRecord({ type, payload })?.body ?? null;

	it("can be ApprovalRequestResolved and approval requests without source or display", () => {
		expect(read("ApprovalRequestResolved", { request_id: "U", response: "approve" })).toEqual({
			type: "interaction.resolved",
			interactionId: "U",
			answer: { kind: "approval", decision: "approve", feedback: "" },
		});
		const request = { id: "U", tool_call_id: "c", sender: "Shell", action: "run command", description: "d" };
		const record = fromRecord({ type: "ApprovalRequest", payload: request });
		expect(record === null ? null : toMessage(record.body)).toEqual({
			type: "ApprovalRequest",
			payload: {
				...request,
				source_kind: null,
				source_id: null,
				agent_id: null,
				subagent_type: null,
				source_description: null,
				display: [],
			},
		});
	});

	it("can have task_tool_call_id", () => {
		const event = { type: "StepBegin", payload: { n: 1 } };
		expect(fromRecord({ type: "SubagentEvent", payload: { task_tool_call_id: "P", event } })).toEqual({
			agentPath: [{ parentToolCallId: "P", agentId: null, subagentType: null }],
			body: { type: "step.started", n: 1 },
		});
	});

	it("can have a status of 0.59", () => {
		expect(read("StatusUpdate", { context_usage: 0.5 })).toEqual({
			type: "status.changed",
			context_usage: 0.5,
			context_tokens: null,
			max_context_tokens: null,
			token_usage: null,
			message_id: null,
			plan_mode: null,
			mcp_status: null,
		});
	});

	it.each([
		["an unknown type", { type: "Nothing", payload: {} }],
		["an inherited name", { type: "constructor", payload: {} }],
		["another inherited name", { type: "__proto__", payload: {} }],
		["no payload", { type: "StepBegin" }],
		["a payload that does not fit", { type: "StepBegin", payload: { n: "1" } }],
		["a subagent's unknown event", { type: "SubagentEvent", payload: { event: { type: "Nothing", payload: {} } } }],
		["a subagent without event", { type: "SubagentEvent", payload: {} }],
		["a type that is no string", { type: 5, payload: {} }],
		["a list", []],
		["null", null],
	])("are ignored: %s", (_name, record) => expect(fromRecord(record)).toBeNull());

	it("can have unknown keys", () => {
		expect(read("StepBegin", { n: 1, more: true })).toEqual({ type: "step.started", n: 1 });
	});
});
