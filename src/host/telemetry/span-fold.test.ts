import { describe, expect, it } from "vitest";
import type { AgentEvent, AgentPathEntry, EventBody } from "../../api/values/event.ts";
import { statusChanged } from "../../api/values/event.ts";
import type { Span } from "./span.ts";
import { SpanFold } from "./span-fold.ts";

function createSubject(hasContent = false) {
	const spans: Span[] = [];
	let ids = 0;
	let monotonic = 0;
	let started = 0;
	const fold = new SpanFold({
		hex: (length) => String(++ids).padStart(length, "0"),
		isSampled: () => true,
		hasContent,
		outer: null,
		adopt: (place) => place,
		monotonic: () => monotonic,
		turnStarted: () => {
			started += 1;
		},
		ended: (span) => void spans.push(span),
	});
	let now = 1000;
	const take = (body: EventBody, agentPath: readonly AgentPathEntry[] = [], turnId: string | null = "t") => {
		now += 100;
		monotonic += 100;
		const event: AgentEvent = { sessionId: "s", turnId, agentPath, at: now, body };
		fold.note(event, () => ({ name: agentPath.length === 0 ? "kimi-k2" : "small", provider: "kimi" }));
	};
	const named = (name: string) => {
		const found = spans.filter((span) => span.name === name);
		if (found.length !== 1 || found[0] === undefined) throw new Error(`${found.length} spans are named ${name}`);
		return found[0];
	};
	const setClock = (by: number) => {
		now += by;
	};
	return { fold, spans, take, named, setClock, started: () => started };
}

const usage = { input_other: 10, output: 7, input_cache_read: 20, input_cache_creation: 5 };
const answered = statusChanged({ token_usage: usage, message_id: "m1", plan_mode: false });
const start: EventBody = { type: "turn.started", input: "secret question" };
const finished: EventBody = { type: "turn.ended", outcome: { status: "finished" } };
const requested = (id: string, name: string): EventBody => ({
	type: "tool.requested",
	call: { type: "function", id, function: { name, arguments: '{"command":"secret"}' }, extras: null },
});
const result = (toolCallId: string, is_error = false): EventBody => ({
	type: "tool.result",
	toolCallId,
	result: { is_error, output: "secret output", message: "", display: [], extras: null },
});
const text: EventBody = { type: "content.delta", part: { type: "text", text: "secret answer" } };
const completed: EventBody = { type: "content.completed", part: { type: "text", text: "secret answer" } };

describe("spans of a turn", () => {
	it.each([
		["back", -3_600_000],
		["forward", 3_600_000],
	])("take as long as they took when the clock is set %s meanwhile, and the next turn has the new time", (_, by) => {
		const { take, spans, named, setClock } = createSubject();
		take(start);
		take({ type: "step.started", n: 1 });
		setClock(by);
		take(text);
		take(answered);
		take(finished);
		const [turn, call] = [named("invoke_agent agentwire"), named("chat kimi-k2")];
		expect([turn.endedAt - turn.startedAt, call.endedAt - call.startedAt]).toEqual([400, 200]);
		expect(call.attributes["gen_ai.response.time_to_first_chunk"]).toBe(0.1);
		take(start);
		take(finished);
		expect(spans.at(-1)?.startedAt).toBe(turn.endedAt + by + 100);
	});

	it("nest its model calls and its tool calls", () => {
		const { take, named, spans, started, fold } = createSubject();
		take(start);
		expect(fold.running).toBe(1);
		take({ type: "step.started", n: 1 });
		take(text);
		take(text);
		take(completed);
		take(requested("c", "Shell"));
		take(answered);
		take({ type: "tool.started", toolCallId: "c", name: "Shell", arguments: "{}", has_effect: true });
		take(result("c"));
		take(finished);
		expect(started()).toBe(1);
		expect(fold.running).toBe(0);
		const [turn, call, tool] = [named("invoke_agent agentwire"), named("chat kimi-k2"), named("execute_tool Shell")];
		expect(turn).toMatchObject({
			parentId: null,
			kind: "internal",
			startedAt: 1100,
			endedAt: 2000,
			error: null,
			attributes: {
				"gen_ai.operation.name": "invoke_agent",
				"gen_ai.provider.name": "moonshot_ai",
				"gen_ai.request.model": "kimi-k2",
				"gen_ai.agent.name": "agentwire",
				"gen_ai.conversation.id": "s",
				"gen_ai.usage.input_tokens": 35,
				"gen_ai.usage.output_tokens": 7,
				"agentwire.turn.outcome": "finished",
			},
		});
		expect(call).toMatchObject({
			traceId: turn.traceId,
			parentId: turn.spanId,
			kind: "client",
			startedAt: 1200,
			endedAt: 1700,
			attributes: {
				"gen_ai.operation.name": "chat",
				"gen_ai.provider.name": "moonshot_ai",
				"gen_ai.request.model": "kimi-k2",
				"gen_ai.response.id": "m1",
				"gen_ai.response.time_to_first_chunk": 0.1,
				"gen_ai.usage.input_tokens": 35,
				"gen_ai.usage.output_tokens": 7,
				"gen_ai.usage.cache_read.input_tokens": 20,
				"gen_ai.usage.cache_write.input_tokens": 5,
			},
		});
		expect(tool).toMatchObject({
			traceId: turn.traceId,
			parentId: turn.spanId,
			attributes: { "gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "Shell", "gen_ai.tool.call.id": "c" },
		});
		expect(spans).toHaveLength(3);
		// Nothing of what was said or done is in any of them.
		expect(JSON.stringify(spans)).not.toContain("secret");
	});

	it("have the content of messages where that is asked for", () => {
		const { take, named } = createSubject(true);
		take(start);
		take({ type: "step.started", n: 1 });
		take(completed);
		take(requested("c", "Shell"));
		take(answered);
		take(result("c"));
		take(finished);
		const json = (span: Span, name: string) => JSON.parse(String(span.attributes[name]));
		expect(json(named("invoke_agent agentwire"), "gen_ai.input.messages")).toEqual([
			{ role: "user", parts: [{ type: "text", content: "secret question" }] },
		]);
		expect(json(named("chat kimi-k2"), "gen_ai.output.messages")).toEqual([
			{
				role: "assistant",
				parts: [
					{ type: "text", content: "secret answer" },
					{ type: "tool_call", id: "c", name: "Shell", arguments: '{"command":"secret"}' },
				],
			},
		]);
		expect(named("execute_tool Shell").attributes).toMatchObject({
			"gen_ai.tool.call.arguments": '{"command":"secret"}',
			"gen_ai.tool.call.result": "secret output",
		});
	});

	it.each(["", "x"])("cut long content, but no character of it (shifted by %j)", (shift) => {
		const long = shift + "😀".repeat(50_000);
		const { take, spans } = createSubject(true);
		take({ type: "turn.started", input: long });
		take({ type: "step.started", n: 1 });
		take({ type: "content.completed", part: { type: "text", text: long } });
		take(requested("c", "Shell"));
		take(answered);
		take({
			type: "tool.result",
			toolCallId: "c",
			result: { is_error: false, output: long, message: "", display: [], extras: null },
		});
		take(finished);
		const content = spans.map(({ attributes }) => Object.values(attributes).join("")).join("");
		expect(content).toContain("😀".repeat(30_000));
		expect(content).not.toMatch(/\p{Surrogate}|\\ud83d(?!\\ude00)/u);
	});

	it("say how long a person was waited for, and what the answer was", () => {
		const { take, named } = createSubject();
		take(start);
		take({ type: "step.started", n: 1 });
		take(requested("c", "Shell"));
		take(answered);
		take({
			type: "interaction.requested",
			interaction: {
				kind: "approval",
				id: "i",
				toolCallId: "c",
				sender: "Shell",
				action: "run command",
				description: "",
				sourceKind: null,
				sourceId: null,
				agentId: null,
				subagentType: null,
				sourceDescription: null,
				display: [],
			},
		});
		take({
			type: "interaction.resolved",
			interactionId: "i",
			answer: { kind: "approval", decision: "reject", feedback: "" },
			by: { kind: "client", clientId: null, name: null },
		});
		take(result("c", true));
		take(finished);
		expect(named("execute_tool Shell")).toMatchObject({
			waited: 100,
			error: "tool_error",
			attributes: {
				"agentwire.approval.wait": 0.1,
				"agentwire.approval.decision": "reject",
				"agentwire.approval.by": "client",
				"error.type": "tool_error",
			},
		});
	});

	it("nest a subagent in the call that started it, with its own model", () => {
		const { take, named } = createSubject();
		const path = [{ parentToolCallId: "c", agentId: "a1", subagentType: "coder" }];
		take(start);
		take({ type: "step.started", n: 1 });
		take(requested("c", "Agent"));
		take(answered);
		take(start, path);
		take({ type: "step.started", n: 1 }, path);
		take(requested("c", "Shell"), path);
		take(answered, path);
		take(result("c"), path);
		take(finished, path);
		take(result("c"));
		take(finished);
		const subagent = named("invoke_agent coder");
		expect(subagent.parentId).toBe(named("execute_tool Agent").spanId);
		expect(subagent.attributes["gen_ai.agent.id"]).toBe("a1");
		expect(named("chat small").parentId).toBe(subagent.spanId);
		expect(named("execute_tool Shell").parentId).toBe(subagent.spanId);
		expect(named("execute_tool Agent").parentId).toBe(named("invoke_agent agentwire").spanId);
	});

	it("nest a subagent in the background in its call, also when the turn of that call has ended before", () => {
		const { take, named } = createSubject();
		take(start);
		take({ type: "step.started", n: 1 });
		take(requested("bg", "Agent"));
		take(answered);
		take(result("bg"));
		take(finished);
		const path: AgentPathEntry[] = [{ agentId: "a1", subagentType: "coder", parentToolCallId: "bg" }];
		take(start, path, "t2");
		take(finished, path, "t2");
		const [tool, subagent] = [named("execute_tool Agent"), named("invoke_agent coder")];
		expect(subagent.parentId).toBe(tool.spanId);
		expect(subagent.traceId).toBe(tool.traceId);
	});

	it("forget the calls of ended turns, the oldest first, beyond the last thousand", () => {
		const { take, spans } = createSubject();
		for (let n = 0; n < 1001; n += 1) {
			take(start);
			take({ type: "step.started", n: 1 });
			take(requested(`bg${n}`, "Agent"));
			take(result(`bg${n}`));
			take(finished);
		}
		const parentOf = (toolCallId: string) => {
			const path: AgentPathEntry[] = [{ agentId: toolCallId, subagentType: "coder", parentToolCallId: toolCallId }];
			take(start, path, "t2");
			take(finished, path, "t2");
			return spans.at(-1)?.parentId;
		};
		expect(parentOf("bg0")).toBeNull();
		expect(parentOf("bg1")).toEqual(expect.any(String));
		expect(parentOf("bg1000")).toEqual(expect.any(String));
	});

	it("end with a failed turn, and name the class of the failure", () => {
		const { take, named } = createSubject();
		take(start);
		take({ type: "step.started", n: 1 });
		take({
			type: "step.retrying",
			n: 1,
			next_attempt: 2,
			max_attempts: 3,
			wait_s: 0.3,
			error_type: "APIStatusError",
			status_code: 503,
		});
		take({ type: "step.interrupted", reason: "error" });
		take({
			type: "turn.ended",
			outcome: { status: "failed", error: { code: "provider-failed" as never, message: "secret text", data: null } },
		});
		const call = named("chat kimi-k2");
		expect(call).toMatchObject({ error: "503", attributes: { "agentwire.retries": 1 } });
		expect(call.moments).toEqual([
			{ name: "agentwire.retry", at: 1300, attributes: { "error.type": "503", "agentwire.retry.wait": 0.3 } },
		]);
		expect(named("invoke_agent agentwire").error).toBe("provider-failed");
	});

	it("all end with a cancelled turn, those of its subagents included", () => {
		const { take, spans, fold } = createSubject();
		const path = [{ parentToolCallId: "c", agentId: "a1", subagentType: "coder" }];
		take(start);
		take({ type: "step.started", n: 1 });
		take(requested("c", "Agent"));
		take(answered);
		take(start, path);
		take({ type: "step.started", n: 1 }, path);
		take({ type: "turn.ended", outcome: { status: "cancelled" } });
		expect(spans.map(({ name }) => name).sort()).toEqual([
			"chat kimi-k2",
			"chat small",
			"execute_tool Agent",
			"invoke_agent agentwire",
			"invoke_agent coder",
		]);
		// The model's answer was complete before.
		expect(spans.map(({ endedAt }) => endedAt)).toEqual([1400, 1700, 1700, 1700, 1700]);
		expect(fold.running).toBe(0);
	});

	it("take the end of an answer that reports no usage from its status", () => {
		const { take, named } = createSubject();
		take(start);
		take({ type: "step.started", n: 1 });
		take(statusChanged({ plan_mode: false }));
		take(finished);
		expect(named("chat kimi-k2")).toMatchObject({ startedAt: 1200, endedAt: 1300 });
		expect(named("invoke_agent agentwire").endedAt).toBe(1400);
	});

	it("are not begun by events of turns whose beginning was not seen", () => {
		const { take, spans } = createSubject();
		take({ type: "step.started", n: 1 });
		take(result("c"));
		take(finished);
		expect(spans).toEqual([]);
	});
});
