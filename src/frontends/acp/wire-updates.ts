import * as v from "valibot";
import { sentBlockSchema } from "./content.ts";
import { configOptionSchema } from "./wire.ts";

export const toolKinds = [
	"read",
	"edit",
	"delete",
	"search",
	"execute",
	"think",
	"fetch",
	"switch_mode",
	"other",
] as const;
export type ToolKind = (typeof toolKinds)[number];
export const toolStatusSchema = v.picklist(["pending", "in_progress", "completed", "failed"]);

export const toolContentSchema = v.variant("type", [
	v.object({ type: v.literal("content"), content: sentBlockSchema }),
	v.object({
		type: v.literal("diff"),
		path: v.string(),
		oldText: v.nullable(v.string()),
		newText: v.string(),
	}),
	v.object({ type: v.literal("terminal"), terminalId: v.string() }),
]);
export type ToolContent = v.InferInput<typeof toolContentSchema>;

export const locationSchema = v.object({ path: v.string(), line: v.exactOptional(v.number()) });
export type Location = v.InferOutput<typeof locationSchema>;

const callEntries = {
	title: v.string(),
	name: v.string(),
	kind: v.picklist(toolKinds),
	status: toolStatusSchema,
	content: v.array(toolContentSchema),
	locations: v.array(locationSchema),
	rawInput: v.unknown(),
	rawOutput: v.unknown(),
};
const toolCallId = v.string();
const terminal_id = v.string();
/** Extension data; editors read the terminal members. */
export const callMetaSchema = v.object({
	/** Opens a terminal that shows the call's output. */
	terminal_info: v.exactOptional(v.object({ terminal_id, cwd: v.string() })),
	terminal_output: v.exactOptional(v.object({ terminal_id, data: v.string() })),
	terminal_exit: v.exactOptional(
		v.object({ terminal_id, exit_code: v.nullable(v.number()), signal: v.nullable(v.string()) }),
	),
	/** The subagent that makes the call, and the call that runs it. */
	agentwire: v.exactOptional(
		v.object({
			parentToolCallId: v.nullable(v.string()),
			agentId: v.nullable(v.string()),
			agent: v.nullable(v.string()),
		}),
	),
	contextCompaction: v.exactOptional(v.object({ version: v.number() })),
});
const callMeta = { _meta: v.exactOptional(callMetaSchema) };
/** The full call, for clients that may not know it. Content and locations replace earlier ones. */
export const toolCallSchema = v.object({
	toolCallId,
	...v.partial(v.object(callEntries)).entries,
	title: v.string(),
	...callMeta,
});
export const toolCallUpdateSchema = v.object({ toolCallId, ...v.partial(v.object(callEntries)).entries, ...callMeta });

export type ToolCallUpdate = v.InferInput<typeof toolCallUpdateSchema>;

const chunk = v.object({ content: sentBlockSchema, messageId: v.exactOptional(v.string()) });
const amount = v.pipe(v.number(), v.integer(), v.minValue(0));

export const planEntrySchema = v.object({
	content: v.string(),
	priority: v.picklist(["high", "medium", "low"]),
	status: v.picklist(["pending", "in_progress", "completed"]),
});
export const commandSchema = v.object({
	name: v.string(),
	description: v.string(),
	input: v.object({ hint: v.string() }),
});

export const updateSchemas = {
	user_message_chunk: chunk,
	agent_message_chunk: chunk,
	agent_thought_chunk: chunk,
	tool_call: toolCallSchema,
	tool_call_update: toolCallUpdateSchema,
	plan: v.object({ entries: v.array(planEntrySchema) }),
	available_commands_update: v.object({ availableCommands: v.array(commandSchema) }),
	current_mode_update: v.object({ currentModeId: v.string() }),
	config_option_update: v.object({ configOptions: v.array(configOptionSchema) }),
	session_info_update: v.object({ title: v.string(), updatedAt: v.string() }),
	usage_update: v.object({
		/** Tokens used in the context, and its size. */
		used: amount,
		size: amount,
		/** For the whole session; absent without a configured price. */
		cost: v.exactOptional(v.object({ amount: v.number(), currency: v.string() })),
	}),
	notice: v.object({
		severity: v.picklist(["info", "warning", "error"]),
		title: v.string(),
		description: v.exactOptional(v.string()),
	}),
	compaction_update: v.object({
		compactionId: v.string(),
		status: v.picklist(["in_progress", "completed", "failed", "cancelled"]),
	}),
} as const;

export type UpdateName = keyof typeof updateSchemas;
export type Update = {
	[N in UpdateName]: { readonly sessionUpdate: N } & Readonly<v.InferInput<(typeof updateSchemas)[N]>>;
}[UpdateName];

export const notificationSchemas = {
	"elicitation/complete": v.object({ elicitationId: v.string() }),
	"$/cancel_request": v.object({ requestId: v.string() }),
} as const;

const sessionId = v.string();

export const permissionOptionSchema = v.object({
	optionId: v.string(),
	name: v.string(),
	kind: v.picklist(["allow_once", "allow_always", "reject_once", "reject_always"]),
});
export type PermissionOption = v.InferOutput<typeof permissionOptionSchema>;
export const permissionRequestSchema = v.object({
	sessionId,
	toolCall: toolCallUpdateSchema,
	options: v.array(permissionOptionSchema),
});
export type PermissionRequest = v.InferInput<typeof permissionRequestSchema>;
export const permissionOutcomeSchema = v.variant("outcome", [
	v.object({ outcome: v.literal("cancelled") }),
	v.object({ outcome: v.literal("selected"), optionId: v.string() }),
]);
export const permissionResultSchema = v.object({ outcome: permissionOutcomeSchema });

const choice = v.object({ const: v.string(), title: v.string(), description: v.exactOptional(v.string()) });
const titled = { title: v.string(), description: v.exactOptional(v.string()) };
export const formPropertySchema = v.variant("type", [
	v.object({ type: v.literal("string"), ...titled, oneOf: v.exactOptional(v.array(choice)) }),
	v.object({ type: v.literal("array"), ...titled, items: v.object({ anyOf: v.array(choice) }) }),
]);
export type FormProperty = v.InferOutput<typeof formPropertySchema>;
export const elicitationRequestSchema = v.variant("mode", [
	v.object({
		mode: v.literal("form"),
		message: v.string(),
		sessionId,
		toolCallId: v.string(),
		requestedSchema: v.object({
			type: v.literal("object"),
			properties: v.record(v.string(), formPropertySchema),
		}),
	}),
	v.object({
		mode: v.literal("url"),
		message: v.string(),
		url: v.string(),
		elicitationId: v.string(),
		/** The request that waits for it. */
		requestId: v.union([v.string(), v.number()]),
	}),
]);
export const elicitationResultSchema = v.object({
	action: v.string(),
	content: v.optional(v.nullable(v.record(v.string(), v.unknown())), null),
});

export const readFileRequestSchema = v.object({ sessionId, path: v.string() });
export const readFileResultSchema = v.object({ content: v.string() });
export const writeFileRequestSchema = v.object({ sessionId, path: v.string(), content: v.string() });
export const writeFileResultSchema = v.nullish(v.record(v.string(), v.unknown()));
