import * as v from "valibot";

const integer = v.pipe(v.number(), v.integer());
const absentable = v.exactOptional;

export const runParamsSchema = v.union([
	v.pipe(
		v.looseObject({ input: v.string() }),
		v.transform(({ input }) => input),
	),
	v.pipe(
		v.looseObject({ prompt: v.string() }),
		v.transform(({ prompt }) => prompt),
	),
]);
export const anyParamsSchema = v.unknown();

export const runResultSchema = v.variant("status", [
	v.object({ status: v.picklist(["finished", "cancelled"]) }),
	v.object({ status: v.literal("max_steps_reached"), steps: integer }),
]);
export type RunResult = v.InferOutput<typeof runResultSchema>;

export const interruptResultSchema = v.object({ status: v.picklist(["ok", "idle"]) });
export type InterruptResult = v.InferOutput<typeof interruptResultSchema>;

export const approvalResultSchema = v.object({ response: v.picklist(["approve", "approve_for_session", "reject"]) });

const media = v.object({ url: v.string(), id: absentable(v.string()) });
export const partSchema = v.variant("type", [
	v.object({ type: v.literal("text"), text: v.string() }),
	v.object({ type: v.literal("think"), think: v.string(), encrypted: absentable(v.string()) }),
	v.object({ type: v.literal("image_url"), image_url: media }),
	v.object({ type: v.literal("audio_url"), audio_url: media }),
	v.object({ type: v.literal("video_url"), video_url: media }),
]);
export const toolResultSchema = v.object({
	output: v.union([v.string(), v.array(partSchema)]),
	message: v.string(),
	brief: v.string(),
});

/** Payloads by event type; null for an event without a payload. */
export const eventPayloads = {
	step_begin: v.object({ n: integer }),
	step_interrupted: null,
	compaction_begin: null,
	compaction_end: null,
	status_update: v.object({ context_usage: v.number() }),
	content_part: partSchema,
	tool_call: v.object({
		type: v.literal("function"),
		id: v.string(),
		function: v.object({ name: v.string(), arguments: absentable(v.string()) }),
		extras: absentable(v.record(v.string(), v.unknown())),
	}),
	tool_call_part: v.object({ arguments_part: absentable(v.string()) }),
	tool_result: v.object({ tool_call_id: v.string(), ok: v.boolean(), result: toolResultSchema }),
	subagent_event: v.object({
		task_tool_call_id: absentable(v.string()),
		event: v.object({ type: v.string(), payload: absentable(v.record(v.string(), v.unknown())) }),
	}),
};
export type LegacyEventType = keyof typeof eventPayloads;

export const approvalPayloadSchema = v.object({
	id: v.string(),
	tool_call_id: v.string(),
	sender: v.string(),
	action: v.string(),
	description: v.string(),
});

export interface LegacyEvent {
	readonly type: LegacyEventType;
	readonly payload?: object;
}
