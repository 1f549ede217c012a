import type * as v from "valibot";
import {
	audioPartSchema,
	imagePartSchema,
	textPartSchema,
	thinkPartSchema,
	videoPartSchema,
} from "../../api/values/content.ts";
import { approvalResponseSchema, messageDeclarations } from "../../formats/message.ts";
import type { Protocol } from "../shared/protocol.ts";
import {
	anyParamsSchema,
	approvalResultSchema,
	cancelResultSchema,
	clientEventSchema,
	deliveredSubagentEventSchema,
	hookResultSchema,
	initializeParamsSchema,
	initializeResultSchema,
	inputParamsSchema,
	promptResultSchema,
	questionResultSchema,
	replayResultSchema,
	setPlanModeParamsSchema,
	setPlanModeResultSchema,
	steerResultSchema,
	toolCallResultSchema,
} from "./wire.ts";

/** Former event names for older clients (older-clients.ts). */
export const olderEvents = {
	TextPart: textPartSchema,
	ThinkPart: thinkPartSchema,
	ImageURLPart: imagePartSchema,
	AudioURLPart: audioPartSchema,
	VideoURLPart: videoPartSchema,
	ApprovalRequestResolved: approvalResponseSchema,
};

const { ApprovalRequest, ToolCallRequest, QuestionRequest, HookRequest, ...declaredEvents } = messageDeclarations;
const eventSchemas: Readonly<Record<string, v.GenericSchema>> = Object.fromEntries(
	Object.entries(declaredEvents).map(([type, { schema }]) => [type, schema]),
);

export const kimiProtocol = {
	methods: {
		initialize: { params: initializeParamsSchema, result: initializeResultSchema },
		prompt: { params: inputParamsSchema, result: promptResultSchema },
		steer: { params: inputParamsSchema, result: steerResultSchema },
		replay: { params: anyParamsSchema, result: replayResultSchema },
		set_plan_mode: { params: setPlanModeParamsSchema, result: setPlanModeResultSchema },
		cancel: { params: anyParamsSchema, result: cancelResultSchema },
		/** Some clients answer an approval with it. */
		event: { params: clientEventSchema, result: null, actsOn: "notifications" },
	},
	events: { ...eventSchemas, SubagentEvent: deliveredSubagentEventSchema, ...olderEvents },
	requests: {
		ApprovalRequest: { payload: ApprovalRequest.schema, result: approvalResultSchema },
		ToolCallRequest: { payload: ToolCallRequest.schema, result: toolCallResultSchema },
		QuestionRequest: { payload: QuestionRequest.schema, result: questionResultSchema },
		HookRequest: { payload: HookRequest.schema, result: hookResultSchema },
	},
} as const satisfies Protocol;
