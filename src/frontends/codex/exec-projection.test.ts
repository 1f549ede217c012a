import * as v from "valibot";
import { describe, expect, it } from "vitest";
import { sampleEvents } from "../../../test/support/protocol/sample-events.ts";
import { textPart, toolError, toolSuccess } from "../../api/values/content.ts";
import type { EventBody } from "../../api/values/event.ts";
import { execEventSchemas } from "./exec-events.ts";
import { ExecProjection } from "./exec-projection.ts";

const start = () => new ExecProjection("T", "/work");
const take = (projection: ExecProjection, ...bodies: EventBody[]) =>
	bodies.flatMap((body) => projection.take({ sessionId: "T", turnId: "t", agentPath: [], at: 0, body }));
const say = (text: string): EventBody => ({ type: "content.completed", part: textPart(text) });
const call = (id: string, name: string, given: object): EventBody => ({
	type: "tool.requested",
	call: { type: "function", id, function: { name, arguments: JSON.stringify(given) }, extras: null },
});
const retry = sampleEvents["step.retrying"];

describe("the lines of codex exec", () => {
	it("are those of the schema for every event", () => {
		for (const event of take(start(), ...Object.values(sampleEvents).flat())) {
			const { type, ...members } = event;
			expect(v.safeParse(execEventSchemas[type], members)).toMatchObject({ success: true });
		}
	});

	it("withdraw what an attempt said that is retried", () => {
		const lines = take(start(), say("half"), ...retry.slice(0, 1), say("whole"), { type: "step.started", n: 2 });
		expect(lines.map((line) => ("item" in line ? line.item : line))).toEqual([
			{ id: "item_0", type: "error", message: expect.stringContaining("Retrying") },
			{ id: "item_1", type: "agent_message", text: "whole" },
		]);
	});

	it("name the server of a tool, and end calls that an interruption left open", () => {
		const projection = start();
		const servers = [{ name: "files", status: "connected" as const, tools: ["find"] }];
		const mcp_status = { loading: false, connected: 1, total: 1, tools: 1, servers };
		const status = sampleEvents["status.changed"][0];
		if (status === undefined) throw new Error("no sample");
		take(projection, { ...status, mcp_status }, call("1", "find", { a: 1 }), call("2", "Shell", { command: "ls" }));
		const settled = take(projection, { type: "tool.result", toolCallId: "1", result: toolSuccess({ output: "x" }) });
		expect(settled).toMatchObject([
			{ item: { server: "files", tool: "find", arguments: { a: 1 }, status: "completed" } },
		]);
		expect(projection.end({ status: "cancelled" })).toMatchObject([
			{ type: "item.completed", item: { type: "command_execution", command: "ls", status: "failed" } },
			{ type: "turn.failed", error: { message: "The turn was interrupted." } },
		]);
		expect(projection.end({ status: "finished" })).toEqual([]);
	});

	it("have the exit code only where a command ended with one", () => {
		const projection = start();
		take(projection, call("1", "Shell", { command: "a" }), call("2", "Shell", { command: "b" }));
		const failed = toolError("Command failed with exit code: 2.", "");
		const refused = toolError("A rule denies it.", "");
		const lines = take(
			projection,
			{ type: "tool.result", toolCallId: "1", result: failed },
			{ type: "tool.result", toolCallId: "2", result: refused },
		);
		expect(lines).toMatchObject([{ item: { exit_code: 2 } }, { item: { aggregated_output: "A rule denies it." } }]);
		expect(lines[1]).not.toHaveProperty("item.exit_code");
	});
});
