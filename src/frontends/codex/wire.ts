import * as v from "valibot";
import { isRecord } from "../../base/json.ts";
import { turnSchema } from "./wire-items.ts";

const text = v.string();
/** Absent and null mean the same. */
const maybe = <S extends v.GenericSchema>(schema: S) => v.optional(v.nullable(schema), null);
const plainObject = v.custom<Record<string, unknown>>(isRecord, "an object is needed");
const params = <E extends v.ObjectEntries>(entries: E) => v.pipe(plainObject, v.object(entries));

export const sandboxModeSchema = v.picklist(["read-only", "workspace-write", "danger-full-access"]);
export type SandboxMode = v.InferOutput<typeof sandboxModeSchema>;
export const approvalPolicySchema = v.union([
	v.picklist(["untrusted", "on-request", "on-failure", "never"]),
	v.object({ granular: v.record(text, v.unknown()) }),
]);
export type ApprovalPolicy = v.InferOutput<typeof approvalPolicySchema>;

export const sandboxPolicySchema = v.variant("type", [
	v.object({ type: v.literal("readOnly"), networkAccess: v.optional(v.boolean(), false) }),
	v.object({
		type: v.literal("workspaceWrite"),
		writableRoots: v.optional(v.array(text), () => []),
		networkAccess: v.optional(v.boolean(), false),
	}),
	v.object({ type: v.literal("dangerFullAccess") }),
]);
export type SandboxPolicy = v.InferOutput<typeof sandboxPolicySchema>;

export const inputItemSchema = v.variant("type", [
	v.object({ type: v.literal("text"), text }),
	v.object({ type: v.literal("image"), url: text }),
	v.object({ type: v.literal("localImage"), path: text }),
	v.object({ type: v.literal("skill"), name: text, path: text }),
	v.object({ type: v.literal("mention"), name: text, path: text }),
]);
export type InputItem = v.InferOutput<typeof inputItemSchema>;
const input = v.pipe(v.array(inputItemSchema), v.minLength(1, "the input is empty"));

export const clientToolSchema = v.object({
	name: text,
	description: v.optional(text, ""),
	inputSchema: v.record(text, v.unknown()),
});

export const initializeParamsSchema = params({
	clientInfo: v.object({ name: text, title: maybe(text), version: text }),
	capabilities: maybe(
		v.object({
			experimentalApi: maybe(v.boolean()),
			optOutNotificationMethods: maybe(v.array(text)),
		}),
	),
});
export const initializeResultSchema = v.object({
	userAgent: text,
	codexHome: text,
	platformFamily: text,
	platformOs: text,
});

const opening = {
	model: maybe(text),
	cwd: maybe(text),
	approvalPolicy: maybe(approvalPolicySchema),
	sandbox: maybe(sandboxModeSchema),
};
export const threadStartParamsSchema = params({
	...opening,
	modelProvider: maybe(text),
	baseInstructions: maybe(text),
	developerInstructions: maybe(text),
	ephemeral: maybe(v.boolean()),
	config: maybe(v.record(text, v.unknown())),
	dynamicTools: maybe(v.array(clientToolSchema)),
});
export const threadResumeParamsSchema = params({ threadId: text, ...opening, excludeTurns: maybe(v.boolean()) });
export const threadForkParamsSchema = params({
	threadId: text,
	...opening,
	lastTurnId: maybe(text),
	excludeTurns: maybe(v.boolean()),
});
export const threadListParamsSchema = params({
	cwd: maybe(text),
	cursor: maybe(text),
	limit: maybe(v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(1000))),
	archived: maybe(v.boolean()),
});
export const threadReadParamsSchema = params({ threadId: text, includeTurns: maybe(v.boolean()) });
export const threadParamsSchema = params({ threadId: text });
export const threadRevertParamsSchema = params({ threadId: text, beforeTurnId: text });
export const goalStatusSchema = v.picklist([
	"active",
	"paused",
	"blocked",
	"usageLimited",
	"budgetLimited",
	"complete",
]);
export type GoalStatus = v.InferOutput<typeof goalStatusSchema>;
export const goalSetParamsSchema = params({
	threadId: text,
	objective: maybe(v.pipe(text, v.regex(/\S/, "the objective is empty"), v.maxLength(4000))),
	status: maybe(goalStatusSchema),
	/** Null removes it; absent keeps it. */
	tokenBudget: v.optional(v.nullable(v.pipe(v.number(), v.safeInteger(), v.minValue(1)))),
});
export type GoalChange = Omit<v.InferOutput<typeof goalSetParamsSchema>, "threadId">;
export const threadNameParamsSchema = params({ threadId: text, name: text });
export const turnStartParamsSchema = params({
	threadId: text,
	input,
	model: maybe(text),
	effort: maybe(text),
	cwd: maybe(text),
	approvalPolicy: maybe(approvalPolicySchema),
	sandboxPolicy: maybe(sandboxPolicySchema),
	outputSchema: maybe(v.record(text, v.unknown())),
});
export const turnSteerParamsSchema = params({ threadId: text, expectedTurnId: text, input });
export const turnInterruptParamsSchema = params({ threadId: text, turnId: text });
export const anyParamsSchema = v.unknown();

export const threadStatusSchema = v.variant("type", [
	v.object({ type: v.literal("idle") }),
	v.object({ type: v.literal("notLoaded") }),
	v.object({ type: v.literal("active"), activeFlags: v.array(text) }),
]);
export const threadSchema = v.object({
	id: text,
	sessionId: text,
	preview: text,
	name: v.nullable(text),
	cwd: text,
	createdAt: v.number(),
	updatedAt: v.number(),
	status: threadStatusSchema,
	modelProvider: text,
	cliVersion: text,
	source: v.literal("appServer"),
	ephemeral: v.literal(false),
	forkedFromId: v.nullable(text),
	projectId: v.null(),
	path: v.nullable(text),
	turns: v.array(turnSchema),
});
export type Thread = v.InferOutput<typeof threadSchema>;

export const openedThreadSchema = v.object({
	thread: threadSchema,
	model: text,
	modelProvider: text,
	cwd: text,
	approvalPolicy: approvalPolicySchema,
	approvalsReviewer: v.literal("user"),
	sandbox: sandboxPolicySchema,
	reasoningEffort: v.null(),
});
export type OpenedThread = v.InferOutput<typeof openedThreadSchema>;
export const threadResultSchema = v.object({ thread: threadSchema });
export const threadListResultSchema = v.object({ data: v.array(threadSchema), nextCursor: v.nullable(text) });
export const goalSchema = v.object({
	threadId: text,
	objective: text,
	status: goalStatusSchema,
	tokenBudget: v.nullable(v.number()),
	tokensUsed: v.number(),
	timeUsedSeconds: v.number(),
	createdAt: v.number(),
	updatedAt: v.number(),
});
export type Goal = v.InferOutput<typeof goalSchema>;
export const goalResultSchema = v.object({ goal: goalSchema });
export const goalClearResultSchema = v.object({ cleared: v.boolean() });
export const turnResultSchema = v.object({ turn: turnSchema });
export const turnSteerResultSchema = v.object({ turnId: text });
export const emptyResultSchema = v.object({});
export const modelSchema = v.object({
	id: text,
	model: text,
	displayName: text,
	description: text,
	hidden: v.literal(false),
	isDefault: v.boolean(),
	defaultReasoningEffort: text,
	supportedReasoningEfforts: v.array(v.object({ reasoningEffort: text, description: text })),
	inputModalities: v.array(v.picklist(["text", "image"])),
});
export const modelListResultSchema = v.object({ data: v.array(modelSchema), nextCursor: v.null() });
export const loginCancelParamsSchema = v.object({ loginId: text });
export const loginCancelResultSchema = v.object({ status: v.literal("notFound") });
export const accountResultSchema = v.object({ account: v.null(), requiresOpenaiAuth: v.literal(false) });
