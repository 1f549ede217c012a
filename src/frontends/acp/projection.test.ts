import * as v from "valibot";
import { describe, expect, it } from "vitest";
import type { ToolCall } from "../../api/values/content.ts";
import { type AgentEvent, type EventBody, statusChanged } from "../../api/values/event.ts";
import { Projection } from "./projection.ts";
import { clientCapabilitiesSchema } from "./wire.ts";

const eventOf = (body: EventBody): AgentEvent => ({
	...{ sessionId: "s", turnId: "t", at: 0, agentPath: [], durability: "volatile" },
	body,
});

const away = statusChanged({
	mcp_status: {
		...{ loading: false, connected: 0, total: 1, tools: 0 },
		servers: [{ name: "files", status: "failed", tools: [] }],
	},
});

function project(session: object) {
	const client = v.parse(clientCapabilitiesSchema, { session });
	return new Projection({
		workDir: "/work",
		client,
		isOwnInput: () => true,
		echoesPrompts: () => false,
		price: () => null,
	});
}

describe("an MCP server that cannot be used", () => {
	it("is a notice for a client that shows notices, once", () => {
		const projection = project({ notices: {} });
		expect(projection.take(eventOf(away))).toMatchObject([
			{ sessionUpdate: "notice", severity: "warning", title: 'The MCP server "files" cannot be used' },
		]);
		expect(projection.take(eventOf(away))).toEqual([]);
	});

	it("is a message for any other client", () => {
		const [update] = project({}).take(eventOf(away));
		expect(update).toMatchObject({ sessionUpdate: "agent_message_chunk", messageId: "mcp-server-files" });
	});

	it("is nothing while a history is sent", () => {
		const projection = project({ notices: {} });
		projection.isReplay = true;
		expect(projection.take(eventOf(away))).toEqual([]);
	});
});

describe("compactions", () => {
	it("have ids of their own, also for a client that came back and was sent no history", () => {
		const idsOf = (turnId: string, projection = project({ compaction: {} })) =>
			[
				{ type: "turn.started", input: "go" } as const,
				...[1, 2].flatMap(() => [{ type: "compaction.started" }, { type: "compaction.ended" }] as const),
				{ type: "turn.ended", outcome: null } as const,
			].flatMap((body) =>
				projection
					.take({ ...eventOf(body), turnId })
					.flatMap((update) => ("compactionId" in update ? [update.compactionId] : [])),
			);
		const ids = [...idsOf("t"), ...idsOf("u")];
		expect(ids).toHaveLength(8);
		expect(new Set(ids).size).toBe(4);
	});
});

describe("calls of one turn whose model gives several the same id", () => {
	const callWith = (text: string | null): ToolCall => ({
		...{ type: "function", id: "call_0", function: { name: "Glob", arguments: text }, extras: null },
	});
	const begun: EventBody = { type: "tool-call.started", call: callWith(null) };
	const requested: EventBody = { type: "tool.requested", call: callWith("{}") };
	const result = { is_error: false, output: "none", message: "", display: [], extras: null };
	const settled: EventBody = { type: "tool.result", toolCallId: "call_0", result };
	// A request that is made again begins its calls again.
	const live = [begun, begun, requested, settled];

	it.each([
		["live", false, live],
		["in the history", true, [requested, settled]],
	])("have ids of their own, %s", (_where, isReplay, bodies) => {
		const projection = project({});
		projection.isReplay = isReplay;
		const idsOf = (turnId: string, ...all: readonly EventBody[]) => {
			const updates = all.flatMap((body) => projection.take({ ...eventOf(body), turnId }));
			return [...new Set(updates.flatMap((update) => ("toolCallId" in update ? [update.toolCallId] : [])))];
		};
		const started: EventBody = { type: "turn.started", input: "go" };
		const ended: EventBody = { type: "turn.ended", outcome: null };
		expect(idsOf("t", started, ...bodies, ...bodies, ended)).toEqual(["t/call_0", "t/call_0#2"]);
		expect(idsOf("u", started, ...bodies)).toEqual(["u/call_0"]);
	});
});
