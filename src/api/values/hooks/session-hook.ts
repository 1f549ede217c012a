// Session hooks: given when a session is created, and run in addition to the hooks in the settings.
import * as v from "valibot";
import { isRecord } from "../../../base/json.ts";

/** The points of a run, in order. */
export const sessionHookPoints = [
	"run_started",
	"pre_llm_request",
	"post_llm_response",
	"pre_tool_execution",
	"post_tool_execution",
	"turn_boundary",
	"run_completed",
	"run_failed",
] as const;
export const sessionHookPointSchema = v.picklist(sessionHookPoints);
export type SessionHookPoint = v.InferOutput<typeof sessionHookPointSchema>;

/** The points where a denial has an effect: it skips the call, withholds its result, or fails the run. */
export const denyingPoints: ReadonlySet<SessionHookPoint> = new Set([
	"pre_tool_execution",
	"post_tool_execution",
	"run_completed",
]);

/** Limits: hooks per session, and each hook's timeout in milliseconds. */
export const maximumHooks = 100;
export const longestHookTime = 600_000;

const text = v.string();
const textsByName = v.record(text, text);

/** A program that reads the input on stdin, or an HTTP request with it as the body. */
const runtimeSchema = v.variant("kind", [
	v.object({ kind: v.literal("command"), file: text, arguments: v.array(text), environment: textsByName }),
	v.object({ kind: v.literal("http"), url: text, method: text, headers: textsByName }),
]);

export const sessionHookSchema = v.object({
	/** Chosen by the client; not necessarily unique. */
	id: text,
	point: sessionHookPointSchema,
	/** Whether it runs in parallel with the run, which neither waits for it nor fails with it. */
	isBackground: v.boolean(),
	/** Lower runs first. */
	priority: v.number(),
	/** Milliseconds. */
	timeout: v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(longestHookTime)),
	/** Whether the run continues if the hook fails. */
	failsOpen: v.boolean(),
	runtime: runtimeSchema,
});
export type SessionHook = v.InferOutput<typeof sessionHookSchema>;

export const sessionHooksSchema = v.pipe(v.array(sessionHookSchema), v.maxLength(maximumHooks));

export const hookReasonCodes = [
	"policy_violation",
	"safety_violation",
	"schema_violation",
	"timeout",
	"runtime_error",
] as const;

/** Why a hook denied. */
export const hookDenialSchema = v.object({
	reason_code: v.picklist(hookReasonCodes),
	message: text,
	/** Further data from the hook. */
	payload: v.exactOptional(v.unknown()),
});
export type HookDenial = v.InferOutput<typeof hookDenialSchema>;

/** Why a hook gave no decision. */
export const hookFaultSchema = v.variant("reason_code", [
	v.object({ reason_code: v.literal("timeout"), timeout_ms: v.pipe(v.number(), v.integer()) }),
	v.object({ reason_code: v.literal("execution_failed"), message: text }),
	v.object({ reason_code: v.literal("observe_only_violation") }),
]);
export type HookFault = v.InferOutput<typeof hookFaultSchema>;

export const sessionHookVerdictSchema = v.variant("kind", [
	v.object({ kind: v.literal("completed") }),
	v.object({ kind: v.literal("denied"), denial: hookDenialSchema }),
	v.object({ kind: v.literal("failed"), fault: hookFaultSchema }),
]);
export type SessionHookVerdict = v.InferOutput<typeof sessionHookVerdictSchema>;

/** The data of a `hook-failed` error. */
const hookErrorSchema = v.object({
	hook_id: text,
	point: sessionHookPointSchema,
	/** Absent for a denial. */
	fault: v.exactOptional(hookFaultSchema),
	/** Absent for a failure. */
	denial: v.exactOptional(hookDenialSchema),
});
export type HookErrorData = v.InferOutput<typeof hookErrorSchema>;

/** Null for another error's data. */
export function readHookError(data: unknown): HookErrorData | null {
	const parsed = v.safeParse(hookErrorSchema, data);
	return parsed.success && isRecord(data) ? parsed.output : null;
}
