// What the Codex SDK for TypeScript reads.
import * as v from "valibot";

const count = v.pipe(v.number(), v.integer(), v.minValue(0));
const runStatus = v.picklist(["in_progress", "completed", "failed"]);

/** `id` is unique within one run. */
const item = <T extends string, E extends v.ObjectEntries>(type: T, entries: E) =>
	v.object({ id: v.string(), type: v.literal(type), ...entries });

export const execChangeSchema = v.object({ path: v.string(), kind: v.picklist(["add", "delete", "update"]) });
export const execTodoSchema = v.object({ text: v.string(), completed: v.boolean() });
export const execToolResultSchema = v.object({
	content: v.array(v.record(v.string(), v.unknown())),
	structured_content: v.null(),
});

export const execItemSchema = v.variant("type", [
	item("agent_message", { text: v.string() }),
	item("reasoning", { text: v.string() }),
	item("command_execution", {
		command: v.string(),
		aggregated_output: v.string(),
		exit_code: v.exactOptional(v.number()),
		status: runStatus,
	}),
	item("file_change", { changes: v.array(execChangeSchema), status: v.picklist(["completed", "failed"]) }),
	item("mcp_tool_call", {
		server: v.string(),
		tool: v.string(),
		arguments: v.unknown(),
		result: v.exactOptional(execToolResultSchema),
		error: v.exactOptional(v.object({ message: v.string() })),
		status: runStatus,
	}),
	item("web_search", { query: v.string() }),
	item("todo_list", { items: v.array(execTodoSchema) }),
	item("error", { message: v.string() }),
]);
export type ExecItem = v.InferOutput<typeof execItemSchema>;

export const execUsageSchema = v.object({
	input_tokens: count,
	cached_input_tokens: count,
	cache_write_input_tokens: count,
	output_tokens: count,
	reasoning_output_tokens: count,
});
export type ExecUsage = v.InferOutput<typeof execUsageSchema>;

const errorEntries = { message: v.string() };

export const execEventSchemas = {
	"thread.started": v.object({ thread_id: v.string() }),
	"turn.started": v.object({}),
	"item.started": v.object({ item: execItemSchema }),
	"item.updated": v.object({ item: execItemSchema }),
	"item.completed": v.object({ item: execItemSchema }),
	"turn.completed": v.object({ usage: execUsageSchema }),
	"turn.failed": v.object({ error: v.object(errorEntries) }),
	error: v.object(errorEntries),
} as const;

type ExecEventType = keyof typeof execEventSchemas;
export type ExecEvent = {
	[T in ExecEventType]: { readonly type: T } & v.InferOutput<(typeof execEventSchemas)[T]>;
}[ExecEventType];
