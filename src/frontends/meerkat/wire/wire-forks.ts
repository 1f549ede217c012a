import * as v from "valibot";
import { blockSchema, blocksOrTextSchema, textBlockSchema } from "./blocks.ts";
import { count, nullish, sessionId, strictParams } from "./schema.ts";

const answerTextSchema = v.object({ block_type: v.literal("text"), data: v.object({ text: v.string() }) });

const source = {
	session_id: sessionId,
	message_index: count,
	/** The only behavior for a session with a running turn. */
	running_behavior: nullish(v.literal("reject")),
	tool_access_policy: v.exactOptional(v.null("has no effect here: leave it out")),
};
export const forkAtParamsSchema = strictParams(source);

const messageReplacementSchema = v.object({
	type: v.literal("message"),
	message: v.variant(
		"role",
		[
			v.object({ role: v.literal("user"), content: blocksOrTextSchema }),
			v.object({ role: v.literal("block_assistant"), blocks: v.pipe(v.array(answerTextSchema), v.minLength(1)) }),
		],
		"must be a message with the role user or block_assistant",
	),
});
const userBlockReplacementSchema = v.object({
	type: v.literal("user_content_block"),
	block_index: count,
	block: blockSchema,
});
const answerBlockReplacementSchema = v.object({
	type: v.literal("assistant_block"),
	block_index: count,
	block: v.union([answerTextSchema, textBlockSchema], "must be a block of text"),
});
export const replacementSchema = v.variant(
	"type",
	[messageReplacementSchema, userBlockReplacementSchema, answerBlockReplacementSchema],
	"must have the type message, user_content_block or assistant_block: results of tools cannot be replaced",
);
export type Replacement = v.InferOutput<typeof replacementSchema>;
export const forkReplaceParamsSchema = strictParams({ ...source, replacement: replacementSchema });

export const forkResultSchema = v.object({
	source_session_id: v.string(),
	session_id: v.string(),
	/** `<realm>:<id>`; contract only. */
	session_ref: v.exactOptional(v.string()),
	/** The fork's messages, as `session/history` counts them. */
	message_count: count,
	/** The provider's cache of it is unknown. */
	cache_inheritance: v.object({
		status: v.literal("unavailable"),
		message_count: count,
		reason: v.literal("target_lowering_unavailable"),
	}),
});
export type ForkResult = v.InferOutput<typeof forkResultSchema>;
