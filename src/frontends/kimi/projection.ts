// Main agent output is sent as deltas only, subagent output in merged form only (wire-protocol §4.7).
import * as v from "valibot";
import { type DisplayBlock, textPart } from "../../api/values/content.ts";
import type { AgentEvent, EventType } from "../../api/values/event.ts";
import type { Answer, Interaction } from "../../api/values/interaction.ts";
import { ownEvents } from "../../api/values/own-events.ts";
import { truncationText } from "../../api/values/truncation.ts";
import { toInteractionMessage } from "../../formats/message-conversion.ts";
import type { Outgoing } from "../shared/event-pump.ts";
import { type Audience, toDelivered } from "./older-clients.ts";
import { approvalResultSchema, hookResultSchema, questionResultSchema, toolCallResultSchema } from "./wire.ts";

type Entry = (event: AgentEvent, audience: Audience) => readonly Outgoing[];

const nothing: readonly Outgoing[] = [];

/** Sent unchanged. */
const delivered: Entry = (event, audience) => {
	const message = toDelivered(event, audience);
	return message === null ? nothing : [{ kind: "notification", method: "event", params: message }];
};
const withheld: Entry = () => nothing;
const deliveredOfRoot: Entry = (event, audience) =>
	event.agentPath.length === 0 ? delivered(event, audience) : nothing;
const deliveredOfSubagents: Entry = (event, audience) =>
	event.agentPath.length === 0 ? nothing : delivered(event, audience);

/** The protocol has no status for a truncated answer, so a text before the end of its turn says so. */
export function withTruncationNote(event: AgentEvent): readonly AgentEvent[] {
	const { body } = event;
	if (body.type !== "turn.ended" || body.outcome?.status !== "truncated") return [event];
	const part = textPart(`\n\n[${truncationText(body.outcome.reason)}]`);
	return [{ ...event, body: { type: "content.completed", part } }, event];
}

const entries: { readonly [T in EventType]: Entry } = {
	"turn.started": delivered,
	"turn.ended": (event, audience) => withTruncationNote(event).flatMap((each) => delivered(each, audience)),
	"step.started": delivered,
	"step.interrupted": delivered,
	"step.retrying": delivered,
	"compaction.started": delivered,
	"compaction.ended": delivered,
	"mcp.loading-started": delivered,
	"mcp.loading-ended": delivered,
	"status.changed": delivered,
	...ownEvents(withheld),
	"budget.warning": delivered,
	"notification.raised": delivered,
	"content.delta": deliveredOfRoot,
	"content.completed": deliveredOfSubagents,
	"tool-call.started": deliveredOfRoot,
	"tool-call.delta": deliveredOfRoot,
	"tool.requested": deliveredOfSubagents,
	"tool-call.fragment": deliveredOfSubagents,
	"session-hook.started": withheld,
	"session-hook.ended": withheld,
	"tool.started": withheld,
	"tool.progress": withheld,
	"tool.outcome-unknown": withheld,
	"tool.result": delivered,
	"interaction.requested": ({ body }, audience) =>
		body.type === "interaction.requested" ? [toRequest(body.interaction, audience)] : nothing,
	"interaction.resolved": (event, audience) => {
		if (event.body.type !== "interaction.resolved") return nothing;
		// Never wrapped, like the request it settles.
		return [
			{ kind: "settled", interactionId: event.body.interactionId },
			...delivered({ ...event, agentPath: [] }, audience),
		];
	},
	"model.changed": withheld,
	"title.changed": withheld,
	"steer.consumed": delivered,
	"plan.displayed": delivered,
	"hook.triggered": delivered,
	"hook.resolved": delivered,
	"side-question.started": delivered,
	"side-question.ended": delivered,
};

export function project(event: AgentEvent, audience: Audience): readonly Outgoing[] {
	return entries[event.body.type](event, audience);
}

/** Requests are never wrapped; their JSON-RPC id is the id in their payload (wire-protocol §1.4, §3.6). */
function toRequest(interaction: Interaction, audience: Audience): Outgoing {
	const { type, payload } = toInteractionMessage(asKimi(interaction, audience));
	return {
		kind: "interaction",
		interactionId: interaction.id,
		id: interaction.kind === "client-tool" ? interaction.toolCallId : interaction.id,
		method: "request",
		params: (id) => ({ type, payload: { ...payload, id } }),
		readResult: (result) => readers[interaction.kind](result),
	};
}

/** Clients compare an approval's description with that of `kimi`, so additional information only goes into its display. */
function asKimi(interaction: Interaction, { exactApprovals }: Audience): Interaction {
	if (interaction.kind !== "approval") return interaction;
	const { description, summary = description, display, coverage } = interaction;
	const isCoverage = (block: DisplayBlock) => block.type === "brief" && "text" in block && block.text === coverage;
	return {
		...interaction,
		description: summary,
		display: exactApprovals ? display.filter((block) => !isCoverage(block)) : display,
	};
}

const readers: { readonly [K in Interaction["kind"]]: (result: unknown) => Answer | null } = {
	approval: (result) => {
		const parsed = v.safeParse(approvalResultSchema, result);
		if (!parsed.success) return null;
		return { kind: "approval", decision: parsed.output.response, feedback: parsed.output.feedback };
	},
	"client-tool": (result) => {
		const parsed = v.safeParse(toolCallResultSchema, result);
		return parsed.success ? { kind: "client-tool", result: parsed.output.return_value } : null;
	},
	hook: (result) => {
		const parsed = v.safeParse(hookResultSchema, result);
		return parsed.success ? { kind: "hook", action: parsed.output.action, reason: parsed.output.reason } : null;
	},
	question: (result) => {
		const parsed = v.safeParse(questionResultSchema, result);
		return parsed.success ? { kind: "question", answers: parsed.output.answers } : null;
	},
};
