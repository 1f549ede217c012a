import * as v from "valibot";
import { isNestedWithin } from "../../../base/json.ts";
import { blockSchema, textBlockSchema } from "./blocks.ts";
import { nullish, params, sessionId } from "./schema.ts";

/** Longer ones are rejected: they are stored with each session. */
const key = v.pipe(
	v.string(),
	v.check(
		(text) => text.trim() === text && text !== "" && Buffer.byteLength(text) <= 256,
		"must be a text without blanks around it, of at most 256 bytes",
	),
);

export const injectContextParamsSchema = params({
	session_id: sessionId,
	content: textBlockSchema,
	source: nullish(v.pipe(v.string(), v.maxLength(256))),
	idempotency_key: nullish(key),
});
export type InjectContextParams = v.InferOutput<typeof injectContextParamsSchema>;
export const injectContextResultSchema = v.object({ status: v.picklist(["applied", "duplicate"]) });
export type InjectContextResult = v.InferOutput<typeof injectContextResultSchema>;

/** Maximum nesting of a payload, which the model gets as indented text. */
const deepestPayload = 100;

export const externalEventParamsSchema = params({
	session_id: sessionId,
	kind: v.literal("generic_json", "must be generic_json: there are no other agents whose responses could be named"),
	event_type: v.pipe(v.string(), v.minLength(1), v.maxLength(256)),
	payload: v.pipe(
		v.unknown(),
		v.check((value) => isNestedWithin(value, deepestPayload), `must nest at most ${deepestPayload} levels`),
	),
	blocks: nullish(v.pipe(v.array(blockSchema, "must be a list of blocks"), v.maxLength(1000))),
	idempotency_key: nullish(key),
});
export type ExternalEventParams = v.InferOutput<typeof externalEventParamsSchema>;

const inputStateSchema = v.object({
	input_id: v.string(),
	current_state: v.literal("queued"),
	attempt_count: v.literal(0),
	recovery_count: v.literal(0),
	history: v.array(
		v.object({
			timestamp: v.string(),
			from: v.literal("accepted"),
			to: v.literal("queued"),
			reason: v.literal("QueueAccepted"),
		}),
	),
	created_at: v.string(),
	updated_at: v.string(),
});
export const externalEventResultSchema = v.union([
	v.object({ outcome_type: v.literal("accepted"), input_id: v.string(), state: inputStateSchema }),
	v.object({ outcome_type: v.literal("deduplicated"), input_id: v.string(), existing_id: v.string() }),
]);
export type ExternalEventResult = v.InferOutput<typeof externalEventResultSchema>;
