// One row per event type: its Kimi message, or null. record.ts decides which are logged.
import type { AgentPathEntry, EventBody, EventBodyOf, EventType } from "../api/values/event.ts";
import type { Interaction } from "../api/values/interaction.ts";
import { ownEvents } from "../api/values/own-events.ts";
import type { Message } from "./message.ts";

type Row<T extends EventType> = (body: EventBodyOf<T>) => Message | null;

const empty = {};

function withoutType({ type: _, ...payload }: EventBody): object {
	return payload;
}

export function toInteractionMessage(interaction: Interaction): Message {
	switch (interaction.kind) {
		case "approval":
			return {
				type: "ApprovalRequest",
				payload: {
					id: interaction.id,
					tool_call_id: interaction.toolCallId,
					sender: interaction.sender,
					action: interaction.action,
					description: interaction.description,
					source_kind: interaction.sourceKind,
					source_id: interaction.sourceId,
					agent_id: interaction.agentId,
					subagent_type: interaction.subagentType,
					source_description: interaction.sourceDescription,
					display: interaction.display,
				},
			};
		case "client-tool":
			// Clients take null for "no such tool", so missing arguments become an empty object.
			return {
				type: "ToolCallRequest",
				payload: { id: interaction.toolCallId, name: interaction.name, arguments: interaction.arguments ?? "{}" },
			};
		case "question":
			return {
				type: "QuestionRequest",
				payload: { id: interaction.id, tool_call_id: interaction.toolCallId, questions: interaction.questions },
			};
		case "hook":
			return {
				type: "HookRequest",
				payload: {
					id: interaction.id,
					subscription_id: interaction.subscriptionId,
					event: interaction.event,
					target: interaction.target,
					input_data: interaction.input,
				},
			};
	}
}

const rows: { readonly [T in EventType]: Row<T> } = {
	"turn.started": ({ input }) => ({ type: "TurnBegin", payload: { user_input: input } }),
	"turn.ended": () => ({ type: "TurnEnd", payload: empty }),
	"step.started": ({ n }) => ({ type: "StepBegin", payload: { n } }),
	// Only the end of its turn reports a cancelled step.
	"step.interrupted": ({ reason }) => (reason === "error" ? { type: "StepInterrupted", payload: empty } : null),
	"step.retrying": (body) => ({ type: "StepRetry", payload: withoutType(body) }),
	"compaction.started": () => ({ type: "CompactionBegin", payload: empty }),
	"compaction.ended": () => ({ type: "CompactionEnd", payload: empty }),
	"mcp.loading-started": () => ({ type: "MCPLoadingBegin", payload: empty }),
	"mcp.loading-ended": () => ({ type: "MCPLoadingEnd", payload: empty }),
	"status.changed": ({ type: _, truncated: __, ...payload }) => ({ type: "StatusUpdate", payload }),
	...ownEvents(() => null),
	"budget.warning": () => null,
	"notification.raised": (body) => ({
		type: "Notification",
		payload: {
			id: body.id,
			category: body.category,
			type: body.notification_type,
			source_kind: body.source_kind,
			source_id: body.source_id,
			title: body.title,
			body: body.body,
			severity: body.severity,
			created_at: body.created_at,
			payload: body.payload,
		},
	}),
	"content.delta": ({ part }) => ({ type: "ContentPart", payload: part }),
	"content.completed": ({ part }) => ({ type: "ContentPart", payload: part }),
	"tool-call.started": ({ call }) => ({ type: "ToolCall", payload: call }),
	"tool-call.delta": ({ arguments_part }) => ({ type: "ToolCallPart", payload: { arguments_part } }),
	"tool.requested": ({ call }) => ({ type: "ToolCall", payload: call }),
	"tool-call.fragment": ({ arguments_part }) => ({ type: "ToolCallPart", payload: { arguments_part } }),
	"session-hook.started": () => null,
	"session-hook.ended": () => null,
	"tool.started": () => null,
	"tool.progress": () => null,
	"tool.outcome-unknown": () => null,
	"tool.result": ({ toolCallId, result }) => ({
		type: "ToolResult",
		payload: { tool_call_id: toolCallId, return_value: result },
	}),
	"interaction.requested": ({ interaction }) => toInteractionMessage(interaction),
	"interaction.resolved": ({ interactionId, answer }) =>
		answer.kind === "approval"
			? {
					type: "ApprovalResponse",
					payload: { request_id: interactionId, response: answer.decision, feedback: answer.feedback },
				}
			: null,
	"model.changed": () => null,
	"title.changed": () => null,
	"steer.consumed": ({ input }) => ({ type: "SteerInput", payload: { user_input: input } }),
	"plan.displayed": (body) => ({ type: "PlanDisplay", payload: withoutType(body) }),
	"hook.triggered": (body) => ({ type: "HookTriggered", payload: withoutType(body) }),
	"hook.resolved": (body) => ({ type: "HookResolved", payload: withoutType(body) }),
	"side-question.started": (body) => ({ type: "BtwBegin", payload: withoutType(body) }),
	"side-question.ended": (body) => ({ type: "BtwEnd", payload: withoutType(body) }),
};

/** The message an event becomes, not wrapped for subagents; null where the vocabulary has none. */
export function toMessage<T extends EventType>(body: EventBodyOf<T>): Message | null {
	const row: Row<T> = rows[body.type as T];
	return row(body);
}

/** Wraps the message of a subagent once per agent on its path (wire-protocol §4.7); the path is outermost first. */
export function wrapForSubagent(message: Message, agentPath: readonly AgentPathEntry[]): Message {
	return agentPath.reduceRight<Message>(
		(event, agent) => ({
			type: "SubagentEvent",
			payload: {
				parent_tool_call_id: agent.parentToolCallId,
				agent_id: agent.agentId,
				subagent_type: agent.subagentType,
				event,
			},
		}),
		message,
	);
}
