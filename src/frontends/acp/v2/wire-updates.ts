import * as v from "valibot";
import { sentBlockSchema } from "../content.ts";
import * as first from "../wire-updates.ts";
import { configOptionSchema } from "./wire.ts";

const changeSchema = v.object({
	operation: v.picklist(["add", "modify"]),
	path: v.string(),
	fileType: v.literal("text"),
});
export const toolContentSchema = v.variant("type", [
	v.object({ type: v.literal("content"), content: sentBlockSchema }),
	v.object({
		type: v.literal("diff"),
		changes: v.array(changeSchema),
		patch: v.object({ format: v.literal("git_patch"), text: v.string() }),
	}),
	v.object({ type: v.literal("terminal"), terminalId: v.string() }),
]);
export type ToolContent = v.InferInput<typeof toolContentSchema>;

const { agentwire, contextCompaction } = first.callMetaSchema.entries;
export const callMetaSchema = v.object({ agentwire, contextCompaction });

const { _meta: _callMeta, content: _content, ...callEntries } = first.toolCallUpdateSchema.entries;
export const toolCallSchema = v.object({
	...callEntries,
	content: v.exactOptional(v.array(toolContentSchema)),
	_meta: v.exactOptional(callMetaSchema),
});
export type ToolCall = v.InferInput<typeof toolCallSchema>;

export const commandSchema = v.object({
	type: v.literal("command"),
	name: v.string(),
	description: v.string(),
	input: v.object({ type: v.literal("text"), hint: v.string() }),
});

const {
	tool_call: _toolCall,
	tool_call_update: _toolCallUpdate,
	plan: _plan,
	available_commands_update: _commands,
	current_mode_update: _mode,
	config_option_update: _options,
	...retained
} = first.updateSchemas;

export const updateSchemas = {
	...retained,
	tool_call_update: toolCallSchema,
	terminal_update: v.object({
		terminalId: v.string(),
		cwd: v.exactOptional(v.string()),
		exitStatus: v.exactOptional(v.object({ exitCode: v.nullable(v.number()), signal: v.nullable(v.string()) })),
	}),
	terminal_output_chunk: v.object({ terminalId: v.string(), data: v.string() }),
	plan_update: v.object({
		plan: v.object({ type: v.literal("items"), planId: v.string(), entries: v.array(first.planEntrySchema) }),
	}),
	available_commands_update: v.object({ availableCommands: v.array(commandSchema) }),
	config_option_update: v.object({ configOptions: v.array(configOptionSchema) }),
	state_update: v.object({
		state: v.picklist(["running", "requires_action", "idle"]),
		stopReason: v.exactOptional(
			v.picklist(["end_turn", "max_tokens", "max_turn_requests", "refusal", "cancelled", "error"]),
		),
		error: v.exactOptional(v.object({ code: v.number(), message: v.string(), data: v.optional(v.unknown()) })),
	}),
} as const;

export type DraftUpdate = {
	[N in keyof typeof updateSchemas]: { readonly sessionUpdate: N } & Readonly<v.InferInput<(typeof updateSchemas)[N]>>;
}[keyof typeof updateSchemas];

export const permissionRequestSchema = v.object({
	sessionId: v.string(),
	title: v.string(),
	description: v.exactOptional(v.string()),
	subject: v.object({ type: v.literal("tool_call"), toolCall: toolCallSchema }),
	options: v.array(first.permissionOptionSchema),
});
