import * as v from "valibot";
import { describe, expect, it } from "vitest";
import { sampleEvents, sampleInteractions } from "../../../test/support/protocol/sample-events.ts";
import { textPart } from "../../api/values/content.ts";
import type { EventBody } from "../../api/values/event.ts";
import { ThreadProjection } from "./projection.ts";
import { codexProtocol } from "./protocol.ts";
import { toRequest } from "./requests.ts";
import { toDiff } from "./unified-diff.ts";
import { notificationSchemas } from "./wire-updates.ts";

const take = (projection: ThreadProjection, ...bodies: EventBody[]) =>
	bodies.flatMap((body) => projection.take({ sessionId: "T", turnId: "t", agentPath: [], at: 1000, body }));
const begun = () => {
	const projection = new ThreadProjection("T", "/work", new Set());
	take(projection, { type: "turn.started", input: "hi" });
	return projection;
};

describe("the notifications of the app-server", () => {
	it("are those of the schema for every event", () => {
		const { "turn.started": started, "turn.ended": ended, ...others } = sampleEvents;
		const sent = [started, ...Object.values(others), ended].flatMap((bodies) => take(begun(), ...bodies));
		for (const { method, params } of sent) {
			expect([method, v.safeParse(notificationSchemas[method], params).issues]).toEqual([method, undefined]);
		}
	});

	it("complete the item that deltas began, and none of an attempt that failed", () => {
		const projection = begun();
		const [retrying] = sampleEvents["step.retrying"];
		if (retrying === undefined) throw new Error("no sample");
		const delta = (text: string): EventBody => ({ type: "content.delta", part: textPart(text) });
		const sent = take(projection, delta("half"), retrying, delta("wh"), delta("ole"), {
			type: "content.completed",
			part: textPart("whole"),
		});
		expect(sent.map(({ method }) => method)).toEqual([
			"item/started",
			"item/agentMessage/delta",
			"error",
			"item/started",
			"item/agentMessage/delta",
			"item/agentMessage/delta",
			"item/completed",
		]);
		expect(sent.at(-1)).toMatchObject({ params: { item: { id: "t-3", text: "whole" } } });
	});

	it("end the turn with its failure, and the calls that were open", () => {
		const projection = begun();
		const call = {
			type: "function" as const,
			id: "c",
			function: { name: "Shell", arguments: '{"command":"ls"}' },
			extras: null,
		};
		take(projection, { type: "tool.requested", call });
		const error = { code: "overloaded" as const, message: "Too many.", data: null, retryable: true };
		expect(take(projection, { type: "turn.ended", outcome: { status: "failed", error } })).toMatchObject([
			{ method: "item/completed", params: { item: { id: "c", status: "failed" } } },
			{ method: "error", params: { willRetry: false } },
			{
				method: "turn/completed",
				params: { turn: { status: "failed", error: { message: "Too many.", codexErrorInfo: "serverOverloaded" } } },
			},
			{ method: "thread/status/changed", params: { status: { type: "idle" } } },
		]);
	});
});

describe("the requests of the app-server", () => {
	const place = { threadId: "T", turnId: "t", workDir: "/work", at: 1, cancelTurn: () => {} };

	it("are those of the schema, and every answer is read", () => {
		const answers: Readonly<Record<string, unknown>> = {
			"item/commandExecution/requestApproval": { decision: "accept" },
			"item/fileChange/requestApproval": { decision: "decline" },
			"item/tool/requestUserInput": { answers: { q1: { answers: ["pg"] } } },
			"item/tool/call": { success: true, contentItems: [{ type: "inputText", text: "x" }] },
		};
		const requests = sampleInteractions.flatMap((interaction) => toRequest(interaction, place) ?? []);
		expect(requests.length).toBeGreaterThan(2);
		for (const request of requests) {
			const [, shape] = Object.entries(codexProtocol.requests).find(([method]) => method === request.method) ?? [];
			if (shape === undefined) throw new Error(`${request.method} is not declared`);
			expect(v.safeParse(shape.payload, request.params("1")).issues).toBeUndefined();
			expect(request.readResult(answers[request.method])).not.toBeNull();
			expect(request.readResult({})).toBeNull();
		}
	});

	it("end the turn with a cancellation, and let the model go on after a refusal", () => {
		const [approval] = sampleInteractions;
		if (approval === undefined) throw new Error("no sample");
		let cancelled = 0;
		const cancelTurn = () => {
			cancelled += 1;
		};
		const request = toRequest(approval, { ...place, cancelTurn });
		expect(request?.readResult({ decision: "decline" })).toMatchObject({
			decision: "reject",
			feedback: expect.stringMatching(/./),
		});
		expect(cancelled).toBe(0);
		expect(request?.readResult({ decision: "cancel" })).toMatchObject({ decision: "reject", feedback: "" });
		expect(cancelled).toBe(1);
	});
});

describe("toDiff", () => {
	it("has hunks with their lines", () => {
		const block = { type: "diff" as const, path: "a", old_start: 3, new_start: 4, is_summary: false };
		expect(toDiff([{ ...block, old_text: "a\nb\n", new_text: "c" }])).toBe("@@ -3,2 +4,1 @@\n-a\n-b\n+c\n");
		expect(toDiff([{ ...block, old_text: "", new_text: "c\n" }])).toBe("@@ -0,0 +4,1 @@\n+c\n");
	});
});
