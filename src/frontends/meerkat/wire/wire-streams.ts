import * as v from "valibot";
import { nullish, sessionId, strictParams } from "./schema.ts";

const uuid = v.pipe(v.string(), v.regex(/^[0-9a-fA-F-]{36}$/, "must be a UUID"));
export const streamOpenParamsSchema = strictParams({ session_id: sessionId });
export const streamCloseParamsSchema = strictParams({ stream_id: v.string() });
export const streamOpenResultSchema = v.object({ stream_id: uuid, session_id: v.string(), opened: v.literal(true) });
export type StreamOpenResult = v.InferOutput<typeof streamOpenResultSchema>;
export const streamCloseResultSchema = v.object({
	stream_id: v.string(),
	closed: v.literal(true),
	already_closed: v.boolean(),
});
export type StreamCloseResult = v.InferOutput<typeof streamCloseResultSchema>;
export const streamEndSchema = v.object({
	stream_id: uuid,
	session_id: v.string(),
	ended: v.literal(true),
	outcome: v.picklist(["explicit_close", "remote_end"]),
});
export type StreamEnd = v.InferOutput<typeof streamEndSchema>;

export const stopRunParamsSchema = strictParams({
	session_id: sessionId,
	run_id: v.string(),
	reason: nullish(v.string()),
});
export type StopRunParams = v.InferOutput<typeof stopRunParamsSchema>;
export const stopRunResultSchema = v.object({
	session_id: v.string(),
	receipt: v.object({
		/** `not_current` if this run is not running. */
		outcome: v.picklist(["stopped", "not_current"]),
		run_id: v.string(),
		/** The run's input; absent if it is not running. */
		contributors: v.exactOptional(
			v.array(v.object({ input_id: v.string(), completion: v.literal("cancelled"), terminal: v.literal("cancelled") })),
		),
	}),
});
export type StopRunResult = v.InferOutput<typeof stopRunResultSchema>;
