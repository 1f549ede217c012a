import { describe, expect, it } from "vitest";
import { allSamples, sampleEvents } from "../../../test/support/sample-events.ts";
import type { AgentPathEntry, EventBody } from "../../events/event.ts";
import { wireVersions } from "../../messages/history.ts";
import { noCompatibility } from "../dialect.ts";
import { type Audience, toTold } from "./older-clients.ts";

const today: Audience = { ...noCompatibility, declared: null };
const path: readonly AgentPathEntry[] = [{ parentToolCallId: "P", agentId: "a1b2c3d4e", subagentType: "coder" }];
const told = (body: EventBody, audience: Partial<Audience>, agentPath: readonly AgentPathEntry[] = []) =>
	toTold({ body, agentPath }, { ...today, ...audience });
const text: EventBody = { type: "content.delta", part: { type: "text", text: "Hi" } };
const approved: EventBody = {
	type: "ask.resolved",
	askId: "U",
	answer: { kind: "approval", decision: "approve", feedback: "" },
};

describe("the cap on events", () => {
	it("leaves everything as it is when there is none", () => {
		for (const body of allSamples) {
			expect(told(body, {})?.type).not.toBe("ApprovalRequestResolved");
		}
		expect(allSamples.filter((body) => told(body, {}) === null).map(({ type }) => type)).toEqual([
			"step.interrupted",
			"budget.warning",
			"ask.resolved",
			"ask.resolved",
			"ask.resolved",
		]);
	});

	it.each(wireVersions.map((version) => [version]))(
		"of %s tells of subagents what it tells of the session",
		(version) => {
			for (const body of allSamples) {
				const own = told(body, { maxEvents: version });
				const wrapped = told(body, { maxEvents: version }, path);
				expect(wrapped).toEqual(
					own === null ? null : { type: "SubagentEvent", payload: expect.objectContaining({ event: own }) },
				);
			}
		},
	);

	it("goes by numbers and not by letters", () => {
		const [retry] = sampleEvents["step.retrying"];
		const [steer] = sampleEvents["steer.consumed"];
		if (retry === undefined || steer === undefined) throw new Error("no samples");
		expect(told(retry, { maxEvents: "1.10" })?.type).toBe("StepRetry");
		expect(told(steer, { maxEvents: "1.10" })?.type).toBe("SteerInput");
		expect(told(retry, { maxEvents: "1.9" })).toBeNull();
		expect(told(steer, { maxEvents: "1.4" })).toBeNull();
	});

	it("leaves out what no document names, whatever the version", () => {
		for (const type of ["notification.raised", "mcp.loading-started", "mcp.loading-ended"] as const) {
			for (const body of sampleEvents[type]) expect(told(body, { maxEvents: "1.10" })).toBeNull();
		}
	});

	it("tells the answer to an approval under the name of the version", () => {
		expect(wireVersions.map((version) => told(approved, { maxEvents: version })?.type)).toEqual([
			"ApprovalRequestResolved",
			...wireVersions.slice(1).map(() => "ApprovalResponse"),
		]);
	});
});

describe("other names", () => {
	it("are not taken for the parts of a conversation unless asked for", () => {
		expect(told(text, { maxEvents: "1.0", formerNames: true })?.type).toBe("ContentPart");
		expect(told(text, { typedParts: true })).toEqual({ type: "TextPart", payload: { type: "text", text: "Hi" } });
	});

	it("are those of each kind of part, merged or not, and in what a subagent says", () => {
		const names = sampleEvents["content.completed"].map((body) => told(body, { typedParts: true })?.type);
		expect(names.every((name) => /^(Text|Think|ImageURL|AudioURL|VideoURL)Part$/.test(name ?? ""))).toBe(true);
		expect(told(text, { typedParts: true }, path)?.payload).toMatchObject({ event: { type: "TextPart" } });
	});

	it("are the former ones of what was renamed, whatever the cap", () => {
		const payload = { request_id: "U", response: "approve", feedback: "" };
		for (const maxEvents of [null, ...wireVersions]) {
			expect(told(approved, { maxEvents, formerNames: true })).toEqual({ type: "ApprovalRequestResolved", payload });
		}
	});
});

describe("the former field of a subagent's event", () => {
	const keys = (audience: Partial<Audience>) => Object.keys(told(text, audience, path)?.payload ?? {});
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

	it("names the call that each level was started by", () => {
		const inner = { parentToolCallId: null, agentId: null, subagentType: null };
		expect(told(text, { declared: "1.1" }, [...path, inner])?.payload).toMatchObject({
			parent_tool_call_id: "P",
			task_tool_call_id: "P",
			event: { type: "SubagentEvent", payload: { parent_tool_call_id: null, task_tool_call_id: null } },
		});
	});
});
