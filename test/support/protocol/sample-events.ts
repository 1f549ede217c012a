// One sample or more of every event type, as the schemas have them after reading.
import { toolError, toolSuccess } from "../../../src/api/values/content.ts";
import { type EventBody, type EventBodyOf, type EventType, statusChanged } from "../../../src/api/values/event.ts";
import type { Interaction } from "../../../src/api/values/interaction.ts";

export const sampleInteractions: readonly Interaction[] = [
	{
		kind: "approval",
		id: "U",
		toolCallId: "c1",
		sender: "Shell",
		action: "run command",
		description: "Run command `ls`",
		sourceKind: "foreground_turn",
		sourceId: "0123456789abcdef0123456789abcdef",
		agentId: null,
		subagentType: null,
		sourceDescription: null,
		display: [{ type: "shell", language: "bash", command: "ls" }],
		subjects: [{ kind: "command", text: "ls", cwd: "/home/me/project" }],
	},
	{ kind: "client-tool", id: "A", toolCallId: "c9", name: "open_in_ide", arguments: '{"path":"a"}' },
	{
		kind: "question",
		id: "Q",
		toolCallId: "c3",
		questions: [
			{
				question: "Which DB?",
				header: "DB",
				options: [{ label: "pg", description: "" }],
				multi_select: false,
				body: "",
				other_label: "",
				other_description: "",
			},
		],
	},
	{
		kind: "hook",
		id: "0123456789ab",
		subscriptionId: "s1",
		event: "PreToolUse",
		target: "Shell",
		input: { hook_event_name: "PreToolUse", tool_name: "Shell" },
	},
];

const call = {
	type: "function",
	id: "c1",
	function: { name: "Shell", arguments: '{"command":"ls"}' },
	extras: null,
} as const;
const bareCall = { ...call, function: { name: "Shell", arguments: null } };
const image = { type: "image_url", image_url: { url: "data:image/png;base64,AA==", id: null } } as const;

export const sampleEvents: { readonly [T in EventType]: readonly EventBodyOf<T>[] } = {
	"turn.started": [
		{ type: "turn.started", input: "hi" },
		{ type: "turn.started", input: [{ type: "text", text: "hi" }, image] },
	],
	"turn.ended": [
		{ type: "turn.ended", outcome: null },
		{ type: "turn.ended", outcome: { status: "finished" } },
		{ type: "turn.ended", outcome: { status: "max-steps", limit: "steps", steps: 2 } },
		{ type: "turn.ended", outcome: { status: "failed", error: { code: "internal", message: "m", data: null } } },
	],
	"step.started": [{ type: "step.started", n: 1 }],
	"step.interrupted": [
		{ type: "step.interrupted", reason: "error" },
		{ type: "step.interrupted", reason: "cancelled" },
	],
	"step.retrying": [
		{
			type: "step.retrying",
			n: 1,
			next_attempt: 2,
			max_attempts: 3,
			wait_s: 0.5,
			error_type: "APIStatusError",
			status_code: 429,
			reason: "HTTP 429: Too many requests.",
		},
		{
			type: "step.retrying",
			n: 1,
			next_attempt: 2,
			max_attempts: 3,
			wait_s: 0.5,
			error_type: "APIConnectionError",
			status_code: null,
		},
	],
	"compaction.started": [{ type: "compaction.started" }],
	"compaction.ended": [{ type: "compaction.ended" }],
	"mcp.loading-started": [{ type: "mcp.loading-started" }],
	"mcp.loading-ended": [{ type: "mcp.loading-ended" }],
	"status.changed": [
		statusChanged({ plan_mode: false }),
		statusChanged({
			context_usage: 0.5,
			context_tokens: 500,
			max_context_tokens: 1000,
			token_usage: { input_other: 400, output: 6, input_cache_read: 20, input_cache_creation: 0 },
			message_id: "m1",
			plan_mode: true,
			mcp_status: {
				loading: true,
				connected: 0,
				total: 1,
				tools: 0,
				servers: [{ name: "s", status: "connecting", tools: [] }],
			},
		}),
	],
	"usage.counted": [{ type: "usage.counted", tokens: 10, milliseconds: 5, tool_calls: 1 }],
	"budget.warning": [{ type: "budget.warning", budget: "tool-calls", scope: "turn", used: 8, limit: 10 }],
	"notification.raised": [
		{
			type: "notification.raised",
			id: "n0123abcd",
			category: "task",
			notification_type: "task.completed",
			source_kind: "background_task",
			source_id: "bash-1",
			title: "t",
			body: "b",
			severity: "success",
			created_at: 1.5,
			payload: { task_id: "bash-1", exit_code: null },
		},
	],
	"content.delta": [
		{ type: "content.delta", part: { type: "text", text: "Hel" } },
		{ type: "content.delta", part: { type: "think", think: "Hm", encrypted: null } },
	],
	"content.completed": [
		{ type: "content.completed", part: { type: "text", text: "Hello" } },
		{ type: "content.completed", part: { type: "think", think: "Hm", encrypted: "signed" } },
		{ type: "content.completed", part: image },
		{ type: "content.completed", part: { type: "audio_url", audio_url: { url: "a", id: "1" } } },
		{ type: "content.completed", part: { type: "video_url", video_url: { url: "v", id: null } } },
	],
	"tool-call.started": [
		{ type: "tool-call.started", call },
		{ type: "tool-call.started", call: bareCall },
	],
	"tool-call.delta": [
		{ type: "tool-call.delta", arguments_part: "{}" },
		{ type: "tool-call.delta", arguments_part: null },
	],
	"tool.requested": [
		{ type: "tool.requested", call },
		{ type: "tool.requested", call: bareCall },
	],
	"tool-call.fragment": [{ type: "tool-call.fragment", arguments_part: "{}" }],
	"permission.decided": [
		{
			type: "permission.decided",
			toolCallId: "c1",
			action: "run command",
			decision: "approve",
			by: "mode",
			reason: "yolo",
			subjects: [{ kind: "command", text: "ls", cwd: "/home/me/project" }],
		},
	],
	"tool.started": [{ type: "tool.started", toolCallId: "c1", name: "Shell", arguments: "{}", has_effect: true }],
	"tool.progress": [{ type: "tool.progress", toolCallId: "c1", stream: "stdout", text: "x", offset: 0 }],
	"tool.ended": [{ type: "tool.ended", toolCallId: "c1" }],
	"tool.outcome-unknown": [{ type: "tool.outcome-unknown", toolCallId: "c1" }],
	"recovery.reported": [{ type: "recovery.reported" }],
	"tool.result": [
		{ type: "tool.result", toolCallId: "c1", result: toolSuccess({ output: "a.txt\n", message: "done" }) },
		{
			type: "tool.result",
			toolCallId: "c1",
			result: toolError("m", "b", { output: [{ type: "text", text: "t" }, image] }),
		},
		{
			type: "tool.result",
			toolCallId: "c1",
			result: toolSuccess({
				output: [image],
				extras: { a: [{ b: null }] },
				display: [
					{ type: "todo", items: [{ title: "t", status: "done" }] },
					{ type: "diff", path: "p", old_text: "a", new_text: "b", old_start: 1, new_start: 1, is_summary: false },
					{ type: "custom", data: { x: null } },
				],
			}),
		},
	],
	"interaction.requested": sampleInteractions.map((interaction) => ({ type: "interaction.requested", interaction })),
	"interaction.resolved": [
		{
			type: "interaction.resolved",
			interactionId: "U",
			answer: { kind: "approval", decision: "reject", feedback: "no" },
		},
		{
			type: "interaction.resolved",
			interactionId: "A",
			answer: { kind: "client-tool", result: toolSuccess({ output: "x" }) },
		},
		{ type: "interaction.resolved", interactionId: "Q", answer: { kind: "question", answers: {} } },
		{
			type: "interaction.resolved",
			interactionId: "0123456789ab",
			answer: { kind: "hook", action: "block", reason: "no" },
		},
	],
	"mode.changed": [{ type: "mode.changed", mode: "yolo" }],
	"model.changed": [{ type: "model.changed", model: { alias: null, name: "k2", provider: "p", thinking: true } }],
	"title.changed": [{ type: "title.changed", title: "A title" }],
	"files.snapshot": [
		{ type: "files.snapshot", complete: true, reasons: [], changed: { added: 1, modified: 2, deleted: 0 } },
		{ type: "files.snapshot", complete: false, reasons: ["Why."], changed: { added: 0, modified: 0, deleted: 0 } },
	],
	"files.restored": [{ type: "files.restored", id: "r", before: "t", restored: 3, left: 1 }],
	"session.rewound": [{ type: "session.rewound", before: "t", messages: 2 }],
	"client.attached": [{ type: "client.attached", clientId: "a", name: "web", version: null }],
	"client.detached": [{ type: "client.detached", clientId: "a", name: "web", version: null }],
	"session.reset": [{ type: "session.reset" }],
	"steer.accepted": [{ type: "steer.accepted", input: "more" }],
	"steer.consumed": [{ type: "steer.consumed", input: "more" }],
	"plan.displayed": [{ type: "plan.displayed", content: "# plan", file_path: "/plans/a.md" }],
	"hook.triggered": [{ type: "hook.triggered", event: "Stop", target: "", hook_count: 1 }],
	"hook.resolved": [{ type: "hook.resolved", event: "Stop", target: "", action: "allow", reason: "", duration_ms: 3 }],
	"session-hook.started": [
		{ type: "session-hook.started", id: "guard", point: "run_started" },
		{ type: "session-hook.started", id: "guard", point: "pre_tool_execution", toolCallId: "c1" },
	],
	"session-hook.ended": [
		{
			type: "session-hook.ended",
			id: "guard",
			point: "run_started",
			duration_ms: 3,
			verdict: { kind: "completed" },
		},
		{
			type: "session-hook.ended",
			id: "guard",
			point: "pre_tool_execution",
			toolCallId: "c1",
			duration_ms: 3,
			verdict: {
				kind: "denied",
				denial: { reason_code: "policy_violation", message: "not this one", payload: { rule: 1 } },
			},
		},
		{
			type: "session-hook.ended",
			id: "guard",
			point: "run_started",
			duration_ms: 3,
			verdict: { kind: "failed", fault: { reason_code: "timeout", timeout_ms: 100 } },
		},
	],
	"side-question.started": [{ type: "side-question.started", id: "b1", question: "why?" }],
	"side-question.ended": [{ type: "side-question.ended", id: "b1", response: "so", error: null }],
};

export const allSamples: readonly EventBody[] = Object.values(sampleEvents).flat();
