// Method params, results and events of Meerkat RPC as on the wire, and the results its clients give.
import * as v from "valibot";
import { isRecord } from "../../base/json.ts";
import { questionItemSchema } from "../../events/ask.ts";
import { contentPartSchema, displayBlockSchema } from "../../events/content.ts";
import { toSessionId } from "./session-id.ts";

const plainObject = v.custom<Record<string, unknown>>(isRecord, "an object is needed");
const nullish = <S extends v.GenericSchema>(schema: S) => v.optional(v.nullable(schema), null);
const count = v.pipe(v.number(), v.integer(), v.minValue(0));
const unsigned = v.pipe(count, v.maxValue(4_294_967_295));
/** Lists are taken for objects by the schemas of the library. */
const params = <E extends v.ObjectEntries>(entries: E) => v.pipe(plainObject, v.object(entries));

const sessionId = v.pipe(
	v.string(),
	v.check(
		(text) => toSessionId(text) !== null,
		({ input }) => `Invalid session_id: ${input}`,
	),
	v.transform((text) => toSessionId(text) ?? text),
);

const toolDeclaration = v.object({
	name: v.string(),
	description: v.optional(v.string(), ""),
	input_schema: v.optional(plainObject, () => ({ type: "object" })),
});

/** Requests that a client may say it answers. */
export const requestMethods = ["approval/request", "question/request"] as const;
export type RequestMethod = (typeof requestMethods)[number];

/** Any shape is taken; what does not fit is as good as absent. */
export const initializeParamsSchema = v.fallback(
	v.object({
		/** The requests this client answers; names unknown here are passed over. */
		requests: v.fallback(
			v.optional(v.array(v.string()), () => []),
			() => [],
		),
		/** The client's own tools, called with `tool/execute`. */
		tools: v.fallback(
			v.optional(v.array(toolDeclaration), () => []),
			() => [],
		),
	}),
	() => ({ requests: [], tools: [] }),
);
export const toolsRegisterParamsSchema = params({ tools: v.array(toolDeclaration) });
export type ToolDeclaration = v.InferOutput<typeof toolDeclaration>;

/** Params that are not looked at. */
export const anyParamsSchema = v.unknown();
export const sessionParamsSchema = params({ session_id: sessionId });
export const turnStartParamsSchema = params({ session_id: sessionId, prompt: v.string() });
export const sessionCreateParamsSchema = params({
	prompt: v.string(),
	model: nullish(v.string()),
	provider: nullish(v.string()),
	max_tokens: nullish(unsigned),
	system_prompt: nullish(v.string()),
	enable_builtins: nullish(v.boolean()),
	enable_shell: nullish(v.boolean()),
	/** `deferred` makes the session without a turn; the prompt then waits for nobody and is not used. */
	initial_turn: nullish(v.picklist(["run_immediately", "deferred"])),
});
/** Page of a list, in the contract's shapes. */
export const sessionListParamsSchema = v.fallback(
	v.object({
		limit: v.optional(v.pipe(count, v.minValue(1), v.maxValue(1000)), 100),
		offset: v.optional(count, 0),
	}),
	() => ({ limit: 100, offset: 0 }),
);
export type SessionCreateParams = v.InferOutput<typeof sessionCreateParamsSchema>;

export const usageSchema = v.object({
	input_tokens: count,
	output_tokens: count,
	cache_creation_tokens: v.optional(count),
	cache_read_tokens: v.optional(count),
	/** Contract only. */
	total_tokens: v.optional(count),
});

/** The result of `session/create` and `turn/start`. Counts are the run's, usage is the session's. */
export const runResultSchema = v.object({
	session_id: v.string(),
	text: v.string(),
	turns: count,
	tool_calls: count,
	usage: usageSchema,
});
export type RunResult = v.InferOutput<typeof runResultSchema>;

export const initializeResultSchema = v.object({
	server_info: v.object({ name: v.string(), version: v.string() }),
	contract_version: v.string(),
	methods: v.array(v.string()),
});

const eventUsage = v.object({
	input_tokens: count,
	output_tokens: count,
	cache_creation_tokens: v.nullable(count),
	cache_read_tokens: v.nullable(count),
});
const hookPlace = { hook_id: v.string(), point: v.string() };
const toolPlace = { id: v.string(), name: v.string() };
const textBlocks = v.array(v.object({ type: v.literal("text"), text: v.string() }));

/** What `session/event` carries. What is marked so is there in the contract's shapes alone. */
export const eventSchema = v.variant("type", [
	v.object({ type: v.literal("run_started"), session_id: v.string(), prompt: v.string() }),
	v.object({ type: v.literal("run_completed"), session_id: v.string(), result: v.string(), usage: eventUsage }),
	v.object({
		type: v.literal("run_failed"),
		session_id: v.string(),
		error: v.string(),
		/** Contract only. */
		error_class: v.optional(v.string()),
		/** Contract only. */
		error_report: v.optional(v.object({ class: v.string(), message: v.string() })),
	}),
	v.object({ type: v.literal("turn_started"), turn_number: count }),
	v.object({ type: v.literal("text_delta"), delta: v.string() }),
	v.object({ type: v.literal("text_complete"), content: v.string() }),
	/** Contract only. */
	v.object({ type: v.literal("reasoning_delta"), delta: v.string() }),
	v.object({ type: v.literal("turn_completed"), stop_reason: v.picklist(["end_turn", "tool_use"]), usage: eventUsage }),
	v.object({ type: v.literal("tool_call_requested"), ...toolPlace, args: v.unknown() }),
	v.object({ type: v.literal("tool_execution_started"), ...toolPlace }),
	v.object({
		type: v.literal("tool_execution_completed"),
		...toolPlace,
		result: v.string(),
		is_error: v.boolean(),
		duration_ms: count,
		/** Contract only. */
		content: v.optional(textBlocks),
	}),
	v.object({
		type: v.literal("tool_result_received"),
		...toolPlace,
		is_error: v.boolean(),
		/** Contract only. */
		content: v.optional(textBlocks),
	}),
	v.object({
		type: v.literal("retrying"),
		attempt: count,
		max_attempts: count,
		error: v.string(),
		delay_ms: count,
	}),
	v.object({
		type: v.literal("budget_warning"),
		budget_type: v.picklist(["tokens", "time", "tool_calls"]),
		/** Tokens, seconds or calls. */
		used: count,
		limit: count,
		percent: v.number(),
	}),
	v.object({ type: v.literal("hook_started"), ...hookPlace }),
	v.object({ type: v.literal("hook_completed"), ...hookPlace, duration_ms: count }),
	v.object({
		type: v.literal("hook_denied"),
		...hookPlace,
		reason_code: v.literal("policy_violation"),
		message: v.string(),
	}),
]);
export type MeerkatEvent = v.InferOutput<typeof eventSchema>;

/** Params of `approval/request`, a request to the client. */
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
/** Params of `question/request`, a request to the client. */
export const questionRequestSchema = v.object({
	session_id: v.string(),
	question_id: v.string(),
	tool_use_id: v.string(),
	questions: v.array(questionItemSchema),
});
/** Question text to answer; empty means that nobody answered. */
export const questionResultSchema = v.object({ answers: v.pipe(plainObject, v.record(v.string(), v.string())) });

/** Params of `tool/execute`, a request to the client. */
export const toolExecuteSchema = v.object({
	session_id: v.string(),
	tool_use_id: v.string(),
	name: v.string(),
	arguments: v.unknown(),
});
/** What a client answers to `tool/execute`. */
export const toolResultSchema = v.object({
	content: v.union([v.string(), v.array(contentPartSchema)]),
	is_error: v.optional(v.boolean(), false),
});
