import * as v from "valibot";
import { describe, expect, it } from "vitest";
import { allSamples } from "../../../../test/support/protocol/sample-events.ts";
import { type ToolCall, toolError, toolSuccess } from "../../../api/values/content.ts";
import { type EventBody, statusChanged } from "../../../api/values/event.ts";
import { createContractCodec } from "../eras/contract.ts";
import { seedCodec } from "../eras/seed.ts";
import { contractEvents, type MeerkatEvent, seedEvents } from "../wire/wire-events.ts";
import { toAnswerId } from "./answer-id.ts";
import { newFacts } from "./facts.ts";
import { createProjection } from "./projection.ts";

const contractCodec = createContractCodec(null);

const usage = { input_other: 3, output: 2, input_cache_read: 4, input_cache_creation: 0 };
const path = [{ parentToolCallId: "P", agentId: "a", subagentType: "coder" }];

function createSubject() {
	const projection = createProjection({
		sessionId: "s",
		model: { provider: "p", model: "m" },
		facts: newFacts(0),
		describe: (outcome) => (outcome.status === "failed" ? outcome.error.message : "Run was cancelled"),
	});
	let at = 0;
	const take = (body: EventBody, agentPath = path.slice(0, 0)) => {
		at += 1;
		return projection.take({ sessionId: "s", turnId: "t", agentPath, at, body });
	};
	return { projection, take, all: (...bodies: readonly EventBody[]) => bodies.flatMap((body) => take(body)) };
}

/** Names in the events of the contract. */
const identity = { run_id: "t", interaction_id: "t", turn_input: "typed_text" };
const answer = (n: number) => ({ assistant_message_id: toAnswerId("t", n) });

const call = (id: string, text: string | null = "{}"): ToolCall => ({
	type: "function",
	id,
	function: { name: "T", arguments: text },
	extras: null,
});
const begin: EventBody = { type: "turn.started", input: "go" };
const step: EventBody = { type: "step.started", n: 1 };
const text = (value: string): EventBody => ({ type: "content.delta", part: { type: "text", text: value } });
const called = (id: string, value?: string | null): EventBody => ({
	type: "tool.requested",
	call: call(id, value),
});
const began = (toolCallId: string): EventBody => ({
	type: "tool.started",
	toolCallId,
	name: "T",
	arguments: "{}",
	has_effect: true,
});
const result = (toolCallId: string): EventBody => ({
	type: "tool.result",
	toolCallId,
	result: toolSuccess({ output: toolCallId }),
});
const answered = statusChanged({ token_usage: usage, plan_mode: false });
const finished: EventBody = { type: "turn.ended", outcome: { status: "finished" } };
const cancelled: EventBody = { type: "turn.ended", outcome: { status: "cancelled" } };
const failed: EventBody = {
	type: "turn.ended",
	outcome: { status: "failed", error: { code: "provider-failed", message: "no", data: null } },
};
const typesOf = (events: readonly { readonly type: string }[]) => events.map(({ type }) => type);

describe("the events of a run", () => {
	it("has results in the order of the calls, once all are complete, even if one was early", () => {
		const { take, all } = createSubject();
		expect(typesOf(all(begin, step, text("a"), called("1"), began("1"), called("2"), began("2"), result("2")))).toEqual(
			["run_started", "turn_started", "text_delta"],
		);
		expect(typesOf(take(answered))).toEqual([
			"text_complete",
			"tool_call_requested",
			"tool_call_requested",
			"tool_execution_started",
			"tool_execution_started",
		]);
		const delivered = take(result("1"));
		expect(delivered).toMatchObject([
			{ type: "tool_execution_completed", id: "1", result: "1" },
			{ type: "tool_result_received", id: "1" },
			{ type: "tool_execution_completed", id: "2", result: "2" },
			{ type: "tool_result_received", id: "2" },
			{ type: "turn_completed", stop_reason: "tool_use", usage: { input_tokens: 7, output_tokens: 2 } },
		]);
	});

	it("counts model calls from 0, and reports the session's usage at the end", () => {
		const { projection, all } = createSubject();
		const events = all(begin, step, called("1"), answered, result("1"), step, text("b"), answered, finished);
		expect(events.filter(({ type }) => type === "turn_started")).toEqual([
			{ type: "turn_started", turn_number: 0, ...answer(1) },
			{ type: "turn_started", turn_number: 1, ...answer(1) },
		]);
		expect(events.at(-1)).toEqual({
			type: "run_completed",
			session_id: "s",
			result: "b",
			usage: { input_tokens: 14, output_tokens: 4, cache_creation_tokens: null, cache_read_tokens: 8 },
			extraction_required: false,
			identity,
			...answer(1),
		});
		expect(projection.report()).toEqual({
			text: "b",
			turns: 2,
			toolCalls: 1,
			calls: [usage, usage].map((each) => ({ usage: each, model: { provider: "p", model: "m" } })),
			cause: null,
			denial: null,
			formed: null,
		});
	});

	it("reports calls without a result as interrupted", () => {
		const { all } = createSubject();
		const events = all(begin, step, called("1"), called("2"), answered, result("1"), cancelled);
		expect(events.slice(-5)).toMatchObject([
			{ type: "tool_execution_completed", id: "1", is_error: false },
			{ type: "tool_result_received", id: "1" },
			{ type: "tool_execution_completed", id: "2", is_error: true },
			{ type: "tool_result_received", id: "2" },
			{ type: "run_failed", error: "Run was cancelled" },
		]);
	});

	it("leaves the streamed part of a broken answer incomplete", () => {
		const { all } = createSubject();
		expect(typesOf(all(begin, step, text("Hel"), called("1"), failed))).toEqual([
			"run_started",
			"turn_started",
			"text_delta",
			"run_failed",
		]);
	});

	it("says when an answer reached a token limit", () => {
		const { all } = createSubject();
		const cut: EventBody = { ...statusChanged({ plan_mode: false }), truncated: "length" };
		const over: EventBody = { type: "turn.ended", outcome: { status: "truncated", reason: "length" } };
		const events = all(begin, step, text("Hel"), cut, over);
		expect(events.find(({ type }) => type === "turn_completed")).toMatchObject({ stop_reason: "max_tokens" });
		expect(events.at(-1)).toMatchObject({ type: "run_completed", result: "Hel" });
	});

	it("starts over with a retried answer", () => {
		const { all } = createSubject();
		const retrying: EventBody = {
			type: "step.retrying",
			n: 1,
			next_attempt: 2,
			max_attempts: 3,
			wait_s: 0.512,
			error_type: "APIStatusError",
			status_code: 503,
		};
		const events = all(begin, step, text("Hel"), called("1"), retrying, text("Hello"), answered, finished);
		expect(events.find(({ type }) => type === "retrying")).toEqual({
			type: "retrying",
			attempt: 1,
			max_attempts: 2,
			error: "HTTP 503",
			delay_ms: 512,
			retry: {
				failure: { provider: "p", kind: "retryable_provider_error", message: "HTTP 503" },
				plan: {
					attempt: 1,
					max_retries: 2,
					computed_delay_ms: 512,
					selected_delay_ms: 512,
					rate_limit_floor_applied: false,
					budget_capped: false,
				},
			},
			...answer(1),
		});
		expect(typesOf(events).slice(-3)).toEqual(["text_complete", "turn_completed", "run_completed"]);
		expect(events).toContainEqual({ type: "text_complete", content: "Hello", ...answer(1) });
	});

	it("says that a call begins when it does, and never for one that was refused", () => {
		const { take, all } = createSubject();
		all(begin, step, called("1"), called("2"));
		expect(typesOf(take(answered))).toEqual(["tool_call_requested", "tool_call_requested"]);
		expect(take(began("2"))).toEqual([{ type: "tool_execution_started", id: "2", name: "T" }]);
		expect(take(began("2"))).toEqual([]);
		expect(take(result("1"))).toEqual([]);
		expect(typesOf(take(result("2"))).filter((type) => type === "tool_execution_started")).toEqual([]);
	});

	const hook = { event: "PreToolUse", target: "T" };
	const triggered: EventBody = { type: "hook.triggered", ...hook, hook_count: 1 };
	const resolved = (reason: string): EventBody => ({
		type: "hook.resolved",
		...hook,
		action: reason === "" ? "allow" : "block",
		reason,
		duration_ms: 1,
	});

	it("reports hooks of a call after the call, even if they ran before the end of the answer", () => {
		const { take, all, projection } = createSubject();
		expect(
			typesOf(all(begin, step, called("1"), triggered, resolved(""), began("1"), called("2"), began("2"))),
		).toEqual(["run_started", "turn_started"]);
		expect(projection.isAnswering()).toBe(true);
		expect(typesOf(take(answered))).toEqual([
			"tool_call_requested",
			"tool_call_requested",
			"tool_execution_started",
			"tool_execution_started",
			"hook_started",
			"hook_completed",
		]);
		expect(projection.isAnswering()).toBe(false);
		expect(typesOf(all(triggered, resolved("")))).toEqual(["hook_started", "hook_completed"]);
	});

	it("reports hooks of an answer that broke off", () => {
		const again = createSubject();
		again.all(begin, step, called("1"), triggered);
		const retrying: EventBody = {
			type: "step.retrying",
			n: 1,
			next_attempt: 2,
			max_attempts: 3,
			wait_s: 1,
			error_type: "e",
			status_code: null,
		};
		expect(typesOf(again.all(retrying, resolved(""), answered))).toEqual([
			"hook_started",
			"retrying",
			"hook_completed",
			"turn_completed",
		]);
		const { all } = createSubject();
		expect(typesOf(all(begin, step, called("1"), triggered, resolved(""), cancelled)).slice(2)).toEqual([
			"hook_started",
			"hook_completed",
			"run_failed",
		]);
	});

	it("names the hook in the result of the call that it blocked, and in no other", () => {
		const { all } = createSubject();
		const refused = (toolCallId: string, reason: string): EventBody => ({
			type: "tool.result",
			toolCallId,
			result: toolError(reason, "Hook blocked"),
		});
		const delivered = all(
			begin,
			step,
			called("1"),
			called("2"),
			resolved("No."),
			answered,
			refused("2", "No."),
			refused("1", "No."),
		);
		const results = delivered.flatMap((event) =>
			event.type === "tool_execution_completed" ? [JSON.parse(event.result)] : [],
		);
		expect(results).toEqual([
			{ error: "tool_error", message: "No." },
			{
				error: "hook_denied",
				reason_code: "policy_violation",
				message: "No.",
				data: { hook_id: "PreToolUse", point: "pre_tool_execution", reason_code: "policy_violation" },
			},
		]);
	});

	it("reports a nested turn as a part of its run", () => {
		const { all } = createSubject();
		const inner: EventBody = { type: "turn.ended", outcome: null };
		const events = typesOf(
			all(begin, begin, step, text("a"), answered, inner, step, text("b"), answered, inner, finished),
		);
		expect(events.filter((type) => type.startsWith("run_"))).toEqual(["run_started", "run_completed"]);
	});

	it("ignores the events of subagents, but counts their tokens", () => {
		const { projection, take, all } = createSubject();
		all(begin, step);
		for (const body of allSamples) expect(take(body, path)).toEqual([]);
		expect(projection.facts().usage).toEqual({
			input_other: 400,
			output: 6,
			input_cache_read: 20,
			input_cache_creation: 0,
		});
	});

	it("sends the text of a command that no model generated", () => {
		const { all } = createSubject();
		expect(all(begin, text("Cleared."), finished).slice(1)).toMatchObject([
			{ type: "text_delta", delta: "Cleared." },
			{ type: "text_complete", content: "Cleared." },
			{ type: "run_completed", result: "Cleared." },
		]);
	});

	it("sends arguments as text that are no JSON or nest too deep, and a failure as an object in text", () => {
		const { all } = createSubject();
		const refused: EventBody = { type: "tool.result", toolCallId: "1", result: toolError("Not so.", "no") };
		const events = all(begin, step, called("1", "{oops"), answered, refused);
		expect(events).toContainEqual({ type: "tool_call_requested", id: "1", name: "T", args: "{oops" });
		const deep = `{"a":${"[".repeat(50_000)}${"]".repeat(50_000)}}`;
		const { all: allOfDeep } = createSubject();
		expect(allOfDeep(begin, step, called("1", deep), answered)).toContainEqual(
			expect.objectContaining({ type: "tool_call_requested", args: deep }),
		);
		expect(events).toContainEqual(
			expect.objectContaining({ result: '{"error":"tool_error","message":"Not so."}', is_error: true }),
		);
	});

	it("creates only events with their documented shape", () => {
		const { take, all } = createSubject();
		const shown: Record<string, MeerkatEvent> = {};
		const takeAll = () => {
			for (const body of allSamples) for (const event of take(body)) shown[event.type] = event;
		};
		takeAll();
		all(begin, step);
		takeAll();
		for (const event of Object.values(shown)) {
			const { payload } = contractCodec.event(event, "s", { eventId: () => "e", sequence: 1, at: 1 });
			expect(payload).toEqual(v.parse(contractEvents[event.type], payload));
			const seed = seedCodec.event(event);
			if (seed !== null) expect(seed).toEqual(v.parse(seedEvents[seed.type], seed));
		}
		expect(Object.keys(shown)).toHaveLength(8);
	});

	it("omits in the first protocol what only the present contract has", () => {
		const { all } = createSubject();
		const thought: EventBody = { type: "content.delta", part: { type: "think", think: "Hm.", encrypted: null } };
		const events = all(begin, step, thought, called("1", "[1]"), answered, result("1"), cancelled);
		const seed = events.flatMap((event) => seedCodec.event(event) ?? []);
		const contract = events.map(
			(event) => contractCodec.event(event, "s", { eventId: () => "e", sequence: 1, at: 1 }).payload,
		);
		expect(typesOf(seed)).toEqual(typesOf(contract).filter((type) => !type.startsWith("reasoning_")));
		expect(seed.filter(({ type }) => /requested|received|failed/.test(type))).toEqual([
			{ type: "tool_call_requested", id: "1", name: "T", args: [1] },
			{ type: "tool_result_received", id: "1", name: "T", is_error: false },
			{ type: "run_failed", session_id: "s", error: "Run was cancelled" },
		]);
		expect(contract.filter(({ type }) => /requested|received|failed/.test(type))).toEqual([
			{ type: "tool_call_requested", id: "1", name: "T", args: { value: [1] } },
			{ type: "tool_result_received", id: "1", name: "T", is_error: false, content: [{ type: "text", text: "1" }] },
			{
				type: "run_failed",
				session_id: "s",
				error: "Run was cancelled",
				error_class: "cancelled",
				error_report: { class: "cancelled", message: "Run was cancelled" },
				identity,
			},
		]);
	});
});
