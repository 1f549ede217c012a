import * as v from "valibot";
import { turnKeySchema } from "../../api/values/turn-options.ts";
import { isRecord } from "../../base/json.ts";

const record = v.custom<Record<string, unknown>>(isRecord, "an object is needed");
const text = v.string();
const optionalText = v.exactOptional(text);
const count = v.pipe(v.number(), v.integer(), v.minValue(0));

export const permissionModes = ["default", "acceptEdits", "bypassPermissions", "plan", "dontAsk"] as const;
export const permissionModeSchema = v.picklist(permissionModes);
export type PermissionMode = v.InferOutput<typeof permissionModeSchema>;

export const textBlockSchema = v.object({ type: v.literal("text"), text });
export const imageBlockSchema = v.object({
	type: v.literal("image"),
	source: v.variant("type", [
		v.object({ type: v.literal("base64"), media_type: text, data: text }),
		v.object({ type: v.literal("url"), url: text }),
	]),
});
export const inputBlockSchema = v.variant("type", [textBlockSchema, imageBlockSchema]);
export const promptContentSchema = v.union([text, v.pipe(v.array(inputBlockSchema), v.minLength(1))]);
export type PromptContent = v.InferOutput<typeof promptContentSchema>;

export const userFrameSchema = v.object({
	type: v.literal("user"),
	message: v.object({ role: v.literal("user"), content: promptContentSchema }),
	uuid: v.exactOptional(v.nullable(turnKeySchema)),
});
export type UserFrame = v.InferOutput<typeof userFrameSchema>;

export const controlRequestFrameSchema = v.object({
	type: v.literal("control_request"),
	request_id: text,
	request: v.looseObject({ subtype: text }),
});

export const controlResponseFrameSchema = v.object({
	type: v.literal("control_response"),
	response: v.variant("subtype", [
		v.object({ subtype: v.literal("success"), request_id: text, response: v.exactOptional(v.nullable(v.unknown())) }),
		v.object({ subtype: v.literal("error"), request_id: text, error: text }),
	]),
});

export const hookMatcherSchema = v.object({
	matcher: v.exactOptional(v.nullable(text)),
	hookCallbackIds: v.array(text),
	/** Seconds. */
	timeout: v.exactOptional(v.nullable(v.number())),
});
export type HookMatcher = v.InferOutput<typeof hookMatcherSchema>;

export const initializeSchema = v.object({
	hooks: v.optional(v.nullable(v.record(text, v.nullable(v.array(hookMatcherSchema)))), null),
	sdkMcpServers: v.optional(v.array(text), []),
	jsonSchema: v.exactOptional(v.nullable(record)),
	systemPrompt: v.exactOptional(v.nullable(v.union([text, v.array(text)]))),
	appendSystemPrompt: v.exactOptional(v.nullable(text)),
	agents: v.exactOptional(v.nullable(record)),
});
export type Initialize = v.InferOutput<typeof initializeSchema>;

export const setPermissionModeSchema = v.object({ mode: permissionModeSchema });
export const setModelSchema = v.object({ model: v.exactOptional(v.nullable(text)) });
export const setThinkingSchema = v.object({ max_thinking_tokens: v.nullable(count) });
export const rewindSchema = v.object({ user_message_id: text, dry_run: v.exactOptional(v.boolean()) });
export const renameSchema = v.object({ title: text });
export const stopTaskSchema = v.object({ task_id: text });
export const reconnectSchema = v.object({ serverName: text });
export const clientMcpMessageSchema = v.object({ server_name: text, message: record });
export const noMembersSchema = v.object({});
export const emptyAnswerSchema = v.object({});

export const initializeAnswerSchema = v.object({
	commands: v.array(v.object({ name: text, description: text, argumentHint: text })),
	agents: v.array(v.object({ name: text, description: text })),
	output_style: text,
	available_output_styles: v.array(text),
	models: v.array(v.object({ value: text, displayName: text, description: text })),
	account: v.object({}),
	hooks_applied: v.record(text, text),
});
export const mcpStatusAnswerSchema = v.object({
	mcpServers: v.array(v.object({ name: text, status: text })),
});
export const rewindAnswerSchema = v.object({
	canRewind: v.boolean(),
	error: optionalText,
	filesChanged: v.exactOptional(v.array(text)),
	insertions: v.exactOptional(count),
	deletions: v.exactOptional(count),
	notRestored: v.exactOptional(v.array(v.object({ path: text, reason: text }))),
});

export const permissionRuleSchema = v.object({ toolName: text, ruleContent: v.exactOptional(v.nullable(text)) });
export const permissionUpdateSchema = v.looseObject({
	type: text,
	rules: v.exactOptional(v.array(permissionRuleSchema)),
	behavior: optionalText,
	mode: optionalText,
	destination: optionalText,
});
export type PermissionUpdate = v.InferOutput<typeof permissionUpdateSchema>;

export const canUseToolSchema = v.object({
	subtype: v.literal("can_use_tool"),
	tool_name: text,
	input: record,
	tool_use_id: text,
	permission_suggestions: v.exactOptional(v.array(permissionUpdateSchema)),
	description: optionalText,
});
export const permissionAnswerSchema = v.variant("behavior", [
	v.object({
		behavior: v.literal("allow"),
		updatedInput: v.exactOptional(v.nullable(record)),
		updatedPermissions: v.exactOptional(v.nullable(v.array(permissionUpdateSchema))),
	}),
	v.object({
		behavior: v.literal("deny"),
		message: v.optional(text, ""),
		interrupt: v.exactOptional(v.nullable(v.boolean())),
	}),
]);
export type PermissionAnswer = v.InferOutput<typeof permissionAnswerSchema>;

export const hookCallbackSchema = v.object({
	subtype: v.literal("hook_callback"),
	callback_id: text,
	input: record,
	tool_use_id: v.exactOptional(v.nullable(text)),
});
export const hookAnswerSchema = v.looseObject({
	continue: v.exactOptional(v.nullable(v.boolean())),
	stopReason: v.exactOptional(v.nullable(text)),
	decision: v.exactOptional(v.nullable(text)),
	reason: v.exactOptional(v.nullable(text)),
	systemMessage: v.exactOptional(v.nullable(text)),
	hookSpecificOutput: v.exactOptional(
		v.nullable(
			v.looseObject({
				permissionDecision: v.exactOptional(v.nullable(text)),
				permissionDecisionReason: v.exactOptional(v.nullable(text)),
				updatedInput: v.exactOptional(v.nullable(record)),
				additionalContext: v.exactOptional(v.nullable(text)),
			}),
		),
	),
});
export type HookAnswer = v.InferOutput<typeof hookAnswerSchema>;

export const mcpMessageSchema = v.object({
	subtype: v.literal("mcp_message"),
	server_name: text,
	message: record,
});
export const mcpAnswerSchema = v.object({ mcp_response: record });
