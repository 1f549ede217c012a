import * as v from "valibot";
import { count, nullish, params, plainObject, sessionId } from "./schema.ts";

export const sessionHistoryParamsSchema = params({
	session_id: sessionId,
	offset: nullish(count),
	/** Null for all in the first protocol, for 100 (at most 1000) in the contract. */
	limit: nullish(count),
});
export type SessionHistoryParams = v.InferOutput<typeof sessionHistoryParamsSchema>;

/** ISO 8601. */
const created = { created_at: v.string() };
const ofRun = { interaction_id: v.exactOptional(v.string()), run_id: v.exactOptional(v.string()) };
const textBlock = v.object({ type: v.literal("text"), text: v.string() });
const block = <T extends string, E extends v.ObjectEntries>(type: T, entries: E) =>
	v.object({ block_type: v.literal(type), data: v.object(entries) });

export const textAnswerSchema = block("text", { text: v.string() });
export const reasoningAnswerSchema = block("reasoning", { text: v.string() });
export const toolUseAnswerSchema = block("tool_use", { id: v.string(), name: v.string(), args: plainObject });
export const toolOutcomeSchema = v.object({ tool_use_id: v.string(), content: v.string(), is_error: v.boolean() });
export const systemMessageSchema = v.object({ role: v.literal("system"), ...created, content: v.string() });
export const userMessageSchema = v.object({
	role: v.literal("user"),
	...created,
	...ofRun,
	content: v.union([v.string(), v.array(textBlock)]),
});
export const assistantMessageSchema = v.object({
	role: v.literal("block_assistant"),
	...created,
	...ofRun,
	blocks: v.array(v.variant("block_type", [textAnswerSchema, reasoningAnswerSchema, toolUseAnswerSchema])),
	stop_reason: v.picklist(["end_turn", "tool_use"]),
	/** Contract only. */
	assistant_message_id: v.exactOptional(v.string()),
});
export const resultsMessageSchema = v.object({
	role: v.literal("tool_results"),
	...created,
	...ofRun,
	results: v.array(toolOutcomeSchema),
});
export const historyMessageSchema = v.variant("role", [
	systemMessageSchema,
	userMessageSchema,
	assistantMessageSchema,
	resultsMessageSchema,
]);
export type HistoryMessage = v.InferOutput<typeof historyMessageSchema>;
export const sessionHistoryResultSchema = v.object({
	session_id: v.string(),
	/** `<realm>:<id>`; contract only. */
	session_ref: v.exactOptional(v.string()),
	message_count: count,
	offset: count,
	limit: v.exactOptional(count),
	has_more: v.boolean(),
	messages: v.array(historyMessageSchema),
});
export type SessionHistory = v.InferOutput<typeof sessionHistoryResultSchema>;
