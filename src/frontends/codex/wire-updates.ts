import * as v from "valibot";
import { goalSchema, threadSchema, threadStatusSchema } from "./wire.ts";
import { contentItemSchema, itemSchema, turnErrorSchema, turnSchema } from "./wire-items.ts";

const text = v.string();
const place = { threadId: text, turnId: text };
const count = v.number();

export const usageSchema = v.object({
	totalTokens: count,
	inputTokens: count,
	cachedInputTokens: count,
	cacheWriteInputTokens: count,
	outputTokens: count,
	reasoningOutputTokens: count,
});
export type UsageValue = v.InferOutput<typeof usageSchema>;
export const planStepSchema = v.object({ step: text, status: v.picklist(["pending", "inProgress", "completed"]) });

export const notificationSchemas = {
	"thread/started": v.object({ thread: threadSchema }),
	"thread/status/changed": v.object({ threadId: text, status: threadStatusSchema }),
	"thread/name/updated": v.object({ threadId: text, threadName: text }),
	"thread/goal/updated": v.object({ threadId: text, turnId: v.nullable(text), goal: goalSchema }),
	"thread/goal/cleared": v.object({ threadId: text }),
	"thread/tokenUsage/updated": v.object({
		...place,
		tokenUsage: v.object({ total: usageSchema, last: usageSchema, modelContextWindow: v.nullable(count) }),
	}),
	"turn/started": v.object({ threadId: text, turn: turnSchema }),
	"turn/plan/updated": v.object({ ...place, plan: v.array(planStepSchema) }),
	"turn/completed": v.object({ threadId: text, turn: turnSchema }),
	"item/started": v.object({ ...place, item: itemSchema, startedAtMs: count }),
	"item/completed": v.object({ ...place, item: itemSchema, completedAtMs: count }),
	"item/agentMessage/delta": v.object({ ...place, itemId: text, delta: text }),
	"item/reasoning/textDelta": v.object({ ...place, itemId: text, contentIndex: count, delta: text }),
	"item/commandExecution/outputDelta": v.object({ ...place, itemId: text, delta: text }),
	error: v.object({ ...place, error: turnErrorSchema, willRetry: v.boolean() }),
	"serverRequest/resolved": v.object({ threadId: text, requestId: text }),
} as const;

type NotificationMethod = keyof typeof notificationSchemas;
export type Notification = {
	[M in NotificationMethod]: { readonly method: M; readonly params: v.InferOutput<(typeof notificationSchemas)[M]> };
}[NotificationMethod];

const approval = { ...place, itemId: text, reason: v.nullable(text), startedAtMs: count };
const decision = v.picklist(["accept", "acceptForSession", "decline", "cancel"]);

export const commandApprovalSchema = v.object({ ...approval, command: text, cwd: text });
export const fileApprovalSchema = v.object(approval);
export const decisionSchema = v.object({ decision });
export const questionOptionSchema = v.object({ label: text, description: text });
export const questionSchema = v.object({
	id: text,
	header: text,
	question: text,
	isOther: v.literal(true),
	isSecret: v.literal(false),
	options: v.array(questionOptionSchema),
});
export const questionsSchema = v.object({ ...place, itemId: text, questions: v.array(questionSchema) });
export const answersSchema = v.object({ answers: v.record(text, v.object({ answers: v.array(text) })) });
export const toolRequestSchema = v.object({ ...place, callId: text, tool: text, arguments: v.unknown() });
export const toolAnswerSchema = v.object({ success: v.boolean(), contentItems: v.array(contentItemSchema) });
