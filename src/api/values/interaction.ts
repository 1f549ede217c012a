// Interactions: what the kernel requests of a client, and the answers. Plain data; the kernel's interaction table does the
// waiting.
import * as v from "valibot";
import { displayBlockSchema, toolReturnSchema } from "./content.ts";
import { subjectSchema } from "./subject.ts";

const nullableText = v.optional(v.nullable(v.string()), null);

export const approvalInteractionSchema = v.object({
	kind: v.literal("approval"),
	id: v.string(),
	toolCallId: v.string(),
	/** The tool. */
	sender: v.string(),
	/** The kind of action, for people. */
	action: v.string(),
	/** What the call would do, why it needs approval, and what a session approval covers. */
	description: v.string(),
	/** Only what the call would do; absent in records of other programs. */
	summary: v.exactOptional(v.string()),
	/** What a session approval covers, or why it can only be approved once. Also the last block of `display`. */
	coverage: v.exactOptional(v.string()),
	sourceKind: v.nullable(v.picklist(["foreground_turn", "background_agent"])),
	sourceId: nullableText,
	agentId: nullableText,
	subagentType: nullableText,
	sourceDescription: nullableText,
	display: v.array(displayBlockSchema),
	/** What the call would act on; absent in records of other programs. */
	subjects: v.exactOptional(v.array(subjectSchema)),
	/** The rule or doubt that caused the request; absent if it is the default. */
	reason: v.exactOptional(v.string()),
	/** The rule patterns that a session approval stores; empty if it can only be approved once. */
	grants: v.exactOptional(v.array(v.string())),
});

export const clientToolInteractionSchema = v.object({
	kind: v.literal("client-tool"),
	id: v.string(),
	toolCallId: v.string(),
	name: v.string(),
	/** JSON text, as the model wrote it. */
	arguments: v.nullable(v.string()),
});

export const questionOptionSchema = v.object({ label: v.string(), description: v.optional(v.string(), "") });
export const questionItemSchema = v.object({
	question: v.string(),
	header: v.optional(v.string(), ""),
	options: v.array(questionOptionSchema),
	multi_select: v.optional(v.boolean(), false),
	body: v.optional(v.string(), ""),
	other_label: v.optional(v.string(), ""),
	other_description: v.optional(v.string(), ""),
});
export const questionInteractionSchema = v.object({
	kind: v.literal("question"),
	id: v.string(),
	toolCallId: v.string(),
	questions: v.array(questionItemSchema),
});

export const hookInteractionSchema = v.object({
	kind: v.literal("hook"),
	id: v.string(),
	/** The client's own name for its subscription. */
	subscriptionId: v.string(),
	/** The subscribed client; absent in records of other programs. */
	clientId: v.exactOptional(v.string()),
	event: v.string(),
	target: v.string(),
	input: v.record(v.string(), v.unknown()),
});

export const interactionSchema = v.variant("kind", [
	approvalInteractionSchema,
	clientToolInteractionSchema,
	questionInteractionSchema,
	hookInteractionSchema,
]);
export type ApprovalInteraction = v.InferOutput<typeof approvalInteractionSchema>;
export type ClientToolInteraction = v.InferOutput<typeof clientToolInteractionSchema>;
export type Interaction = v.InferOutput<typeof interactionSchema>;
export type InteractionKind = Interaction["kind"];

export const approvalDecisionSchema = v.picklist(["approve", "approve_for_session", "reject"]);
export const approvalAnswerSchema = v.object({
	kind: v.literal("approval"),
	decision: approvalDecisionSchema,
	/** Only used with `reject`. */
	feedback: v.optional(v.string(), ""),
});
export const clientToolAnswerSchema = v.object({ kind: v.literal("client-tool"), result: toolReturnSchema });
export const questionAnswerSchema = v.object({
	kind: v.literal("question"),
	/** Question text to the chosen label or free text; empty means dismissed. */
	answers: v.record(v.string(), v.string()),
});
export const hookAnswerSchema = v.object({
	kind: v.literal("hook"),
	action: v.picklist(["allow", "block"]),
	reason: v.string(),
});
export const answerSchema = v.variant("kind", [
	approvalAnswerSchema,
	clientToolAnswerSchema,
	questionAnswerSchema,
	hookAnswerSchema,
]);
export type Answer = v.InferOutput<typeof answerSchema>;
export type AnswerTo<K extends InteractionKind> = Extract<Answer, { kind: K }>;

/** Who or what settled an interaction. */
export const settledBySchema = v.variant("kind", [
	v.object({ kind: v.literal("client"), clientId: v.nullable(v.string()), name: v.nullable(v.string()) }),
	/** A session approval that was given for another call. */
	v.object({ kind: v.literal("session-grant") }),
	v.object({ kind: v.literal("error-reply"), message: v.string() }),
	v.object({ kind: v.literal("malformed") }),
	v.object({ kind: v.literal("deadline"), seconds: v.number() }),
	v.object({ kind: v.literal("cancelled") }),
	v.object({ kind: v.literal("client-gone") }),
	v.object({ kind: v.literal("shutdown") }),
]);
export type SettledBy = v.InferOutput<typeof settledBySchema>;

/** What a client reports instead of an answer. */
export type InteractionFailure =
	| { readonly kind: "error-reply"; readonly message: string }
	| { readonly kind: "malformed" };
