// What else a turn is started with, besides its input: it counts for that turn alone.
import * as v from "valibot";
import { isRecord } from "../../base/json.ts";
import { tokenUsageSchema, userInputSchema } from "./content.ts";

const text = v.string();
const names = v.array(text);
const fraction = v.pipe(
	v.number(),
	v.check((value) => Number.isFinite(value), "must be finite"),
	v.minValue(0),
);

/** The tools that agents may use in a turn, by name, subagents included. */
export const toolLimitsSchema = v.object({
	/** These alone; null for all. */
	allowed: v.nullable(names),
	/** None of these, whatever is allowed. */
	blocked: names,
});
export type ToolLimits = v.InferOutput<typeof toolLimitsSchema>;

/** The form that the last answer of a turn must have; more answers are requested until one has it. */
export const answerFormSchema = v.object({
	/** A JSON Schema (draft 2020-12). */
	schema: v.custom<Readonly<Record<string, unknown>>>(isRecord, "an object"),
	/** The most requests after the first one. */
	retries: v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(100)),
});
export type AnswerForm = v.InferOutput<typeof answerFormSchema>;

/** How the model draws its answer; what is absent or null is left to the settings. */
export const samplingSchema = v.object({
	temperature: v.exactOptional(v.nullable(fraction)),
	topP: v.exactOptional(v.nullable(fraction)),
	/** Maximal tokens of one answer. */
	maxTokens: v.exactOptional(v.nullable(v.pipe(v.number(), v.integer(), v.minValue(1)))),
	/** Whether the model reasons, as far as it leaves that open; hidden, no client is delivered what it thinks. */
	thinking: v.exactOptional(v.nullable(v.picklist(["on", "hidden", "off"]))),
	/** The tokens that it may think with, for models whose requests say so. */
	thinkingBudget: v.exactOptional(v.nullable(v.pipe(v.number(), v.integer(), v.minValue(0)))),
});
export type Sampling = v.InferOutput<typeof samplingSchema>;

const entries = {
	/** Messages of the user before the input, which stay in the conversation. */
	context: v.array(userInputSchema),
	/** A message of the user after the input, in every request of the turn; it does not stay in the conversation. */
	passingContext: text,
	/**
	 * The client runs outside events itself: the input contains the events with these ids, and the model gets no others
	 * during the turn. If absent, the model gets waiting events at its steps.
	 */
	events: v.object({ taken: v.array(text) }),
	/** In place of the system prompt of the session. */
	systemPrompt: text,
	/** Added to the system prompt, after those of every turn of the session. */
	instructions: v.array(text),
	tools: toolLimitsSchema,
	answerForm: answerFormSchema,
	sampling: samplingSchema,
};
export const turnOptionsSchema = v.object({
	context: v.exactOptional(entries.context),
	passingContext: v.exactOptional(entries.passingContext),
	events: v.exactOptional(entries.events),
	systemPrompt: v.exactOptional(entries.systemPrompt),
	instructions: v.exactOptional(entries.instructions),
	tools: v.exactOptional(entries.tools),
	answerForm: v.exactOptional(entries.answerForm),
	sampling: v.exactOptional(entries.sampling),
});
export type TurnOptions = v.InferOutput<typeof turnOptionsSchema>;

/** Idempotency key of a turn within its session, so that the request that starts it can be repeated. */
export const turnKeySchema = v.pipe(text, v.minLength(1), v.maxLength(200));

/** The caller's position in a trace, in the format of the W3C Trace Context header `traceparent`. */
export const traceParentSchema = v.pipe(text, v.regex(/^00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/));

export const turnStartOptionsSchema = v.object({
	...turnOptionsSchema.entries,
	key: v.exactOptional(turnKeySchema),
	takeOver: v.exactOptional(v.boolean()),
	trace: v.exactOptional(traceParentSchema),
});
export type TurnStartOptions = v.InferOutput<typeof turnStartOptionsSchema>;

/** A change of options: those that it has, and null for one that is taken away. */
export const turnOptionsChangeSchema = v.object({
	context: v.exactOptional(v.nullable(entries.context)),
	passingContext: v.exactOptional(v.nullable(entries.passingContext)),
	systemPrompt: v.exactOptional(v.nullable(entries.systemPrompt)),
	instructions: v.exactOptional(v.nullable(entries.instructions)),
	tools: v.exactOptional(v.nullable(entries.tools)),
	answerForm: v.exactOptional(v.nullable(entries.answerForm)),
	sampling: v.exactOptional(v.nullable(entries.sampling)),
});
export type TurnOptionsChange = v.InferOutput<typeof turnOptionsChangeSchema>;

const attempts = {
	/** The answers that were requested for the form: none when the last answer had it. */
	attempts: v.pipe(v.number(), v.integer(), v.minValue(0)),
	/** Of each of them. */
	usage: v.array(tokenUsageSchema),
};
/** The last answer of a turn in the form that it must have, or why none has it. */
export const formedAnswerSchema = v.variant("kind", [
	v.object({ kind: v.literal("formed"), value: v.unknown(), ...attempts }),
	v.object({ kind: v.literal("unformed"), lastAnswer: text, reason: text, ...attempts }),
]);
export type FormedAnswer = v.InferOutput<typeof formedAnswerSchema>;
