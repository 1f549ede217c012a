// Events to the messages of Kimi Wire: one entry per event type. The client sees a run of parts as it streams, so
// the merged form is passed over; of a subagent it sees the merged form alone (wire-protocol §4.7). What older clients
// are told instead is older-clients.ts.
import * as v from "valibot";
import type { AgentEvent, EventType } from "../../events/event.ts";
import type { Answer, Ask } from "../../events/interaction.ts";
import { toAskMessage } from "../../messages/to-message.ts";
import type { Outgoing } from "../event-pump.ts";
import { type Audience, toTold } from "./older-clients.ts";
import { approvalResultSchema, hookResultSchema, questionResultSchema, toolCallResultSchema } from "./wire.ts";

type Entry = (event: AgentEvent, audience: Audience) => readonly Outgoing[];

const nothing: readonly Outgoing[] = [];

/** Told as the event it is. */
const told: Entry = (event, audience) => {
	const message = toTold(event, audience);
	return message === null ? nothing : [{ kind: "notification", method: "event", params: message }];
};
const toldOfRoot: Entry = (event, audience) => (event.agentPath.length === 0 ? told(event, audience) : nothing);
const toldOfSubagents: Entry = (event, audience) => (event.agentPath.length === 0 ? nothing : told(event, audience));

const entries: { readonly [T in EventType]: Entry } = {
	"turn.started": told,
	"turn.ended": told,
	"step.started": told,
	"step.interrupted": told,
	"step.retrying": told,
	"compaction.started": told,
	"compaction.ended": told,
	"mcp.loading-started": told,
	"mcp.loading-ended": told,
	"status.changed": told,
	"budget.warning": told,
	"notification.raised": told,
	"content.delta": toldOfRoot,
	"content.completed": toldOfSubagents,
	"tool-call.started": toldOfRoot,
	"tool-call.delta": toldOfRoot,
	"tool-call.completed": toldOfSubagents,
	"tool-call.fragment": toldOfSubagents,
	"tool.result": told,
	"ask.requested": ({ body }) => (body.type === "ask.requested" ? [toRequest(body.ask)] : nothing),
	"ask.resolved": (event, audience) => {
		if (event.body.type !== "ask.resolved") return nothing;
		// Never wrapped, like the request it settles.
		return [{ kind: "settled", askId: event.body.askId }, ...told({ ...event, agentPath: [] }, audience)];
	},
	"steer.consumed": told,
	"plan.displayed": told,
	"hook.triggered": told,
	"hook.resolved": told,
	"side-question.started": told,
	"side-question.ended": told,
};

export function project(event: AgentEvent, audience: Audience): readonly Outgoing[] {
	return entries[event.body.type](event, audience);
}

/** Asks are never wrapped; their JSON-RPC id is the id in their payload (wire-protocol §1.4, §3.6). */
function toRequest(ask: Ask): Outgoing {
	const { type, payload } = toAskMessage(ask);
	return {
		kind: "ask",
		askId: ask.id,
		id: ask.kind === "client-tool" ? ask.toolCallId : ask.id,
		method: "request",
		params: (id) => ({ type, payload: { ...payload, id } }),
		readResult: (result) => readers[ask.kind](result),
	};
}

const readers: { readonly [K in Ask["kind"]]: (result: unknown) => Answer | null } = {
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
