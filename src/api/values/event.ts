// Every event that the kernel emits, declared once: schema, class and one sentence.
//
// Classes: `durable` events are in the session's journal before they are delivered, and from them alone a front end can
// rebuild what it sent; `volatile` events are deltas, progress and notices, delivered once. Consecutive mergeable deltas
// are followed by their durable form.
import * as v from "valibot";
import { kernelErrorCodes } from "../../base/errors.ts";
import { isRecord } from "../../base/json.ts";
import { createSchemaReader } from "../../base/schema-reader.ts";
import { contentPartSchema, tokenUsageSchema, toolCallSchema, toolReturnSchema, userInputSchema } from "./content.ts";
import { sessionHookPointSchema, sessionHookVerdictSchema } from "./hooks/session-hook.ts";
import { answerSchema, interactionSchema, settledBySchema } from "./interaction.ts";
import { sessionModes } from "./session-mode.ts";
import { subjectSchema } from "./subject.ts";
import { formedAnswerSchema } from "./turn-options.ts";

export type EventClass = "durable" | "volatile";

interface EventDeclaration<S extends v.ObjectEntries> {
	readonly class: EventClass;
	readonly doc: string;
	readonly schema: v.ObjectSchema<S, undefined>;
}

function declareEvent<S extends v.ObjectEntries>(eventClass: EventClass, doc: string, entries: S): EventDeclaration<S> {
	return { class: eventClass, doc, schema: v.object(entries) };
}

const integer = v.pipe(v.number(), v.integer());
const amount = v.pipe(v.number(), v.minValue(0));
/** Where the text of a delta begins in the item it belongs to, in UTF-16 units: a reader recognizes duplicates and gaps by it. */
const offset = v.exactOptional(v.pipe(v.number(), v.integer(), v.minValue(0)));
const nullable = <S extends v.GenericSchema>(schema: S) => v.optional(v.nullable(schema), null);

/**
 * How a turn ended. `finished` may say what stopped it before the model was done: a person's refusal, or the guard
 * against repeated calls. `truncated`: the last answer reached a token limit; `reason` is the provider's word for it,
 * such as `max_tokens`. `max-steps` names the limit (the steps of a turn, the nodes of a skill's flow, or the
 * repetitions of a prompt) and the total of steps. `failed` has a kernel error code and its text.
 */
export const turnOutcomeSchema = v.variant("status", [
	v.object({
		status: v.literal("finished"),
		stoppedBy: v.optional(v.picklist(["refusal", "repetition"])),
		/** For a turn whose last answer must match a schema. */
		formed: v.exactOptional(formedAnswerSchema),
	}),
	v.object({ status: v.literal("truncated"), reason: v.string() }),
	v.object({ status: v.literal("cancelled") }),
	v.object({ status: v.literal("max-steps"), limit: v.picklist(["steps", "flow", "loop"]), steps: integer }),
	v.object({
		status: v.literal("failed"),
		error: v.object({
			code: v.picklist(kernelErrorCodes),
			message: v.string(),
			/** Passed to the client unchanged. */
			data: v.unknown(),
			/** Whether a retry of the turn may succeed; absent where it cannot. */
			retryable: v.exactOptional(v.boolean()),
			/** The provider will not answer this prompt. */
			isRefused: v.exactOptional(v.literal(true)),
		}),
	}),
]);
export type TurnOutcome = v.InferOutput<typeof turnOutcomeSchema>;
/** Why a turn failed: a kernel error as data. */
export type TurnError = Extract<TurnOutcome, { status: "failed" }>["error"];

/** Names a hook that its session was created with. */
const hookPlace = {
	id: v.string(),
	point: sessionHookPointSchema,
	/** The call that it is about; absent at the other points. */
	toolCallId: v.exactOptional(v.string()),
};

/** The kinds of budgets: tokens and tool calls are counts, time is in seconds. */
export const budgetKinds = ["tokens", "time", "tool-calls"] as const;
export type BudgetKind = (typeof budgetKinds)[number];

export const mcpServerStatusSchema = v.object({
	name: v.string(),
	status: v.picklist(["pending", "connecting", "connected", "failed", "unauthorized"]),
	tools: v.array(v.string()),
});
export const mcpStatusSchema = v.object({
	loading: v.boolean(),
	connected: integer,
	total: integer,
	tools: integer,
	servers: v.array(mcpServerStatusSchema),
});
/** The status of a session's tool servers. */
export type McpStatus = v.InferOutput<typeof mcpStatusSchema>;

const clientFields = { clientId: v.string(), name: v.nullable(v.string()), version: v.nullable(v.string()) };

export const eventDeclarations = {
	"turn.started": declareEvent(
		"durable",
		"A turn begins; the first event of the turn. Started with a key, it is the one turn of the session with that key. `trace` is the trace context of what started it (`traceparent`). `enters_context` is there when the model gets the input as it is: neither a hook, nor a command, nor the model itself is in the way.",
		{
			input: userInputSchema,
			key: v.exactOptional(v.string()),
			trace: v.exactOptional(v.string()),
			enters_context: v.exactOptional(v.literal(true)),
		},
	),
	"turn.ended": declareEvent(
		"durable",
		"A turn is over; its last event. The outcome is null when read from a log, and for a turn within a turn.",
		{
			outcome: v.nullable(turnOutcomeSchema),
		},
	),
	"step.started": declareEvent("durable", "One model call with its tools begins; `n` counts from 1 in each turn.", {
		n: integer,
	}),
	"step.interrupted": declareEvent("durable", "A step did not complete.", {
		reason: v.picklist(["error", "cancelled"]),
	}),
	"step.retrying": declareEvent("durable", "The model call failed and is retried after `wait_s` seconds.", {
		n: integer,
		next_attempt: integer,
		max_attempts: integer,
		wait_s: v.number(),
		error_type: v.string(),
		status_code: nullable(integer),
		/** For people, on one line, such as `HTTP 529: overloaded`; absent in records of earlier versions. */
		reason: v.exactOptional(v.string()),
	}),
	"compaction.started": declareEvent("durable", "The context is being summarized.", {}),
	"compaction.ended": declareEvent("durable", "The summarizing ended, successfully or not.", {}),
	"mcp.loading-started": declareEvent("durable", "The turn waits for tool servers that still connect.", {}),
	"mcp.loading-ended": declareEvent("durable", "The wait for tool servers is over.", {}),
	"status.changed": declareEvent("durable", "Token counts, plan mode or tool servers changed; null means unchanged.", {
		context_usage: nullable(v.number()),
		context_tokens: nullable(integer),
		max_context_tokens: nullable(integer),
		token_usage: nullable(tokenUsageSchema),
		message_id: nullable(v.string()),
		plan_mode: nullable(v.boolean()),
		mcp_status: nullable(mcpStatusSchema),
		/** After an answer that reached a token limit: the provider's word for it. Absent otherwise. */
		truncated: v.exactOptional(v.string()),
	}),
	"usage.counted": declareEvent("durable", "What the session has consumed since its beginning; emitted with budgets.", {
		tokens: amount,
		milliseconds: amount,
		tool_calls: amount,
	}),
	"budget.warning": declareEvent(
		"durable",
		"A budget of the session or the turn is nearly exhausted; emitted once for each.",
		{
			budget: v.picklist(budgetKinds),
			scope: v.picklist(["session", "turn"]),
			used: v.number(),
			limit: v.number(),
		},
	),
	"notification.raised": declareEvent(
		"durable",
		"A background task ended, the model is slow to answer, or something that happened elsewhere was added.",
		{
			id: v.string(),
			category: v.string(),
			notification_type: v.string(),
			source_kind: v.string(),
			source_id: v.string(),
			title: v.string(),
			body: v.string(),
			severity: v.string(),
			created_at: v.number(),
			payload: v.record(v.string(), v.unknown()),
		},
	),
	"content.delta": declareEvent("volatile", "A streamed fragment of what the model says, or text of a command.", {
		part: contentPartSchema,
		offset,
	}),
	"content.completed": declareEvent("durable", "Consecutive fragments, merged.", { part: contentPartSchema }),
	"tool-call.started": declareEvent("volatile", "The model begins a tool call; its arguments may be incomplete.", {
		call: toolCallSchema,
	}),
	"tool-call.delta": declareEvent("volatile", "More argument text of the most recent tool call.", {
		arguments_part: nullable(v.string()),
		offset,
	}),
	"tool.requested": declareEvent("durable", "The model requests a tool call; its arguments are complete.", {
		call: toolCallSchema,
	}),
	"tool-call.fragment": declareEvent("durable", "Argument text that belonged to no tool call, merged.", {
		arguments_part: nullable(v.string()),
	}),
	"permission.decided": declareEvent("durable", "A tool call was allowed or refused without asking a client.", {
		toolCallId: v.string(),
		action: v.string(),
		decision: v.picklist(["approve", "reject"]),
		by: v.picklist(["rule", "session-grant", "mode", "creator", "default"]),
		/** For people and models: which rule, mode or earlier approval decided. */
		reason: v.string(),
		/** What the call would act on; absent in records of earlier versions. */
		subjects: v.exactOptional(v.array(subjectSchema)),
	}),
	"tool.started": declareEvent("durable", "A tool call was allowed and begins to act.", {
		toolCallId: v.string(),
		name: v.string(),
		/** JSON text, as the model wrote it. */
		arguments: v.nullable(v.string()),
		/** Whether it may change anything: the outcome of such a call is unknown after a crash. */
		has_effect: v.boolean(),
	}),
	"tool.progress": declareEvent("volatile", "Output of a running tool call, as it comes.", {
		toolCallId: v.string(),
		/** Where the output comes from: a stream of a command, or a message about the progress. */
		stream: v.picklist(["stdout", "stderr", "message"]),
		text: v.string(),
		/**
		 * Where the text begins in all progress of this call, in UTF-16 units: a gap shows that some was skipped. Of output
		 * that no client wanted the bytes count.
		 */
		offset: integer,
	}),
	"tool.ended": declareEvent(
		"durable",
		"A started call ended without its own result: it was cancelled, or belongs to a background subagent.",
		{ toolCallId: v.string() },
	),
	"tool.result": declareEvent("durable", "A tool call was settled.", {
		toolCallId: v.string(),
		result: toolReturnSchema,
	}),
	"tool.outcome-unknown": declareEvent(
		"durable",
		"A crash interrupted a started call: the model's context says that its outcome is unknown.",
		{ toolCallId: v.string() },
	),
	"recovery.reported": declareEvent("durable", "The person was informed of all calls whose outcome is unknown.", {}),
	"interaction.requested": declareEvent("durable", "The kernel waits for a client's answer.", {
		interaction: interactionSchema,
	}),
	"interaction.resolved": declareEvent("durable", "An interaction was settled.", {
		interactionId: v.string(),
		answer: answerSchema,
		/** Absent in logs that do not record it. */
		by: v.exactOptional(settledBySchema),
	}),
	"mode.changed": declareEvent("volatile", "The session's mode has changed, whatever the reason.", {
		mode: v.picklist(sessionModes),
	}),
	"model.changed": declareEvent("volatile", "Another model was chosen for the session; the next turn uses it.", {
		model: v.object({ alias: v.nullable(v.string()), name: v.string(), provider: v.string(), thinking: v.boolean() }),
	}),
	"title.changed": declareEvent("durable", "Somebody gave the session a title.", { title: v.string() }),
	"client.attached": declareEvent("volatile", "Another client has attached to the session.", clientFields),
	"client.detached": declareEvent("volatile", "Another client has left the session.", clientFields),
	"session.reset": declareEvent(
		"volatile",
		"The client's cursor belongs to a rewritten history: all events follow from the first.",
		{},
	),
	"steer.accepted": declareEvent("durable", "Input was added to the running turn, and waits for its next step.", {
		input: userInputSchema,
	}),
	"files.snapshot": declareEvent(
		"durable",
		"The changes of the turn's calls in the work directories; emitted at its end if a call could have changed something. `reasons` says why the list may be incomplete.",
		{
			complete: v.boolean(),
			reasons: v.array(v.string()),
			changed: v.object({ added: integer, modified: integer, deleted: integer }),
		},
	),
	"files.restored": declareEvent(
		"durable",
		"Files were restored to their state before a turn or an earlier restore. `id` names this restore, to undo it.",
		{ id: v.string(), before: v.string(), restored: integer, left: integer },
	),
	"session.rewound": declareEvent(
		"durable",
		"The conversation continues from before the turn `before`: the model no longer sees that turn and later ones. Their events stay in the history.",
		{ before: v.string(), messages: integer },
	),
	"steer.consumed": declareEvent("durable", "Input added during the turn entered the context.", {
		input: userInputSchema,
	}),
	"plan.displayed": declareEvent("durable", "A plan is shown for approval.", {
		content: v.string(),
		file_path: v.string(),
	}),
	"hook.triggered": declareEvent("durable", "A batch of hooks starts.", {
		event: v.string(),
		target: v.string(),
		hook_count: integer,
	}),
	"hook.resolved": declareEvent("durable", "A batch of hooks is decided.", {
		event: v.string(),
		target: v.string(),
		action: v.picklist(["allow", "block"]),
		reason: v.string(),
		duration_ms: integer,
	}),
	"session-hook.started": declareEvent("durable", "A hook that the session was created with starts.", hookPlace),
	"session-hook.ended": declareEvent("durable", "Such a hook has decided, or failed.", {
		...hookPlace,
		duration_ms: integer,
		verdict: sessionHookVerdictSchema,
	}),
	"side-question.started": declareEvent("durable", "A side question is being answered.", {
		id: v.string(),
		question: v.string(),
	}),
	"side-question.ended": declareEvent("durable", "A side question was answered or failed.", {
		id: v.string(),
		response: nullable(v.string()),
		error: nullable(v.string()),
	}),
} as const;

export type EventType = keyof typeof eventDeclarations;

type Fields<T extends EventType> = v.InferOutput<(typeof eventDeclarations)[T]["schema"]>;

/** The content of an event, without its origin. */
export type EventBody = { [T in EventType]: { readonly type: T } & Readonly<Fields<T>> }[EventType];
export type EventBodyOf<T extends EventType> = Extract<EventBody, { type: T }>;

/** The content of an event, read from JSON; null for an unknown type and for content that does not fit. */
export function readEventBody(value: unknown): EventBody | null {
	if (!isRecord(value) || !isEventType(value["type"])) return null;
	return bodyReader(value["type"])(value);
}

const bodyReaders = new Map<EventType, (value: unknown) => EventBody | null>();

function bodyReader(type: EventType): (value: unknown) => EventBody | null {
	const known = bodyReaders.get(type);
	if (known !== undefined) return known;
	const read = createSchemaReader(v.object({ type: v.literal(type), ...eventDeclarations[type].schema.entries }));
	// The output of the schema under this type is the content of this type; indexing by the type loses that.
	const readBody = (value: unknown) => read(value) as EventBody | null;
	bodyReaders.set(type, readBody);
	return readBody;
}

function isEventType(type: unknown): type is EventType {
	return typeof type === "string" && Object.hasOwn(eventDeclarations, type);
}

/** One subagent on the path from the session's own agent to the one that emits. */
export interface AgentPathEntry {
	readonly parentToolCallId: string | null;
	readonly agentId: string | null;
	readonly subagentType: string | null;
}

/** The origin of an event: `agentPath` is empty for the session's own agent, outermost first otherwise. */
export interface EventOrigin {
	readonly sessionId: string;
	/** Null outside turns, and for events read from a log that does not have it. */
	readonly turnId: string | null;
	readonly agentPath: readonly AgentPathEntry[];
	/** Milliseconds since the epoch. */
	readonly at: number;
	/** The position of a durable event in the session's journal, from 1 without gaps; absent before it is stored. */
	readonly seq?: number;
	/** Whether it was read from a log of Kimi Wire, which says less of it than a journal. */
	readonly isFromLog?: boolean;
	/** The name of the history that `seq` counts in; it changes when history is rewritten. */
	readonly epoch?: string;
}

/** A position in a session's history: the event with this number, or 0 for the beginning. */
export interface Cursor {
	readonly epoch: string;
	readonly seq: number;
}

export type AgentEvent = EventOrigin & { readonly body: EventBody };

export type StatusFields = Omit<EventBodyOf<"status.changed">, "type">;

const unchangedStatus: StatusFields = {
	context_usage: null,
	context_tokens: null,
	max_context_tokens: null,
	token_usage: null,
	message_id: null,
	plan_mode: null,
	mcp_status: null,
};

/** A status event in which all other fields are unchanged. */
export function statusChanged(fields: Partial<StatusFields>): EventBodyOf<"status.changed"> {
	return { type: "status.changed", ...unchangedStatus, ...fields };
}
