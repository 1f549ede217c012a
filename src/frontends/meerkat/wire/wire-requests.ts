import * as v from "valibot";
import { contentPartSchema, displayBlockSchema } from "../../../api/values/content.ts";
import { questionItemSchema } from "../../../api/values/interaction.ts";
import { imageBlockSchema } from "./blocks.ts";
import { count, plainObject } from "./schema.ts";

export const approvalRequestSchema = v.object({
	session_id: v.string(),
	approval_id: v.string(),
	tool_use_id: v.string(),
	name: v.string(),
	action: v.string(),
	description: v.string(),
	display: v.array(displayBlockSchema),
	agent_id: v.nullable(v.string()),
});
export const approvalResultSchema = v.object({
	decision: v.picklist(["approve", "approve_for_session", "reject"]),
	feedback: v.optional(v.string(), ""),
});
export const questionRequestSchema = v.object({
	session_id: v.string(),
	question_id: v.string(),
	tool_use_id: v.string(),
	questions: v.array(questionItemSchema),
});
/** Far more answers than there are questions. */
const maximumAnswers = 100;
export const questionResultSchema = v.object({
	answers: v.pipe(plainObject, v.maxEntries(maximumAnswers), v.record(v.string(), v.string())),
});

export const toolExecuteSchema = v.object({
	session_id: v.string(),
	tool_use_id: v.string(),
	name: v.string(),
	arguments: v.unknown(),
	/** The same for a repeated call. Contract only. */
	dedupe_key: v.exactOptional(
		v.object({
			run_id: v.string(),
			/** The model call of the run, from 0. */
			round: count,
			call_id: v.string(),
			/** SHA-256 of the name and the arguments, in hexadecimal digits. */
			call_digest: v.string(),
		}),
	),
});
export const toolResultSchema = v.object({
	content: v.union([v.string(), v.array(v.union([contentPartSchema, imageBlockSchema]))]),
	is_error: v.optional(v.boolean(), false),
});
