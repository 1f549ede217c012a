// Frozen: methods, message types with kind and version, event types with class, and the version of the protocol.
// When this goes red, the vocabulary has changed: add what is new here in the same commit, never rename or remove.
import { expect, it } from "vitest";
import { eventDeclarations } from "../../src/api/values/event.ts";
import { silentLog } from "../../src/base/log.ts";
import { sinceOf } from "../../src/formats/history.ts";
import { messageDeclarations } from "../../src/formats/message.ts";
import { protocolVersion } from "../../src/formats/protocol-version.ts";
import { kimiDialect } from "../../src/frontends/kimi/dialect.ts";
import { legacyDialect } from "../../src/frontends/legacy/dialect.ts";
import { noCompatibility } from "../../src/frontends/shared/dialect.ts";
import { silentPeer } from "../support/protocol/silent-peer.ts";
import { createSessionSubject } from "../support/sessions/session-subject.ts";

it("pins the methods of each dialect", async () => {
	const { session } = await createSessionSubject(null);
	const server = { name: "n", version: "v" };
	const kernelApi = { session, server, compatibility: noCompatibility, log: silentLog };
	const methods = [kimiDialect, legacyDialect].map((dialect) =>
		[...dialect.converse(kernelApi, silentPeer).methods].map(([name, { actsOn }]) => [name, actsOn]),
	);
	expect(methods).toEqual([
		[
			["initialize", "requests"],
			["prompt", "requests"],
			["steer", "requests"],
			["replay", "requests"],
			["set_plan_mode", "requests"],
			["cancel", "requests"],
			["event", "notifications"],
		],
		[
			["run", "requests"],
			["interrupt", "both"],
		],
	]);
});

it("pins the protocol version", () => {
	expect(protocolVersion).toBe("1.10");
});

it("pins the message types", () => {
	expect(Object.entries(messageDeclarations).map(([type, { kind }]) => [type, kind, sinceOf(type)])).toEqual([
		["TurnBegin", "event", "1.0"],
		["TurnEnd", "event", "1.2"],
		["StepBegin", "event", "1.0"],
		["StepInterrupted", "event", "1.0"],
		["StepRetry", "event", "1.10"],
		["CompactionBegin", "event", "1.0"],
		["CompactionEnd", "event", "1.0"],
		["MCPLoadingBegin", "event", null],
		["MCPLoadingEnd", "event", null],
		["StatusUpdate", "event", "1.0"],
		["Notification", "event", null],
		["ContentPart", "event", "1.0"],
		["ToolCall", "event", "1.0"],
		["ToolCallPart", "event", "1.0"],
		["ToolResult", "event", "1.0"],
		["ApprovalResponse", "event", "1.1"],
		["SubagentEvent", "event", "1.0"],
		["SteerInput", "event", "1.5"],
		["PlanDisplay", "event", "1.7"],
		["HookTriggered", "event", "1.7"],
		["HookResolved", "event", "1.7"],
		["BtwBegin", "event", "1.9"],
		["BtwEnd", "event", "1.9"],
		["ApprovalRequest", "request", "1.0"],
		["ToolCallRequest", "request", "1.1"],
		["QuestionRequest", "request", "1.4"],
		["HookRequest", "request", "1.7"],
	]);
});

it("pins the event types", () => {
	expect(Object.entries(eventDeclarations).map(([type, declaration]) => [type, declaration.class])).toEqual([
		["turn.started", "durable"],
		["turn.ended", "durable"],
		["step.started", "durable"],
		["step.interrupted", "durable"],
		["step.retrying", "durable"],
		["compaction.started", "durable"],
		["compaction.ended", "durable"],
		["mcp.loading-started", "durable"],
		["mcp.loading-ended", "durable"],
		["status.changed", "durable"],
		["usage.counted", "durable"],
		["budget.warning", "durable"],
		["notification.raised", "durable"],
		["content.delta", "volatile"],
		["content.completed", "durable"],
		["tool-call.started", "volatile"],
		["tool-call.delta", "volatile"],
		["tool.requested", "durable"],
		["tool-call.fragment", "durable"],
		["permission.decided", "durable"],
		["tool.started", "durable"],
		["tool.progress", "volatile"],
		["tool.ended", "durable"],
		["tool.result", "durable"],
		["tool.outcome-unknown", "durable"],
		["recovery.reported", "durable"],
		["interaction.requested", "durable"],
		["interaction.resolved", "durable"],
		["mode.changed", "volatile"],
		["model.changed", "volatile"],
		["title.changed", "durable"],
		["client.attached", "volatile"],
		["client.detached", "volatile"],
		["session.reset", "volatile"],
		["steer.accepted", "durable"],
		["files.snapshot", "durable"],
		["files.restored", "durable"],
		["session.rewound", "durable"],
		["steer.consumed", "durable"],
		["plan.displayed", "durable"],
		["hook.triggered", "durable"],
		["hook.resolved", "durable"],
		["session-hook.started", "durable"],
		["session-hook.ended", "durable"],
		["side-question.started", "durable"],
		["side-question.ended", "durable"],
	]);
});
