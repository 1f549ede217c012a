// Events to the messages of Kimi Wire: one entry per event type. The client sees a run of parts as it streams, so
// the merged form is passed over; of a subagent it sees the merged form alone (wire-protocol §4.7).
import * as v from "valibot";
import type { Answer, Ask, AskFailure } from "../../events/ask.ts";
import type { AgentEvent, EventType } from "../../events/event.ts";
import { toAskMessage, toMessage, wrapForSubagent } from "../../messages/to-message.ts";
import type { RpcReply } from "../../rpc/envelope.ts";
import type { Outgoing } from "../event-pump.ts";
import { approvalResultSchema, hookResultSchema, questionResultSchema, toolCallResultSchema } from "./wire.ts";

type Entry = (event: AgentEvent) => readonly Outgoing[];

const nothing: readonly Outgoing[] = [];

/** Told as the event it is. */
const told: Entry = ({ body, agentPath }) => {
	const message = toMessage(body);
	if (message === null) return nothing;
	return [{ kind: "notification", method: "event", params: wrapForSubagent(message, agentPath) }];
};
const toldOfRoot: Entry = (event) => (event.agentPath.length === 0 ? told(event) : nothing);
const toldOfSubagents: Entry = (event) => (event.agentPath.length === 0 ? nothing : told(event));

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
	"notification.raised": told,
	"content.delta": toldOfRoot,
	"content.completed": toldOfSubagents,
	"tool-call.started": toldOfRoot,
	"tool-call.delta": toldOfRoot,
	"tool-call.completed": toldOfSubagents,
	"tool-call.fragment": toldOfSubagents,
	"tool.result": told,
	"ask.requested": ({ body }) => (body.type === "ask.requested" ? [toRequest(body.ask)] : nothing),
	"ask.resolved": ({ body }) => {
		if (body.type !== "ask.resolved") return nothing;
		const message = toMessage(body);
		const settled: Outgoing = { kind: "settled", askId: body.askId };
		return message === null ? [settled] : [settled, { kind: "notification", method: "event", params: message }];
	},
	"steer.consumed": told,
	"plan.displayed": told,
	"hook.triggered": told,
	"hook.resolved": told,
	"side-question.started": told,
	"side-question.ended": told,
};

export function project(event: AgentEvent): readonly Outgoing[] {
	return entries[event.body.type](event);
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
		toAnswer: (reply) =>
			reply.kind === "error"
				? { kind: "error-reply", message: reply.error.message }
				: (readers[ask.kind](reply) ?? { kind: "malformed" }),
	};
}

type ResultReply = Extract<RpcReply, { kind: "result" }>;
type AnswerReader = (reply: ResultReply) => Answer | AskFailure | null;

const readers: { readonly [K in Ask["kind"]]: AnswerReader } = {
	approval: ({ result }) => {
		const parsed = v.safeParse(approvalResultSchema, result);
		if (!parsed.success) return null;
		return { kind: "approval", decision: parsed.output.response, feedback: parsed.output.feedback };
	},
	"client-tool": ({ result }) => {
		const parsed = v.safeParse(toolCallResultSchema, result);
		return parsed.success ? { kind: "client-tool", result: parsed.output.return_value } : null;
	},
	hook: ({ result }) => {
		const parsed = v.safeParse(hookResultSchema, result);
		return parsed.success ? { kind: "hook", action: parsed.output.action, reason: parsed.output.reason } : null;
	},
	question: ({ result }) => {
		const parsed = v.safeParse(questionResultSchema, result);
		return parsed.success ? { kind: "question", answers: parsed.output.answers } : null;
	},
};
