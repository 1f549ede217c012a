// The wire shapes of Meerkat RPC: method params and results, its requests to clients, and their results.
import * as v from "valibot";
import { contentPartSchema, displayBlockSchema } from "../../events/content.ts";
import { questionItemSchema } from "../../events/interaction.ts";
import { blocksOrTextSchema, imageBlockSchema } from "./blocks.ts";
import { configViewSchema } from "./configuration/config-view.ts";
import { toMilliseconds } from "./duration.ts";
import { errorNumbers } from "./errors.ts";
import { count, looseParams, nullish, params, plainObject, sessionId, unsigned } from "./schema.ts";
import { createFields, systemPromptSchema, turnFields } from "./turns/turn-fields.ts";
import { accountingSchema, terminalCauseSchema, terminalOutcomeSchema } from "./wire-events.ts";

export const toolDeclarationSchema = v.object({
	name: v.string(),
	description: v.optional(v.string(), ""),
	input_schema: v.optional(plainObject, () => ({ type: "object" })),
});

/** Requests that a client can declare to answer. */
export const requestMethods = ["approval/request", "question/request"] as const;
export type RequestMethod = (typeof requestMethods)[number];

/** Accepts any value; invalid members count as absent. */
export const initializeParamsSchema = v.fallback(
	v.object({
		/** The requests that this client answers; unknown names are ignored. */
		requests: v.fallback(
			v.optional(v.array(v.string()), () => []),
			() => [],
		),
		/** The client's own tools, called with `tool/execute`. */
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

/** Params that are ignored. */
export const anyParamsSchema = v.unknown();
export const sessionParamsSchema = params({ session_id: sessionId });
/** Whether the events of the run are sent; contract only. */
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
/** Limits that override those of the settings, one by one. */
export const budgetLimitsSchema = params({
	max_tokens: nullish(positive),
	/** Text such as `90s`, `1m 30s`, `500ms`, or milliseconds, or the contract's seconds with nanoseconds. */
	max_duration: nullish(
		v.union([
			positive,
			v.pipe(
				v.string(),
				v.check((text) => toMilliseconds(text) !== null, "a duration such as 30s, 500ms or 1h 30m is needed"),
			),
			v.pipe(
				v.object({ secs: count, nanos: v.pipe(count, v.maxValue(999_999_999)) }),
				v.check(({ secs, nanos }) => secs + nanos > 0, "a duration longer than nought is needed"),
			),
		]),
	),
	max_tool_calls: nullish(positive),
});
export type BudgetLimits = v.InferOutput<typeof budgetLimitsSchema>;

const environmentSchema = v.pipe(
	plainObject,
	v.record(
		v.pipe(v.string(), v.regex(/^[^=\0]+$/, "must be the name of a variable")),
		v.pipe(v.string(), v.regex(/^[^\0]*$/, "must have no NUL")),
	),
	v.maxEntries(1000),
);

const labelText = v.pipe(v.string(), v.maxLength(1000));
export const labelsSchema = v.pipe(
	plainObject,
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
	/** Disabled, there is none; contract only. */
	system_prompt: nullish(systemPromptSchema),
	...createFields,
	enable_builtins: nullish(v.boolean()),
	enable_shell: nullish(v.boolean()),
	/** Variables for the commands of the session, as long as this process lives; contract only. */
	shell_env: nullish(environmentSchema),
	/** Any words about the session, by key. */
	labels: nullish(labelsSchema),
	/** Budget of the whole session. */
	budget_limits: nullish(budgetLimitsSchema),
	/** Budget of each of its runs. */
	turn_budget_limits: nullish(budgetLimitsSchema),
	/** `deferred` creates the session without a turn. In the contract the prompt then precedes that of the first turn. */
	initial_turn: nullish(v.picklist(["run_immediately", "deferred"])),
});
/** In the envelope: the change is refused unless the configuration is of this generation. */
const expectedGeneration = { expected_generation: v.exactOptional(v.nullable(count)) };
/** The contract's clients put the value into an envelope; a bare one is accepted as well. */
export const configSetParamsSchema = v.pipe(
	plainObject,
	v.looseObject({ config: v.exactOptional(v.unknown()), ...expectedGeneration }),
);
export type ConfigSetParams = v.InferOutput<typeof configSetParamsSchema>;
export const configPatchParamsSchema = v.pipe(
	plainObject,
	v.looseObject({ patch: v.exactOptional(v.unknown()), ...expectedGeneration }),
);
export type ConfigPatchParams = v.InferOutput<typeof configPatchParamsSchema>;
/** Page of a list, in the contract's shapes. */
export const sessionListParamsSchema = v.fallback(
	v.object({
		limit: v.optional(v.pipe(count, v.minValue(1), v.maxValue(1000)), 100),
		offset: v.optional(count, 0),
		/** Only sessions with all of these. */
		labels: v.optional(v.nullable(labelsSchema), null),
	}),
	() => ({ limit: 100, offset: 0, labels: null }),
);
export type SessionListParams = v.InferOutput<typeof sessionListParamsSchema>;
export const sessionHistoryParamsSchema = params({
	session_id: sessionId,
	/** Messages to skip, from the first. */
	offset: v.optional(count, 0),
	/** The most messages to return; null for all. */
	limit: nullish(count),
});
export type SessionHistoryParams = v.InferOutput<typeof sessionHistoryParamsSchema>;
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
		/** Skills of the session. */
		total_count: count,
		failure_streak: v.literal(0),
		handshake_failed: v.literal(false),
	}),
	quarantined: v.pipe(v.array(v.string()), v.maxLength(0)),
});
export const requestUsageSchema = v.object({ ...usageSchema.entries, accounting: accountingSchema });
const extractionErrorSchema = v.object({ last_output: v.string(), attempts: count, reason: v.string() });

/** The result of `session/create` and `turn/start`. Counts are the run's, usage is the session's. */
export const runResultSchema = v.object({
	session_id: v.string(),
	...reference,
	text: v.string(),
	turns: count,
	tool_calls: count,
	usage: usageSchema,
	/** Of this run alone. Contract only. */
	run_usage: v.exactOptional(usageSchema),
	/** Of each model call that answered, in order. Contract only. */
	request_usage: v.exactOptional(v.array(requestUsageSchema)),
	/** The skills of the session. Contract only. */
	skill_diagnostics: v.exactOptional(skillDiagnosticsSchema),
	/** The last answer, where the session was created with a schema of it and it matches. Contract only. */
	structured_output: v.exactOptional(v.unknown()),
	/** Why there is none. Contract only. */
	extraction_error: v.exactOptional(extractionErrorSchema),
});
export type RunResult = v.InferOutput<typeof runResultSchema>;
/** The second when the first run was deferred. */
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
	status: v.union([
		v.literal("Available"),
		/** Not served, and why. */
		v.object({ DisabledByPolicy: v.object({ description: v.string() }) }),
	]),
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

/** A session in the first protocol. */
export const sessionStateSchema = v.object({ session_id: v.string(), state: v.picklist(["idle", "running"]) });
export type SessionState = v.InferOutput<typeof sessionStateSchema>;

const sessionNumbers = {
	session_id: v.string(),
	...reference,
	created_at: count,
	updated_at: count,
	message_count: count,
};
/** A session in a list of the current contract. */
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
/** A session that was read, in the current contract. */
export const sessionDetailsSchema = v.object({
	...sessionNumbers,
	is_active: v.boolean(),
	model: v.string(),
	provider: v.string(),
	/** Once there is an answer with text. */
	last_assistant_text: v.exactOptional(v.string()),
	/** What its model accepts and does; absent when the settings have it no more. */
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
/** The first in the contract. */
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

/** The configuration in the current contract. */
const configEnvelopeSchema = v.object({
	config: configViewSchema,
	generation: count,
	/** Of a server with a realm. */
	realm_id: v.exactOptional(v.string()),
	instance_id: v.exactOptional(v.string()),
	/** How sessions are stored there. */
	backend: v.exactOptional(v.picklist(["jsonl", "memory"])),
});
export const configResultSchema = v.union([configViewSchema, configEnvelopeSchema]);
export type ConfigResult = v.InferOutput<typeof configResultSchema>;
export const configSetResultSchema = v.union([v.object({ ok: v.literal(true) }), configEnvelopeSchema]);
export type ConfigSetResult = v.InferOutput<typeof configSetResultSchema>;

/** The models of one provider, in the order of the settings. */
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

/** What `error.data` holds. */
export const errorDataSchema = v.object({
	/** The session concerned. */
	session_id: v.exactOptional(v.string()),
	/** Of an exhausted budget. */
	budget: v.exactOptional(v.picklist(["tokens", "time", "tool_calls"])),
	scope: v.exactOptional(v.picklist(["session", "turn"])),
	used: v.exactOptional(v.number()),
	/** Of the exhausted budget, or of the exceeded limit. */
	limit: v.exactOptional(v.number()),
	/** What was sent before under the same key. */
	existing_id: v.exactOptional(v.string()),
	/** Of a run that failed. Contract only. */
	error: v.exactOptional(
		v.object({
			kind: terminalCauseSchema,
			outcome: terminalOutcomeSchema,
			/** As the message. */
			detail: v.string(),
			terminal: v.literal(true),
		}),
	),
	code: v.picklist(Object.keys(errorNumbers)),
});

/** ISO 8601. */
const created = { created_at: v.string() };
/** The run to which it belongs, and the input of that run; contract only, where it is known. */
const ofRun = { interaction_id: v.exactOptional(v.string()), run_id: v.exactOptional(v.string()) };
const textBlock = v.object({ type: v.literal("text"), text: v.string() });
const block = <T extends string, E extends v.ObjectEntries>(type: T, entries: E) =>
	v.object({ block_type: v.literal(type), data: v.object(entries) });

/** The kinds of message of `session/history`, and what some of them are made of. */
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
	...reference,
	/** Of the whole history. */
	message_count: count,
	offset: count,
	/** As requested. */
	limit: v.exactOptional(count),
	has_more: v.boolean(),
	messages: v.array(historyMessageSchema),
});
export type SessionHistory = v.InferOutput<typeof sessionHistoryResultSchema>;

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
/** Far more answers than there are questions. */
const maximumAnswers = 100;
/** Answers by question text; empty when nobody answered. */
export const questionResultSchema = v.object({
	answers: v.pipe(plainObject, v.maxEntries(maximumAnswers), v.record(v.string(), v.string())),
});

/** Params of `tool/execute`, a request to the client. */
export const toolExecuteSchema = v.object({
	session_id: v.string(),
	tool_use_id: v.string(),
	name: v.string(),
	arguments: v.unknown(),
	/** The same for a call that is asked for again. Contract only. */
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
/** What a client answers to `tool/execute`. */
export const toolResultSchema = v.object({
	content: v.union([v.string(), v.array(v.union([contentPartSchema, imageBlockSchema]))]),
	is_error: v.optional(v.boolean(), false),
});
