import { describe, expect, it } from "vitest";
import type { AgentEvent, EventBody } from "../../../api/values/event.ts";
import type { Update } from "../wire-updates.ts";
import { createCodec } from "./codec.ts";

const toEvent = (body: EventBody, more: Partial<AgentEvent> = {}): AgentEvent => ({
	sessionId: "s",
	turnId: "t",
	agentPath: [],
	at: 0,
	body,
	...more,
});
const started = toEvent({ type: "turn.started", input: "hi" });
const ended = (outcome: Extract<EventBody, { type: "turn.ended" }>["outcome"]) =>
	toEvent({ type: "turn.ended", outcome });
const requested = (id: string, sourceKind: "foreground_turn" | "background_agent" = "foreground_turn") =>
	toEvent({
		type: "interaction.requested",
		interaction: {
			kind: "approval",
			id,
			toolCallId: "c",
			sender: "Shell",
			action: "run command",
			description: "",
			sourceKind,
			sourceId: null,
			agentId: null,
			subagentType: null,
			sourceDescription: null,
			display: [],
		},
	});
const resolved = (interactionId: string) =>
	toEvent({
		type: "interaction.resolved",
		interactionId,
		answer: { kind: "approval", decision: "approve", feedback: "" },
	});
const stateOf = (sent: readonly object[]) => sent.map((update) => ("state" in update ? update.state : null));

describe("the state of a session", () => {
	it("is running from the beginning of a turn to its end, whose reason comes last", () => {
		const codec = createCodec();
		const chunk: Update = {
			sessionUpdate: "user_message_chunk",
			content: { type: "text", text: "hi" },
			messageId: "m",
		};
		expect(codec.encodeEvent(started, [chunk])).toEqual([{ sessionUpdate: "state_update", state: "running" }, chunk]);
		expect(codec.encodeEvent(ended({ status: "finished" }), [])).toEqual([
			{ sessionUpdate: "state_update", state: "idle", stopReason: "end_turn" },
		]);
	});

	it("stays the same at turns within a turn, and at turns of subagents", () => {
		const codec = createCodec();
		codec.encodeEvent(started, []);
		expect(codec.encodeEvent(started, [])).toEqual([]);
		expect(codec.encodeEvent(ended(null), [])).toEqual([]);
		const agentPath = [{ parentToolCallId: "c", agentId: "a", subagentType: null }];
		expect(codec.encodeEvent({ ...ended({ status: "finished" }), agentPath }, [])).toEqual([]);
	});

	it("requires action until the last request of the turn is answered", () => {
		const codec = createCodec();
		codec.encodeEvent(started, []);
		expect(stateOf(codec.encodeEvent(requested("a"), []))).toEqual(["requires_action"]);
		expect(codec.encodeEvent(requested("b"), [])).toEqual([]);
		expect(codec.encodeEvent(resolved("a"), [])).toEqual([]);
		expect(stateOf(codec.encodeEvent(resolved("b"), []))).toEqual(["running"]);
		expect(codec.encodeEvent(resolved("unknown"), [])).toEqual([]);
	});

	it("does not change at a request of background work", () => {
		const codec = createCodec();
		expect(codec.encodeEvent(requested("a"), [])).toEqual([]);
		codec.encodeEvent(started, []);
		expect(codec.encodeEvent(requested("a", "background_agent"), [])).toEqual([]);
	});

	it("has the error of a turn that failed", () => {
		const codec = createCodec();
		codec.encodeEvent(started, []);
		const error = { code: "provider-failed", message: "It is down.", data: null } as const;
		expect(codec.encodeEvent(ended({ status: "failed", error }), [])).toEqual([
			{
				sessionUpdate: "state_update",
				state: "idle",
				stopReason: "error",
				error: { code: -32603, message: "It is down.", data: { details: "It is down." } },
			},
		]);
	});
});

describe("updates", () => {
	const encode = (update: Update) => createCodec().encode(update);

	it("have terminals of their own, with their output as Base64", () => {
		const toolCallId = "t/c";
		expect(
			encode({
				sessionUpdate: "tool_call",
				toolCallId,
				title: "ls",
				_meta: { terminal_info: { terminal_id: "x", cwd: "/work" } },
			}),
		).toEqual([
			{ sessionUpdate: "terminal_update", terminalId: "x", cwd: "/work" },
			{ sessionUpdate: "tool_call_update", toolCallId, title: "ls" },
		]);
		const output = { terminal_output: { terminal_id: "x", data: "hé\n" } };
		expect(encode({ sessionUpdate: "tool_call_update", toolCallId, _meta: output })).toEqual([
			{ sessionUpdate: "terminal_output_chunk", terminalId: "x", data: "aMOpCg==" },
		]);
		const exit = { terminal_exit: { terminal_id: "x", exit_code: 1, signal: null } };
		expect(encode({ sessionUpdate: "tool_call_update", toolCallId, status: "failed", _meta: exit })).toEqual([
			{ sessionUpdate: "terminal_update", terminalId: "x", exitStatus: { exitCode: 1, signal: null } },
			{ sessionUpdate: "tool_call_update", toolCallId, status: "failed" },
		]);
	});

	it("keep what the protocol has no members for", () => {
		const agentwire = { parentToolCallId: "t/p", agentId: "a", agent: "coder" };
		expect(encode({ sessionUpdate: "tool_call", toolCallId: "c", title: "x", _meta: { agentwire } })).toEqual([
			{ sessionUpdate: "tool_call_update", toolCallId: "c", title: "x", _meta: { agentwire } },
		]);
	});

	it("have plans, commands and options in the shapes of this version, and no modes", () => {
		expect(encode({ sessionUpdate: "plan", entries: [] })).toEqual([
			{ sessionUpdate: "plan_update", plan: { type: "items", planId: "todos", entries: [] } },
		]);
		const command = { name: "init", description: "Begin", input: { hint: "optional" } };
		expect(encode({ sessionUpdate: "available_commands_update", availableCommands: [command] })).toEqual([
			{
				sessionUpdate: "available_commands_update",
				availableCommands: [{ type: "command", ...command, input: { type: "text", hint: "optional" } }],
			},
		]);
		expect(encode({ sessionUpdate: "current_mode_update", currentModeId: "plan" })).toEqual([]);
		const option = { type: "boolean", name: "Thinking", description: "", category: "x", currentValue: true } as const;
		expect(encode({ sessionUpdate: "config_option_update", configOptions: [{ id: "thinking", ...option }] })).toEqual([
			{ sessionUpdate: "config_option_update", configOptions: [{ configId: "thinking", ...option }] },
		]);
	});
});

it("asks for a permission with a title and the call as its subject", () => {
	const option = { optionId: "approve", name: "Allow once", kind: "allow_once" } as const;
	const toolCall = {
		toolCallId: "c",
		title: "ls",
		content: [
			{ type: "content" as const, content: { type: "text" as const, text: "Lists files." } },
			{ type: "diff" as const, path: "/work/a", oldText: null, newText: "x" },
		],
	};
	expect(createCodec().encodePermission({ sessionId: "s", toolCall, options: [option] })).toMatchObject({
		sessionId: "s",
		title: "ls",
		description: "Lists files.",
		subject: {
			type: "tool_call",
			toolCall: {
				toolCallId: "c",
				title: "ls",
				content: [
					{ type: "content", content: { type: "text", text: "Lists files." } },
					{
						type: "diff",
						changes: [{ operation: "add", path: "/work/a", fileType: "text" }],
						patch: { format: "git_patch" },
					},
				],
			},
		},
		options: [option],
	});
});
