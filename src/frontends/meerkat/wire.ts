import * as v from "valibot";
import { errorNumbers } from "./errors.ts";
import { createFields, systemPromptSchema, turnFields } from "./turns/turn-fields.ts";
import { blocksOrTextSchema } from "./wire/blocks.ts";
import { toMilliseconds } from "./wire/duration.ts";
import { count, looseParams, namedObject, nullish, params, plainObject, sessionId, unsigned } from "./wire/schema.ts";
import { accountingSchema, hookPointSchema, terminalCauseSchema, terminalOutcomeSchema } from "./wire/wire-events.ts";
import { hooksOverrideSchema } from "./wire/wire-hooks.ts";

export const toolDeclarationSchema = v.object({
	name: v.string(),
	description: v.optional(v.string(), ""),
	input_schema: v.optional(plainObject, () => ({ type: "object" })),
});

export const requestMethods = ["approval/request", "question/request"] as const;
export type RequestMethod = (typeof requestMethods)[number];

/** Accepts any value; invalid members count as absent. */
export const initializeParamsSchema = v.fallback(
	v.object({
		requests: v.fallback(
			v.optional(v.array(v.string()), () => []),
			() => [],
		),
		tools: v.fallback(
			v.optional(v.array(toolDeclarationSchema), () => []),
			() => [],
		),
	}),
	() => ({ requests: [], tools: [] }),
);
export type InitializeParams = v.InferOutput<typeof initializeParamsSchema>;
export const toolsRegisterParamsSchema = params({ tools: v.array(toolDeclarationSchema) });
export type ToolDeclaration = v.InferOutput<typeof toolDeclarationSchema>;

export const anyParamsSchema = v.unknown();
export const sessionParamsSchema = params({ session_id: sessionId });
/** Whether the events of the run are sent. */
const sessionEvents = v.optional(v.nullable(v.boolean()), true);
export const turnStartParamsSchema = looseParams({
	session_id: sessionId,
	prompt: blocksOrTextSchema,
	/** From now on; contract only. */
	model: nullish(v.string()),
	provider: nullish(v.string()),
	session_events: sessionEvents,
	...turnFields,
});
export type TurnStartParams = v.InferOutput<typeof turnStartParamsSchema>;
const positive = v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(Number.MAX_SAFE_INTEGER));
export const budgetLimitsSchema = params({
	max_tokens: nullish(positive),
	/** Text such as `90s` or `1m 30s`, milliseconds, or the contract's seconds with nanoseconds. */
	max_duration: nullish(
		v.union([
			positive,
			v.pipe(
				v.string(),
				v.check((text) => toMilliseconds(text) !== null, "a duration such as 30s, 500ms or 1h 30m is needed"),
			),
			v.pipe(
				v.object({ secs: count, nanos: v.pipe(count, v.maxValue(999_999_999)) }),
				v.check(({ secs, nanos }) => secs + nanos > 0, "a duration longer than zero is needed"),
			),
		]),
	),
	max_tool_calls: nullish(positive),
});
export type BudgetLimits = v.InferOutput<typeof budgetLimitsSchema>;

const environmentSchema = v.pipe(
	namedObject,
	v.record(
		v.pipe(v.string(), v.regex(/^[^=\0]+$/, "must be the name of a variable")),
		v.pipe(v.string(), v.regex(/^[^\0]*$/, "must not contain a NUL character")),
	),
	v.maxEntries(1000),
);

const labelText = v.pipe(v.string(), v.maxLength(1000));
export const labelsSchema = v.pipe(
	namedObject,
	v.record(
		v.pipe(
			labelText,
			v.check((key) => !key.startsWith("meerkat."), "Labels whose keys begin with meerkat. are reserved"),
		),
		labelText,
	),
	v.maxEntries(64),
);
export type Labels = v.InferOutput<typeof labelsSchema>;

export const sessionCreateParamsSchema = looseParams({
	prompt: blocksOrTextSchema,
	session_events: sessionEvents,
	model: nullish(v.string()),
	provider: nullish(v.string()),
	max_tokens: nullish(unsigned),
	/** "disable" removes it; contract only. */
	system_prompt: nullish(systemPromptSchema),
	...createFields,
	/** Session hooks, in addition to those of the settings. */
	hooks_override: nullish(hooksOverrideSchema),
	enable_builtins: nullish(v.boolean()),
	enable_shell: nullish(v.boolean()),
	/** Environment variables for the session's commands, not stored; contract only. */
	shell_env: nullish(environmentSchema),
	/** Any words about the session, by key. */
	labels: nullish(labelsSchema),
	budget_limits: nullish(budgetLimitsSchema),
	turn_budget_limits: nullish(budgetLimitsSchema),
	/** `deferred` creates the session without a turn; the prompt then precedes that of the first turn. */
	initial_turn: nullish(v.picklist(["run_immediately", "deferred"])),
});
const longestList = 1000;
const farthestOffset = 1_000_000;
export const sessionListParamsSchema = v.nullish(
	params({
		limit: nullish(v.pipe(count, v.maxValue(longestList, `must be at most ${longestList}`))),
		offset: nullish(v.pipe(count, v.maxValue(farthestOffset, `must be at most ${farthestOffset}`))),
		labels: nullish(labelsSchema),
	}),
	() => ({ limit: null, offset: null, labels: null }),
);
export type SessionListParams = v.InferOutput<typeof sessionListParamsSchema>;
export type SessionCreateParams = v.InferOutput<typeof sessionCreateParamsSchema>;

export const usageSchema = v.object({
	input_tokens: count,
	output_tokens: count,
	cache_creation_tokens: v.exactOptional(count),
	cache_read_tokens: v.exactOptional(count),
	/** Contract only. */
	total_tokens: v.exactOptional(count),
});

/** `<realm>:<id>`; contract only. */
const reference = { session_ref: v.exactOptional(v.string()) };
const skillDiagnosticsSchema = v.object({
	source_health: v.object({
		state: v.literal("healthy"),
		invalid_ratio: v.literal(0),
		invalid_count: v.literal(0),
		total_count: count,
		failure_streak: v.literal(0),
		handshake_failed: v.literal(false),
	}),
	quarantined: v.pipe(v.array(v.string()), v.maxLength(0)),
});
export const requestUsageSchema = v.object({ ...usageSchema.entries, accounting: accountingSchema });
const extractionErrorSchema = v.object({ last_output: v.string(), attempts: count, reason: v.string() });

/** Counts are the run's, usage is the session's. */
export const runResultSchema = v.object({
	session_id: v.string(),
	...reference,
	text: v.string(),
	turns: count,
	tool_calls: count,
	usage: usageSchema,
	/** For this run only. Contract only. */
	run_usage: v.exactOptional(usageSchema),
	/** For each model call that answered, in order. Contract only. */
	request_usage: v.exactOptional(v.array(requestUsageSchema)),
	/** The skills of the session. Contract only. */
	skill_diagnostics: v.exactOptional(skillDiagnosticsSchema),
	/** The last answer if it matches the session's schema. Contract only. */
	structured_output: v.exactOptional(v.unknown()),
	/** Why there is none. Contract only. */
	extraction_error: v.exactOptional(extractionErrorSchema),
});
export type RunResult = v.InferOutput<typeof runResultSchema>;
/** The second if the first run was deferred. */
export const sessionCreateResultSchema = v.union([runResultSchema, v.object({ session_id: v.string(), ...reference })]);
export type SessionCreateResult = v.InferOutput<typeof sessionCreateResultSchema>;

export const initializeResultSchema = v.object({
	server_info: v.object({ name: v.string(), version: v.string() }),
	contract_version: v.string(),
	methods: v.array(v.string()),
});
export type InitializeResult = v.InferOutput<typeof initializeResultSchema>;
export const capabilitySchema = v.object({
	id: v.string(),
	description: v.string(),
	status: v.union([v.literal("Available"), v.object({ DisabledByPolicy: v.object({ description: v.string() }) })]),
});
export type Capability = v.InferOutput<typeof capabilitySchema>;
/** A text in the contracts before 0.9. */
const contractVersionSchema = v.union([v.string(), v.object({ major: count, minor: count, patch: count })]);
export const capabilitiesResultSchema = v.object({
	contract_version: contractVersionSchema,
	capabilities: v.array(capabilitySchema),
});
export type CapabilitiesResult = v.InferOutput<typeof capabilitiesResultSchema>;
export const toolsRegisterResultSchema = v.object({ registered: count });

export const sessionStateSchema = v.object({ session_id: v.string(), state: v.picklist(["idle", "running"]) });
export type SessionState = v.InferOutput<typeof sessionStateSchema>;

const sessionNumbers = {
	session_id: v.string(),
	...reference,
	created_at: count,
	updated_at: count,
	message_count: count,
};
export const sessionSummarySchema = v.object({
	...sessionNumbers,
	total_tokens: count,
	is_active: v.boolean(),
	labels: v.exactOptional(labelsSchema),
});
export type SessionSummary = v.InferOutput<typeof sessionSummarySchema>;
const resolvedCapabilitiesSchema = v.object({
	vision: v.boolean(),
	image_input: v.boolean(),
	image_tool_results: v.boolean(),
	inline_video: v.boolean(),
	realtime: v.literal(false),
	web_search: v.literal(false),
	/** Whether a later turn can change the system prompt. */
	mid_conversation_system_messages: v.boolean(),
	image_generation: v.literal(false),
});
export const sessionDetailsSchema = v.object({
	...sessionNumbers,
	is_active: v.boolean(),
	model: v.string(),
	provider: v.string(),
	/** Once there is an answer with text. */
	last_assistant_text: v.exactOptional(v.string()),
	/** Absent if the settings no longer have the model. */
	resolved_capabilities: v.exactOptional(resolvedCapabilitiesSchema),
	labels: v.exactOptional(labelsSchema),
});
export type SessionDetails = v.InferOutput<typeof sessionDetailsSchema>;

export const sessionListResultSchema = v.union([
	v.object({ sessions: v.array(sessionStateSchema) }),
	v.object({ sessions: v.array(sessionSummarySchema) }),
]);
export type SessionListResult = v.InferOutput<typeof sessionListResultSchema>;
export const sessionReadResultSchema = v.union([sessionStateSchema, sessionDetailsSchema]);
export type SessionReadResult = v.InferOutput<typeof sessionReadResultSchema>;
export const archiveResultSchema = v.object({ archived: v.literal(true) });
export type ArchiveResult = v.InferOutput<typeof archiveResultSchema>;
/** The first is for the contract. */
export const interruptResultSchema = v.union([
	v.object({
		session_id: v.string(),
		/** False for a session that was created without a run and has had none. */
		interrupted: v.boolean(),
		result: v.picklist(["interrupted", "staged_noop"]),
	}),
	v.object({ interrupted: v.literal(true) }),
]);
export type InterruptResult = v.InferOutput<typeof interruptResultSchema>;

export const catalogProviderSchema = v.object({
	provider: v.string(),
	/** The first one, unless the default model is another. */
	default_model_id: v.string(),
	models: v.array(
		v.object({ id: v.string(), display_name: v.string(), context_window: count, image_input: v.boolean() }),
	),
});
export const modelsCatalogResultSchema = v.object({
	contract_version: contractVersionSchema,
	providers: v.array(catalogProviderSchema),
});
export type ModelsCatalogResult = v.InferOutput<typeof modelsCatalogResultSchema>;

export const errorDataSchema = v.object({
	session_id: v.exactOptional(v.string()),
	budget: v.exactOptional(v.picklist(["tokens", "time", "tool_calls"])),
	scope: v.exactOptional(v.picklist(["session", "turn"])),
	used: v.exactOptional(v.number()),
	/** The limit of the exhausted budget, or the exceeded limit. */
	limit: v.exactOptional(v.number()),
	/** For the session hook that failed the run or denied its end. */
	hook_id: v.exactOptional(v.string()),
	point: v.exactOptional(hookPointSchema),
	/** The earlier input with the same key. */
	existing_id: v.exactOptional(v.string()),
	/** For a failed run. Contract only. */
	error: v.exactOptional(
		v.object({
			kind: terminalCauseSchema,
			outcome: terminalOutcomeSchema,
			detail: v.string(),
			terminal: v.literal(true),
		}),
	),
	code: v.picklist(Object.keys(errorNumbers)),
});
