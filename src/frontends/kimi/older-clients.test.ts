import { describe, expect, it } from "vitest";
import { allSamples, sampleEvents } from "../../../test/support/protocol/sample-events.ts";
import type { AgentPathEntry, EventBody } from "../../api/values/event.ts";
import { wireVersions } from "../../formats/history.ts";
import { noCompatibility } from "../shared/dialect.ts";
import { type Audience, toDelivered } from "./older-clients.ts";

const today: Audience = { ...noCompatibility, declared: null };
const path: readonly AgentPathEntry[] = [{ parentToolCallId: "P", agentId: "a1b2c3d4e", subagentType: "coder" }];
const delivered = (body: EventBody, audience: Partial<Audience>, agentPath: readonly AgentPathEntry[] = []) =>
	toDelivered({ body, agentPath }, { ...today, ...audience });
const text: EventBody = { type: "content.delta", part: { type: "text", text: "Hi" } };
const approved: EventBody = {
	type: "interaction.resolved",
	interactionId: "U",
	answer: { kind: "approval", decision: "approve", feedback: "" },
};

describe("the cap on events", () => {
	it("changes nothing when it is absent", () => {
		for (const body of allSamples) {
			expect(delivered(body, {})?.type).not.toBe("ApprovalRequestResolved");
		}
		expect(allSamples.filter((body) => delivered(body, {}) === null).map(({ type }) => type)).toEqual([
			"step.interrupted",
			"usage.counted",
			"budget.warning",
			"permission.decided",
			"tool.started",
			"tool.progress",
			"tool.ended",
			"tool.outcome-unknown",
			"recovery.reported",
			"interaction.resolved",
			"interaction.resolved",
			"interaction.resolved",
			"mode.changed",
			"model.changed",
			"title.changed",
			"files.snapshot",
			"files.snapshot",
			"files.restored",
			"session.rewound",
			"client.attached",
			"client.detached",
			"session.reset",
			"steer.accepted",
			"session-hook.started",
			"session-hook.started",
			"session-hook.ended",
			"session-hook.ended",
			"session-hook.ended",
		]);
	});

	it.each(wireVersions.map((version) => [version]))("of %s applies to subagents as to the session", (version) => {
		for (const body of allSamples) {
			const own = delivered(body, { maxEvents: version });
			const wrapped = delivered(body, { maxEvents: version }, path);
			expect(wrapped).toEqual(
				own === null ? null : { type: "SubagentEvent", payload: expect.objectContaining({ event: own }) },
			);
		}
	});

	it("compares versions by number", () => {
		const [retry] = sampleEvents["step.retrying"];
		const [steer] = sampleEvents["steer.consumed"];
		if (retry === undefined || steer === undefined) throw new Error("no samples");
		expect(delivered(retry, { maxEvents: "1.10" })?.type).toBe("StepRetry");
		expect(delivered(steer, { maxEvents: "1.10" })?.type).toBe("SteerInput");
		expect(delivered(retry, { maxEvents: "1.9" })).toBeNull();
		expect(delivered(steer, { maxEvents: "1.4" })).toBeNull();
	});

	it("omits events that no document names, whatever the version", () => {
		for (const type of ["notification.raised", "mcp.loading-started", "mcp.loading-ended"] as const) {
			for (const body of sampleEvents[type]) expect(delivered(body, { maxEvents: "1.10" })).toBeNull();
		}
	});

	it("sends the answer to an approval under the name in that version", () => {
		expect(wireVersions.map((version) => delivered(approved, { maxEvents: version })?.type)).toEqual([
			"ApprovalRequestResolved",
			...wireVersions.slice(1).map(() => "ApprovalResponse"),
		]);
	});
});

describe("former names", () => {
	it("are used for content parts only when requested", () => {
		expect(delivered(text, { maxEvents: "1.0", formerNames: true })?.type).toBe("ContentPart");
		expect(delivered(text, { typedParts: true })).toEqual({ type: "TextPart", payload: { type: "text", text: "Hi" } });
	});

	it("cover every kind of part, merged or not, and subagents' parts", () => {
		const names = sampleEvents["content.completed"].map((body) => delivered(body, { typedParts: true })?.type);
		expect(names.every((name) => /^(Text|Think|ImageURL|AudioURL|VideoURL)Part$/.test(name ?? ""))).toBe(true);
		expect(delivered(text, { typedParts: true }, path)?.payload).toMatchObject({ event: { type: "TextPart" } });
	});

	it("are used for renamed messages, whatever the cap", () => {
		const payload = { request_id: "U", response: "approve", feedback: "" };
		for (const maxEvents of [null, ...wireVersions]) {
			expect(delivered(approved, { maxEvents, formerNames: true })).toEqual({
				type: "ApprovalRequestResolved",
				payload,
			});
		}
	});
});

describe("the former field of a subagent's event", () => {
	const keys = (audience: Partial<Audience>) => Object.keys(delivered(text, audience, path)?.payload ?? {});
	const fields = ["parent_tool_call_id", "agent_id", "subagent_type", "event"];

	it.each<[Partial<Audience>, boolean]>([
		// Who leaves the handshake out speaks 1.0, or may.
		[{}, true],
		[{ declared: "1.0" }, true],
		[{ declared: "1" }, true],
		[{ declared: "1.5" }, true],
		[{ declared: "1.6" }, false],
		[{ declared: "1.10" }, false],
		[{ declared: "a string" }, false],
		[{ declared: "1.10", maxEvents: "1.2" }, true],
		[{ maxEvents: "1.5" }, true],
		[{ declared: "1.6", maxEvents: "1.6" }, false],
		[{ maxEvents: "1.6" }, true],
	])("for %j: %s", (audience, isThere) => {
		expect(keys(audience)).toEqual(isThere ? [...fields, "task_tool_call_id"] : fields);
	});

	it("names the call that started each level", () => {
		const inner = { parentToolCallId: null, agentId: null, subagentType: null };
		expect(delivered(text, { declared: "1.1" }, [...path, inner])?.payload).toMatchObject({
			parent_tool_call_id: "P",
			task_tool_call_id: "P",
			event: { type: "SubagentEvent", payload: { parent_tool_call_id: null, task_tool_call_id: null } },
		});
	});
});
