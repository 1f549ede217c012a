// What clients of Meerkat RPC insist on in what they read, in the shapes of both eras. Written from the protocol and not
// from the product: more than it names may be there.
import * as v from "valibot";

export type ClientEra = "seed" | "contract";

const text = v.string();
const filled = v.pipe(text, v.nonEmpty());
const count = v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(Number.MAX_SAFE_INTEGER));
const uuid = v.pipe(text, v.regex(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/));
const object = v.custom<Record<string, unknown>>(
	(value) => typeof value === "object" && value !== null && !Array.isArray(value),
	"no object",
);
const usage = v.looseObject({
	input_tokens: count,
	output_tokens: count,
	cache_creation_tokens: v.optional(count),
	cache_read_tokens: v.optional(count),
});
const times = { created_at: count, updated_at: count, message_count: count, is_active: v.boolean() };
const state = v.looseObject({ session_id: filled, state: v.picklist(["idle", "running"]) });
const seedConfig = v.looseObject({ agent: object, max_tokens: count });

const runResult = v.looseObject({ session_id: filled, text, turns: count, tool_calls: count, usage });
const created = v.pipe(text, v.isoTimestamp());
const block = v.variant("block_type", [
	v.looseObject({ block_type: v.literal("text"), data: v.looseObject({ text }) }),
	v.looseObject({ block_type: v.literal("reasoning"), data: v.looseObject({ text }) }),
	v.looseObject({ block_type: v.literal("tool_use"), data: v.looseObject({ id: filled, name: filled, args: object }) }),
]);
/** Closed: an unknown role is refused. */
const historyMessage = v.variant("role", [
	v.looseObject({ role: v.literal("system"), created_at: created, content: text }),
	v.looseObject({ role: v.literal("system_notice"), created_at: created }),
	v.looseObject({ role: v.literal("user"), created_at: created, content: v.union([text, v.array(object)]) }),
	v.looseObject({
		role: v.literal("block_assistant"),
		created_at: created,
		blocks: v.array(block),
		stop_reason: filled,
	}),
	v.looseObject({
		role: v.literal("tool_results"),
		created_at: created,
		results: v.array(v.looseObject({ tool_use_id: filled, content: text, is_error: v.boolean() })),
	}),
]);

/** What each method has to answer. */
export const resultShapes = {
	seed: {
		initialize: v.looseObject({
			server_info: v.looseObject({ name: v.literal("meerkat-rpc"), version: filled }),
			methods: v.array(filled),
		}),
		"tools/register": v.looseObject({ registered: count }),
		"session/create": runResult,
		"session/deferred": v.looseObject({ session_id: filled }),
		"turn/start": runResult,
		"turn/interrupt": v.looseObject({ interrupted: v.literal(true) }),
		"session/archive": v.looseObject({ archived: v.literal(true) }),
		"session/list": v.looseObject({ sessions: v.array(state) }),
		"session/read": state,
		"session/history": v.looseObject({
			session_id: filled,
			message_count: count,
			offset: count,
			has_more: v.boolean(),
			messages: v.array(historyMessage),
		}),
		"config/get": seedConfig,
	},
	get contract() {
		return {
			...this.seed,
			initialize: v.looseObject({
				contract_version: v.pipe(text, v.regex(/^0\.[89](\.\d+)?$/)),
				methods: v.array(filled),
			}),
			"capabilities/get": v.looseObject({
				capabilities: v.array(v.looseObject({ id: filled, description: filled, status: v.union([filled, object]) })),
			}),
			"session/list": v.looseObject({
				sessions: v.array(v.looseObject({ session_id: filled, total_tokens: count, ...times })),
			}),
			"session/read": v.looseObject({ session_id: filled, model: filled, provider: filled, ...times }),
			"turn/interrupt": v.looseObject({
				session_id: filled,
				interrupted: v.boolean(),
				result: v.picklist(["interrupted", "staged_noop"]),
			}),
			"config/get": v.looseObject({ config: seedConfig, generation: count }),
		};
	},
} as const;

const place = { id: filled, name: filled };
const hookPlace = { hook_id: filled, point: filled };
const eventUsage = v.looseObject({
	input_tokens: count,
	output_tokens: count,
	cache_creation_tokens: v.nullable(count),
	cache_read_tokens: v.nullable(count),
});
const textBlocks = v.array(v.looseObject({ type: v.literal("text"), text }));

/** Events that a client knows the fields of. */
const commonEvents = {
	run_started: v.looseObject({ session_id: filled, prompt: text }),
	run_completed: v.looseObject({ session_id: filled, result: text, usage: eventUsage }),
	turn_started: v.looseObject({ turn_number: count }),
	text_delta: v.looseObject({ delta: text }),
	text_complete: v.looseObject({ content: text }),
	turn_completed: v.looseObject({
		stop_reason: v.picklist(["end_turn", "tool_use", "max_tokens", "stop_sequence", "content_filter", "cancelled"]),
		usage: eventUsage,
	}),
	tool_execution_started: v.looseObject(place),
	budget_warning: v.looseObject({
		budget_type: v.picklist(["tokens", "time", "tool_calls"]),
		used: count,
		limit: count,
		percent: v.number(),
	}),
	retrying: v.looseObject({ attempt: count, max_attempts: count, error: text, delay_ms: count }),
	hook_started: v.looseObject(hookPlace),
	hook_completed: v.looseObject({ ...hookPlace, duration_ms: count }),
	hook_denied: v.looseObject({ ...hookPlace, reason_code: filled, message: text }),
};
const completed = { ...place, result: text, is_error: v.boolean(), duration_ms: count };
const received = { ...place, is_error: v.boolean() };

export const eventShapes: Readonly<Record<ClientEra, Readonly<Record<string, v.GenericSchema>>>> = {
	seed: {
		...commonEvents,
		run_failed: v.looseObject({ session_id: filled, error: text }),
		tool_call_requested: v.looseObject({ ...place, args: v.unknown() }),
		tool_execution_completed: v.looseObject(completed),
		tool_result_received: v.looseObject(received),
	},
	contract: {
		...commonEvents,
		reasoning_delta: v.looseObject({ delta: text }),
		reasoning_complete: v.looseObject({ content: text }),
		run_failed: v.looseObject({ session_id: filled, error_class: filled }),
		tool_call_requested: v.looseObject({ ...place, args: object }),
		tool_execution_completed: v.looseObject({ ...completed, content: textBlocks }),
		tool_result_received: v.looseObject({ ...received, content: textBlocks }),
	},
};

/** What carries an event in the present contract. */
export const envelopeShape = v.looseObject({
	event_id: uuid,
	source: v.looseObject({ type: v.literal("session"), session_id: uuid }),
	seq: count,
	timestamp_ms: count,
	payload: v.looseObject({ type: filled }),
});
export const bareEventShape = v.looseObject({ type: filled });

/** A request to the client. */
export const executeShape = v.looseObject({ name: filled, arguments: object });
