// Projects events to legacy messages: one entry per event type, `ignored` if there is none.
import * as v from "valibot";
import { joinTexts, type ToolReturn, textPart } from "../../api/values/content.ts";
import type { AgentEvent, AgentPathEntry, EventBodyOf, EventType } from "../../api/values/event.ts";
import type { ApprovalInteraction } from "../../api/values/interaction.ts";
import { ownEvents } from "../../api/values/own-events.ts";
import { truncationText } from "../../api/values/truncation.ts";
import { isRecord } from "../../base/json.ts";
import type { Outgoing } from "../shared/event-pump.ts";
import { approvalResultSchema, type LegacyEvent } from "./wire.ts";

type Entry<T extends EventType> = (body: EventBodyOf<T>) => LegacyEvent | null;

const ignored = () => null;

/** The session's own agent is delivered as deltas, subagents in merged form once complete. */
const streamed: ReadonlySet<EventType> = new Set<EventType>(["content.delta", "tool-call.started", "tool-call.delta"]);
const merged: ReadonlySet<EventType> = new Set<EventType>([
	"content.completed",
	"tool.requested",
	"tool-call.fragment",
]);

const entries: { readonly [T in EventType]: Entry<T> } = {
	"turn.started": ignored,
	// The protocol has no status for a truncated answer.
	"turn.ended": ({ outcome }) =>
		outcome?.status === "truncated"
			? { type: "content_part", payload: textPart(`\n\n[${truncationText(outcome.reason)}]`) }
			: null,
	"step.started": ({ n }) => ({ type: "step_begin", payload: { n } }),
	"step.interrupted": () => ({ type: "step_interrupted" }),
	"step.retrying": ignored,
	"compaction.started": () => ({ type: "compaction_begin" }),
	"compaction.ended": () => ({ type: "compaction_end" }),
	"mcp.loading-started": ignored,
	"mcp.loading-ended": ignored,
	"status.changed": ({ context_usage }) =>
		context_usage === null ? null : { type: "status_update", payload: { context_usage } },
	...ownEvents(ignored),
	"budget.warning": ignored,
	"notification.raised": ignored,
	"content.delta": ({ part }) => ({ type: "content_part", payload: withoutNulls(part) }),
	"content.completed": ({ part }) => ({ type: "content_part", payload: withoutNulls(part) }),
	"tool-call.started": ({ call }) => ({ type: "tool_call", payload: withoutNulls(call) }),
	"tool-call.delta": ({ arguments_part }) => ({ type: "tool_call_part", payload: withoutNulls({ arguments_part }) }),
	"tool.requested": ({ call }) => ({ type: "tool_call", payload: withoutNulls(call) }),
	"tool-call.fragment": ({ arguments_part }) => ({ type: "tool_call_part", payload: withoutNulls({ arguments_part }) }),
	"session-hook.started": ignored,
	"session-hook.ended": ignored,
	"tool.started": ignored,
	"tool.progress": ignored,
	"tool.outcome-unknown": ignored,
	"tool.result": ({ toolCallId, result }) => ({
		type: "tool_result",
		payload: { tool_call_id: toolCallId, ok: !result.is_error, result: toLegacyResult(result) },
	}),
	"interaction.requested": ignored,
	"interaction.resolved": ignored,
	"model.changed": ignored,
	"title.changed": ignored,
	"steer.consumed": ignored,
	"plan.displayed": ignored,
	"hook.triggered": ignored,
	"hook.resolved": ignored,
	"side-question.started": ignored,
	"side-question.ended": ignored,
};

export function project(event: AgentEvent): readonly Outgoing[] {
	const { body, agentPath } = event;
	if (body.type === "interaction.requested" && body.interaction.kind === "approval")
		return [toRequest(body.interaction)];
	if (body.type === "interaction.resolved") return [{ kind: "settled", interactionId: body.interactionId }];
	if ((agentPath.length === 0 ? merged : streamed).has(body.type)) return [];
	const message = toLegacyEvent(body);
	if (message === null) return [];
	return [{ kind: "notification", method: "event", params: wrapForSubagent(message, agentPath) }];
}

function toLegacyEvent<T extends EventType>(body: EventBodyOf<T>): LegacyEvent | null {
	const entry: Entry<T> = entries[body.type as T];
	return entry(body);
}

function wrapForSubagent(message: LegacyEvent, agentPath: readonly AgentPathEntry[]): LegacyEvent {
	return agentPath.reduceRight<LegacyEvent>(
		(event, { parentToolCallId }) => ({
			type: "subagent_event",
			payload: withoutNulls({ task_tool_call_id: parentToolCallId, event }),
		}),
		message,
	);
}

function toRequest(interaction: ApprovalInteraction): Outgoing {
	const { id, toolCallId, sender, action, description } = interaction;
	return {
		kind: "interaction",
		interactionId: id,
		id,
		method: "request",
		params: (requestId) => ({
			type: "approval",
			payload: { id: requestId, tool_call_id: toolCallId, sender, action, description },
		}),
		readResult: (result) => {
			const parsed = v.safeParse(approvalResultSchema, result);
			return parsed.success ? { kind: "approval", decision: parsed.output.response, feedback: "" } : null;
		},
	};
}

function toLegacyResult({ is_error, output, message, display }: ToolReturn): object {
	const brief = display.find((block) => block.type === "brief");
	const text = brief !== undefined && "text" in brief ? brief.text : "";
	return { output: is_error ? outputText(output) : legacyOutput(output), message, brief: text };
}

function legacyOutput(output: ToolReturn["output"]): unknown {
	return typeof output === "string" ? output : output.map(withoutNulls);
}

/** A failed result contains only text. */
function outputText(output: ToolReturn["output"]): string {
	return typeof output === "string" ? output : joinTexts(output, "\n");
}

/** Drops null members at every depth. */
function withoutNulls(value: object): object {
	return Object.fromEntries(
		Object.entries(value)
			.filter(([, inner]) => inner !== null)
			.map(([key, inner]: [string, unknown]) => [key, isRecord(inner) ? withoutNulls(inner) : inner]),
	);
}
