import * as v from "valibot";
import { hookDenialSchema, hookFaultSchema, sessionHookPointSchema } from "../../../api/values/hooks/session-hook.ts";
import { isRecord } from "../../../base/json.ts";
import { blocksOrTextSchema } from "./blocks.ts";
import { skillKeySchema } from "./wire-skills.ts";

const text = v.string();
const count = v.pipe(v.number(), v.integer(), v.minValue(0));
const plainObject = v.custom<Record<string, unknown>>(isRecord, "an object is needed");

export const eventUsageSchema = v.object({
	input_tokens: count,
	output_tokens: count,
	cache_creation_tokens: v.nullable(count),
	cache_read_tokens: v.nullable(count),
});
export const hookPointSchema = sessionHookPointSchema;
export type HookPoint = v.InferOutput<typeof hookPointSchema>;

const place = { id: text, name: text };
const hookPlace = { hook_id: text, point: hookPointSchema };

function event<T extends string, E extends v.ObjectEntries>(type: T, entries: E) {
	return v.object({ type: v.literal(type), ...entries });
}

/** In the order of a run. */
export const seedEvents = {
	run_started: event("run_started", { session_id: text, prompt: text }),
	turn_started: event("turn_started", { turn_number: count }),
	text_delta: event("text_delta", { delta: text }),
	retrying: event("retrying", { attempt: count, max_attempts: count, error: text, delay_ms: count }),
	text_complete: event("text_complete", { content: text }),
	tool_call_requested: event("tool_call_requested", { ...place, args: v.unknown() }),
	tool_execution_started: event("tool_execution_started", place),
	tool_execution_completed: event("tool_execution_completed", {
		...place,
		result: text,
		is_error: v.boolean(),
		duration_ms: count,
	}),
	tool_result_received: event("tool_result_received", { ...place, is_error: v.boolean() }),
	turn_completed: event("turn_completed", {
		stop_reason: v.picklist(["end_turn", "tool_use", "max_tokens"]),
		usage: eventUsageSchema,
	}),
	hook_started: event("hook_started", hookPlace),
	hook_completed: event("hook_completed", { ...hookPlace, duration_ms: count }),
	hook_failed: event("hook_failed", { ...hookPlace, error: text }),
	hook_denied: event("hook_denied", { ...hookPlace, ...hookDenialSchema.entries }),
	budget_warning: event("budget_warning", {
		budget_type: v.picklist(["tokens", "time", "tool_calls"]),
		used: count,
		limit: count,
		percent: v.number(),
	}),
	run_completed: event("run_completed", { session_id: text, result: text, usage: eventUsageSchema }),
	run_failed: event("run_failed", { session_id: text, error: text }),
};

const content = v.array(v.object({ type: v.literal("text"), text }));

/** Absent in events of a turn without an id. */
const identity = {
	identity: v.exactOptional(
		v.object({
			run_id: text,
			/** The prompt that began the run; external events have none. */
			interaction_id: v.exactOptional(text),
			turn_input: v.exactOptional(v.literal("typed_text")),
		}),
	),
};
export const accountingSchema = v.object({
	provider: text,
	model: text,
	presented_tokens: count,
	convention: text,
	aggregation: v.literal("sum_disjoint_provider_components"),
});
export type Accounting = v.InferOutput<typeof accountingSchema>;
export const countedUsageSchema = v.object({
	...eventUsageSchema.entries,
	accounting: v.exactOptional(accountingSchema),
});
const answer = { assistant_message_id: v.exactOptional(text) };
/** Also used when a person cancelled the run. */
export const errorClassSchema = v.picklist(["llm", "hook", "budget", "cancelled", "internal"]);
export type ErrorClass = v.InferOutput<typeof errorClassSchema>;
export const terminalCauseSchema = v.picklist([
	"llm_failure",
	"retry_exhausted",
	"hook_failure",
	"hook_denied",
	"budget_exhausted",
	"time_budget_exceeded",
	"runtime_apply_failure",
	"fatal_failure",
]);
export type TerminalCause = v.InferOutput<typeof terminalCauseSchema>;
export const terminalOutcomeSchema = v.picklist(["failed", "budget_exhausted", "time_budget_exceeded"]);

export const contractMembers = {
	run_started: { input: v.object({ kind: v.literal("content"), content: blocksOrTextSchema }), ...identity },
	turn_started: answer,
	text_delta: answer,
	retrying: {
		retry: v.object({
			failure: v.object({
				provider: text,
				kind: v.picklist(["retryable_provider_error", "rate_limited"]),
				message: text,
			}),
			plan: v.object({
				attempt: count,
				max_retries: count,
				computed_delay_ms: count,
				selected_delay_ms: count,
				/** Always false: rate limits do not lengthen waits unless the provider gives a delay. */
				rate_limit_floor_applied: v.literal(false),
				/** Always false: budgets do not shorten waits. */
				budget_capped: v.literal(false),
			}),
		}),
		...answer,
	},
	hook_failed: { reason: hookFaultSchema },
	text_complete: answer,
	turn_completed: { usage: countedUsageSchema, ...answer },
	/** `extraction_required` announces schema output. */
	run_completed: { extraction_required: v.boolean(), ...identity, ...answer },
	tool_execution_completed: { content },
	tool_result_received: { content },
	run_failed: {
		error_class: errorClassSchema,
		error_report: v.object({
			class: errorClassSchema,
			message: text,
			reason: v.exactOptional(
				v.variant("reason_type", [
					v.object({
						reason_type: v.literal("turn_terminal_cause"),
						outcome: terminalOutcomeSchema,
						cause_kind: terminalCauseSchema,
					}),
					v.object({ reason_type: v.literal("hook_execution_failed"), hook_id: text, reason: text }),
					v.object({ reason_type: v.literal("hook_timeout"), hook_id: text, timeout_ms: count }),
					v.object({
						reason_type: v.literal("hook_denied"),
						hook_id: text,
						point: hookPointSchema,
						...hookDenialSchema.entries,
					}),
				]),
			),
		}),
		/** Absent, like the reason, for a run that a person cancelled. */
		terminal_cause_kind: v.exactOptional(terminalCauseSchema),
		...identity,
	},
};

export const contractEvents = {
	...seedEvents,
	run_started: v.object({ ...seedEvents.run_started.entries, ...contractMembers.run_started }),
	turn_started: v.object({ ...seedEvents.turn_started.entries, ...contractMembers.turn_started }),
	reasoning_delta: event("reasoning_delta", { delta: text, ...answer }),
	/** After the end of the run: its output in the session's schema. */
	extraction_succeeded: event("extraction_succeeded", {
		session_id: text,
		structured_output: v.unknown(),
		origin: v.picklist(["final_reply", "extraction"]),
	}),
	extraction_failed: event("extraction_failed", {
		session_id: text,
		last_output: text,
		attempts: count,
		reason: text,
		request_usage: v.array(countedUsageSchema),
	}),
	/** Before a run: the chosen skills, as the model gets them. */
	skills_resolved: event("skills_resolved", { skills: v.array(skillKeySchema), injection_bytes: count }),
	/** Before a run: a preloaded skill that does not exist. */
	skill_resolution_failed: event("skill_resolution_failed", {
		skill_key: skillKeySchema,
		reason: v.object({ reason_type: v.literal("not_found"), key: skillKeySchema }),
	}),
	/** A server change: pending before the run in which it takes effect, and its outcome within that run. */
	tool_config_changed: event("tool_config_changed", {
		payload: v.object({
			operation: v.picklist(["add", "reload"]),
			target: text,
			status_info: v.object({
				kind: v.literal("external_tool_delta"),
				phase: v.picklist(["pending", "applied", "failed"]),
			}),
			settled: v.boolean(),
		}),
	}),
	/** All reasoning of an answer, before its text. */
	reasoning_complete: event("reasoning_complete", { content: text, ...answer }),
	hook_failed: v.object({ ...seedEvents.hook_failed.entries, ...contractMembers.hook_failed }),
	text_delta: v.object({ ...seedEvents.text_delta.entries, ...contractMembers.text_delta }),
	retrying: v.object({ ...seedEvents.retrying.entries, ...contractMembers.retrying }),
	text_complete: v.object({ ...seedEvents.text_complete.entries, ...contractMembers.text_complete }),
	tool_call_requested: event("tool_call_requested", { ...place, args: plainObject }),
	tool_execution_completed: v.object({
		...seedEvents.tool_execution_completed.entries,
		...contractMembers.tool_execution_completed,
	}),
	tool_result_received: v.object({
		...seedEvents.tool_result_received.entries,
		...contractMembers.tool_result_received,
	}),
	turn_completed: v.object({ ...seedEvents.turn_completed.entries, ...contractMembers.turn_completed }),
	run_completed: v.object({ ...seedEvents.run_completed.entries, ...contractMembers.run_completed }),
	run_failed: v.object({ ...seedEvents.run_failed.entries, ...contractMembers.run_failed }),
};

type Delivered<Events extends Readonly<Record<string, v.GenericSchema>>> = v.InferOutput<Events[keyof Events]>;
export type SeedEvent = Delivered<typeof seedEvents>;
export type ContractEvent = Delivered<typeof contractEvents>;

type Requested = { readonly type: "tool_call_requested" };
export type MeerkatEvent = Exclude<ContractEvent, Requested> | Extract<SeedEvent, Requested>;

export const eventEnvelopeSchema = v.object({
	/** In lower case with hyphens, as clients require. */
	event_id: v.pipe(text, v.regex(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/)),
	source: v.object({ type: v.literal("session"), session_id: text }),
	/** Counts the events of a session. */
	seq: count,
	timestamp_ms: count,
	payload: plainObject,
});
export type EventEnvelope = v.InferOutput<typeof eventEnvelopeSchema> & { readonly payload: ContractEvent };
