// Options of a single turn.
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
	/** Only these; null for all. */
	allowed: v.nullable(names),
	/** Never these, even if allowed. */
	blocked: names,
});
export type ToolLimits = v.InferOutput<typeof toolLimitsSchema>;

/** The form that a turn's last answer must have; more answers are requested until one fits. */
export const answerFormSchema = v.object({
	/** A JSON Schema (draft 2020-12). */
	schema: v.custom<Readonly<Record<string, unknown>>>(isRecord, "an object"),
	/** Maximum requests after the first. */
	retries: v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(100)),
});
export type AnswerForm = v.InferOutput<typeof answerFormSchema>;

/** Sampling parameters; absent or null ones come from the settings. */
export const samplingSchema = v.object({
	temperature: v.exactOptional(v.nullable(fraction)),
	topP: v.exactOptional(v.nullable(fraction)),
	/** Maximum tokens per answer. */
	maxTokens: v.exactOptional(v.nullable(v.pipe(v.number(), v.integer(), v.minValue(1)))),
	/** Whether the model reasons, if it allows a choice; `hidden` keeps the reasoning from clients. */
	thinking: v.exactOptional(v.nullable(v.picklist(["on", "hidden", "off"]))),
	/** Maximum reasoning tokens, for models that take a limit. */
	thinkingBudget: v.exactOptional(v.nullable(v.pipe(v.number(), v.integer(), v.minValue(0)))),
});
export type Sampling = v.InferOutput<typeof samplingSchema>;

const entries = {
	/** User messages before the input; they stay in the conversation. */
	context: v.array(userInputSchema),
	/** A user message after the input, in every request of the turn; it does not stay in the conversation. */
	passingContext: text,
	/**
	 * The client runs outside events itself: the input contains the events with these ids, and the model gets no others during
	 * the turn. If absent, the model gets waiting events at its steps.
	 */
	events: v.object({ taken: v.array(text) }),
	/** Replaces the session's system prompt. */
	systemPrompt: text,
	/** Appended to the system prompt, after the session's own instructions. */
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

/** Idempotency key of a turn within its session, so that starting it can be retried. */
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

/** Options to change; null removes one. */
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
	/** Requests made to get the form right; none if the first answer fit. */
	attempts: v.pipe(v.number(), v.integer(), v.minValue(0)),
	/** One entry per attempt. */
	usage: v.array(tokenUsageSchema),
};
/** A turn's last answer in the required form, or why there is none. */
export const formedAnswerSchema = v.variant("kind", [
	v.object({ kind: v.literal("formed"), value: v.unknown(), ...attempts }),
	v.object({ kind: v.literal("unformed"), lastAnswer: text, reason: text, ...attempts }),
]);
export type FormedAnswer = v.InferOutput<typeof formedAnswerSchema>;
