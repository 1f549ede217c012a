import { interjections } from "../api/values/delta-merger.ts";
import type { AgentEvent, AgentPathEntry, EventBody, EventType } from "../api/values/event.ts";
import type { Interaction } from "../api/values/interaction.ts";
import { isRecord } from "../base/json.ts";
import { createSchemaReader } from "../base/schema-reader.ts";
import { type Message, type MessageType, messageDeclarations, type PayloadOf } from "./message.ts";
import { toMessage, wrapForSubagent } from "./message-conversion.ts";
import { toMessageType } from "./message-names.ts";

export type MessageRecord = Message;

export interface EventRecord {
	readonly agentPath: readonly AgentPathEntry[];
	readonly body: EventBody;
}

const notPersisted: ReadonlySet<EventType> = new Set<EventType>([
	"content.delta",
	"tool-call.started",
	"tool-call.delta",
	// Approvals are not in the log since 1.6; their decisions are in the journal.
	"interaction.resolved",
	// Only the journal has these.
	...interjections,
]);

const persistedInteractions: ReadonlySet<Interaction["kind"]> = new Set<Interaction["kind"]>([
	"client-tool",
	"question",
]);

export function isRecorded({ body }: Pick<AgentEvent, "body">): boolean {
	if (notPersisted.has(body.type)) return false;
	if (body.type === "interaction.requested") return persistedInteractions.has(body.interaction.kind);
	return body.type !== "step.interrupted" || body.reason === "error";
}

/** The log record of an event, or null when it is not logged (wire-protocol §8.2). */
export function toRecord(event: Pick<AgentEvent, "agentPath" | "body">): MessageRecord | null {
	const { body, agentPath } = event;
	if (!isRecorded(event)) return null;
	const message = toMessage(body);
	// Interactions of subagents are not wrapped, as on the wire.
	if (message === null || body.type === "interaction.requested") return message;
	return wrapForSubagent(message, agentPath);
}

type Reader = (payload: unknown) => EventRecord | null;

function reader<T extends MessageType>(type: T, convert: (payload: PayloadOf<T>) => EventRecord | null): Reader {
	const read = createSchemaReader(messageDeclarations[type].schema);
	return (payload) => {
		const fitting = read(payload);
		// The output of the schema under this key is PayloadOf<T>; indexing by a type parameter loses that.
		return fitting === null ? null : convert(fitting as PayloadOf<T>);
	};
}

const ownPath: readonly AgentPathEntry[] = [];

function bodyReader<T extends MessageType>(type: T, convert: (payload: PayloadOf<T>) => EventBody): Reader {
	return reader(type, (payload) => ({ agentPath: ownPath, body: convert(payload) }));
}

const readers: { readonly [T in MessageType]: Reader } = {
	TurnBegin: bodyReader("TurnBegin", ({ user_input }) => ({ type: "turn.started", input: user_input })),
	TurnEnd: bodyReader("TurnEnd", () => ({ type: "turn.ended", outcome: null })),
	StepBegin: bodyReader("StepBegin", ({ n }) => ({ type: "step.started", n })),
	StepInterrupted: bodyReader("StepInterrupted", () => ({ type: "step.interrupted", reason: "error" })),
	StepRetry: bodyReader("StepRetry", (payload) => ({ type: "step.retrying", ...payload })),
	CompactionBegin: bodyReader("CompactionBegin", () => ({ type: "compaction.started" })),
	CompactionEnd: bodyReader("CompactionEnd", () => ({ type: "compaction.ended" })),
	MCPLoadingBegin: bodyReader("MCPLoadingBegin", () => ({ type: "mcp.loading-started" })),
	MCPLoadingEnd: bodyReader("MCPLoadingEnd", () => ({ type: "mcp.loading-ended" })),
	StatusUpdate: bodyReader("StatusUpdate", (payload) => ({ type: "status.changed", ...payload })),
	Notification: bodyReader("Notification", ({ type, ...payload }) => ({
		type: "notification.raised",
		notification_type: type,
		...payload,
	})),
	ContentPart: bodyReader("ContentPart", (part) => ({ type: "content.completed", part })),
	ToolCall: bodyReader("ToolCall", (call) => ({ type: "tool.requested", call })),
	ToolCallPart: bodyReader("ToolCallPart", ({ arguments_part }) => ({ type: "tool-call.fragment", arguments_part })),
	ToolResult: bodyReader("ToolResult", ({ tool_call_id, return_value }) => ({
		type: "tool.result",
		toolCallId: tool_call_id,
		result: return_value,
	})),
	ApprovalResponse: bodyReader("ApprovalResponse", ({ request_id, response, feedback }) => ({
		type: "interaction.resolved",
		interactionId: request_id,
		answer: { kind: "approval", decision: response, feedback },
	})),
	SteerInput: bodyReader("SteerInput", ({ user_input }) => ({ type: "steer.consumed", input: user_input })),
	PlanDisplay: bodyReader("PlanDisplay", (payload) => ({ type: "plan.displayed", ...payload })),
	HookTriggered: bodyReader("HookTriggered", (payload) => ({ type: "hook.triggered", ...payload })),
	HookResolved: bodyReader("HookResolved", (payload) => ({ type: "hook.resolved", ...payload })),
	BtwBegin: bodyReader("BtwBegin", (payload) => ({ type: "side-question.started", ...payload })),
	BtwEnd: bodyReader("BtwEnd", (payload) => ({ type: "side-question.ended", ...payload })),
	ApprovalRequest: bodyReader("ApprovalRequest", (payload) => ({
		type: "interaction.requested",
		interaction: {
			kind: "approval",
			id: payload.id,
			toolCallId: payload.tool_call_id,
			sender: payload.sender,
			action: payload.action,
			description: payload.description,
			sourceKind: payload.source_kind,
			sourceId: payload.source_id,
			agentId: payload.agent_id,
			subagentType: payload.subagent_type,
			sourceDescription: payload.source_description,
			display: payload.display,
		},
	})),
	ToolCallRequest: bodyReader("ToolCallRequest", ({ id, name, arguments: text }) => ({
		type: "interaction.requested",
		interaction: { kind: "client-tool", id, toolCallId: id, name, arguments: text },
	})),
	QuestionRequest: bodyReader("QuestionRequest", ({ id, tool_call_id, questions }) => ({
		type: "interaction.requested",
		interaction: { kind: "question", id, toolCallId: tool_call_id, questions },
	})),
	HookRequest: bodyReader("HookRequest", (payload) => ({
		type: "interaction.requested",
		interaction: {
			kind: "hook",
			id: payload.id,
			subscriptionId: payload.subscription_id,
			event: payload.event,
			target: payload.target,
			input: payload.input_data,
		},
	})),
	SubagentEvent: reader("SubagentEvent", ({ event, parent_tool_call_id, agent_id, subagent_type }) => {
		const inner = fromRecord(event);
		if (inner === null) return null;
		const agent = { parentToolCallId: parent_tool_call_id, agentId: agent_id, subagentType: subagent_type };
		return { agentPath: [agent, ...inner.agentPath], body: inner.body };
	}),
};

/** Reads the message of a log record of any version; null when its type is unknown or its payload does not fit. */
export function fromRecord(message: unknown): EventRecord | null {
	if (!isRecord(message) || typeof message["type"] !== "string") return null;
	const type = toMessageType(message["type"]);
	return type === null ? null : readers[type](message["payload"]);
}
