// One declaration per message type. Parsing adds what older versions lacked; writing includes every field.
import * as v from "valibot";
import {
	contentPartSchema,
	displayBlockSchema,
	toolCallSchema,
	toolReturnSchema,
	userInputSchema,
} from "../api/values/content.ts";
import { eventDeclarations } from "../api/values/event.ts";
import { questionItemSchema } from "../api/values/interaction.ts";

export interface Message {
	readonly type: string;
	readonly payload: object;
}

interface MessageDeclaration<S extends v.GenericSchema<unknown, object>> {
	/** Events need no answer; requests do. */
	readonly kind: "event" | "request";
	readonly schema: S;
}

const nullableText = v.optional(v.nullable(v.string()), null);
const empty = v.object({});

/** A nested message, parsed as far as its envelope; its own declaration parses its payload. */
export const nestedMessageSchema = v.object({ type: v.string(), payload: v.record(v.string(), v.unknown()) });

export const subagentEventFields = {
	parent_tool_call_id: nullableText,
	agent_id: nullableText,
	subagent_type: nullableText,
	event: nestedMessageSchema,
};
export const subagentEventSchema = v.pipe(
	v.looseObject({}),
	v.transform((payload) => {
		const named = payload as Record<string, unknown>;
		return { ...named, parent_tool_call_id: named["parent_tool_call_id"] ?? named["task_tool_call_id"] };
	}),
	v.object(subagentEventFields),
);

export const approvalRequestSchema = v.object({
	id: v.string(),
	tool_call_id: v.string(),
	sender: v.string(),
	action: v.string(),
	description: v.string(),
	source_kind: v.optional(v.nullable(v.picklist(["foreground_turn", "background_agent"])), null),
	source_id: nullableText,
	agent_id: nullableText,
	subagent_type: nullableText,
	source_description: nullableText,
	display: v.optional(v.array(displayBlockSchema), []),
});

export const approvalResponseSchema = v.object({
	request_id: v.string(),
	response: v.picklist(["approve", "approve_for_session", "reject"]),
	feedback: v.optional(v.string(), ""),
});

export const notificationSchema = v.object({
	id: v.string(),
	category: v.string(),
	type: v.string(),
	source_kind: v.string(),
	source_id: v.string(),
	title: v.string(),
	body: v.string(),
	severity: v.string(),
	created_at: v.number(),
	payload: v.record(v.string(), v.unknown()),
});

export const toolCallRequestSchema = v.object({ id: v.string(), name: v.string(), arguments: nullableText });

export const questionRequestSchema = v.object({
	id: v.string(),
	tool_call_id: v.string(),
	questions: v.array(questionItemSchema),
});

function event<S extends v.GenericSchema<unknown, object>>(schema: S): MessageDeclaration<S> {
	return { kind: "event", schema };
}

function request<S extends v.GenericSchema<unknown, object>>(schema: S): MessageDeclaration<S> {
	return { kind: "request", schema };
}

export const hookRequestSchema = v.object({
	id: v.string(),
	subscription_id: v.string(),
	event: v.string(),
	target: v.string(),
	input_data: v.record(v.string(), v.unknown()),
});

export const messageDeclarations = {
	TurnBegin: event(v.object({ user_input: userInputSchema })),
	TurnEnd: event(empty),
	StepBegin: event(eventDeclarations["step.started"].schema),
	StepInterrupted: event(empty),
	StepRetry: event(eventDeclarations["step.retrying"].schema),
	CompactionBegin: event(empty),
	CompactionEnd: event(empty),
	MCPLoadingBegin: event(empty),
	MCPLoadingEnd: event(empty),
	StatusUpdate: event(v.omit(eventDeclarations["status.changed"].schema, ["truncated"])),
	Notification: event(notificationSchema),
	ContentPart: event(contentPartSchema),
	ToolCall: event(toolCallSchema),
	ToolCallPart: event(v.omit(eventDeclarations["tool-call.delta"].schema, ["offset"])),
	ToolResult: event(v.object({ tool_call_id: v.string(), return_value: toolReturnSchema })),
	ApprovalResponse: event(approvalResponseSchema),
	SubagentEvent: event(subagentEventSchema),
	SteerInput: event(v.object({ user_input: userInputSchema })),
	PlanDisplay: event(eventDeclarations["plan.displayed"].schema),
	HookTriggered: event(eventDeclarations["hook.triggered"].schema),
	HookResolved: event(eventDeclarations["hook.resolved"].schema),
	BtwBegin: event(eventDeclarations["side-question.started"].schema),
	BtwEnd: event(eventDeclarations["side-question.ended"].schema),
	ApprovalRequest: request(approvalRequestSchema),
	ToolCallRequest: request(toolCallRequestSchema),
	QuestionRequest: request(questionRequestSchema),
	HookRequest: request(hookRequestSchema),
};

export type MessageType = keyof typeof messageDeclarations;
export type PayloadOf<T extends MessageType> = v.InferOutput<(typeof messageDeclarations)[T]["schema"]>;
