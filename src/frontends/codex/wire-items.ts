import * as v from "valibot";

const item = <T extends string, E extends v.ObjectEntries>(type: T, entries: E) =>
	v.object({ type: v.literal(type), id: v.string(), ...entries });
const callStatus = v.picklist(["inProgress", "completed", "failed"]);
/** For items that may need approval. */
const actStatus = v.picklist(["inProgress", "completed", "failed", "declined"]);

export const changeSchema = v.object({
	path: v.string(),
	kind: v.object({ type: v.picklist(["add", "update"]) }),
	diff: v.string(),
});
export const contentItemSchema = v.variant("type", [
	v.object({ type: v.literal("inputText"), text: v.string() }),
	v.object({ type: v.literal("inputImage"), imageUrl: v.string() }),
]);
export const userContentSchema = v.variant("type", [
	v.object({ type: v.literal("text"), text: v.string() }),
	v.object({ type: v.literal("image"), url: v.string() }),
]);
export type UserContent = v.InferOutput<typeof userContentSchema>;
export const callResultSchema = v.object({ content: v.array(v.record(v.string(), v.unknown())) });

export const itemSchema = v.variant("type", [
	item("userMessage", { content: v.array(userContentSchema) }),
	item("agentMessage", { text: v.string() }),
	item("reasoning", { summary: v.array(v.string()), content: v.array(v.string()) }),
	item("commandExecution", {
		command: v.string(),
		cwd: v.string(),
		status: actStatus,
		commandActions: v.array(v.unknown()),
		aggregatedOutput: v.nullable(v.string()),
		exitCode: v.nullable(v.number()),
	}),
	item("fileChange", { changes: v.array(changeSchema), status: actStatus }),
	item("mcpToolCall", {
		server: v.string(),
		tool: v.string(),
		arguments: v.unknown(),
		status: callStatus,
		result: v.nullable(callResultSchema),
		error: v.nullable(v.object({ message: v.string() })),
	}),
	item("dynamicToolCall", {
		tool: v.string(),
		arguments: v.unknown(),
		status: callStatus,
		success: v.nullable(v.boolean()),
		contentItems: v.nullable(v.array(contentItemSchema)),
	}),
	item("webSearch", { query: v.string() }),
	item("contextCompaction", {}),
]);
export type Item = v.InferOutput<typeof itemSchema>;

export const turnErrorSchema = v.object({
	message: v.string(),
	codexErrorInfo: v.nullable(v.picklist(["contextWindowExceeded", "serverOverloaded", "badRequest", "other"])),
});
export type TurnErrorValue = v.InferOutput<typeof turnErrorSchema>;

export const turnSchema = v.object({
	id: v.string(),
	status: v.picklist(["inProgress", "completed", "interrupted", "failed"]),
	items: v.array(itemSchema),
	error: v.nullable(turnErrorSchema),
	startedAt: v.nullable(v.number()),
	completedAt: v.nullable(v.number()),
	durationMs: v.nullable(v.number()),
});
export type Turn = v.InferOutput<typeof turnSchema>;
