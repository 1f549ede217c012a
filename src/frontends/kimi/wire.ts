// Kimi Wire shapes: method params, results, and client answers (wire-protocol §2, §5).
import * as v from "valibot";
import { toolReturnSchema, userInputSchema } from "../../api/values/content.ts";
import { isNestedWithin, isRecord } from "../../base/json.ts";
import { subagentEventFields } from "../../formats/message.ts";

const truths: ReadonlySet<unknown> = new Set([true, 1, "1", "true", "t", "yes", "y", "on"]);
const falsehoods: ReadonlySet<unknown> = new Set([false, 0, "0", "false", "f", "no", "n", "off"]);

/** This and `lenientInteger` accept the same values as the reference implementation. */
const lenientBoolean = v.pipe(
	v.unknown(),
	v.transform((value) => (typeof value === "string" ? value.toLowerCase() : value)),
	v.check((value) => truths.has(value) || falsehoods.has(value), "a boolean is needed"),
	v.transform((value) => truths.has(value)),
	v.boolean(),
);

const lenientInteger = v.pipe(
	v.unknown(),
	v.transform((value) => (typeof value === "string" && /^\s*[+-]?\d+\s*$/.test(value) ? Number(value) : value)),
	v.number(),
	v.integer(),
);

/** An object; the library's schemas accept arrays as objects. */
const plainObject = v.custom<Record<string, unknown>>(isRecord, "an object is needed");

const nullish = <S extends v.GenericSchema>(schema: S) => v.optional(v.nullable(schema), null);
const listOf = <S extends v.GenericSchema>(schema: S) => v.pipe(v.array(schema), v.readonly());
const integer = v.pipe(v.number(), v.integer());

export const clientInfoSchema = v.object({ name: v.string(), version: nullish(v.string()) });
export const externalToolSchema = v.object({ name: v.string(), description: v.string(), parameters: plainObject });
export const clientCapabilitiesSchema = v.pipe(
	plainObject,
	v.object({
		supports_question: v.optional(lenientBoolean, false),
		supports_plan_mode: v.optional(lenientBoolean, false),
	}),
);
export const hookSubscriptionSchema = v.object({
	id: v.string(),
	event: v.string(),
	matcher: v.optional(v.string(), ""),
	timeout: v.optional(lenientInteger, 30),
});

export const initializeParamsSchema = v.object({
	protocol_version: v.string(),
	client: nullish(clientInfoSchema),
	external_tools: nullish(v.array(externalToolSchema)),
	capabilities: nullish(clientCapabilitiesSchema),
	hooks: nullish(v.array(hookSubscriptionSchema)),
});
export type InitializeParams = v.InferOutput<typeof initializeParamsSchema>;

export const inputParamsSchema = v.object({ user_input: userInputSchema });
export const setPlanModeParamsSchema = v.object({ enabled: lenientBoolean });
export const anyParamsSchema = v.unknown();

export const approvalResultSchema = v.object({
	request_id: v.string(),
	response: v.picklist(["approve", "approve_for_session", "reject"]),
	feedback: v.optional(v.string(), ""),
});
/** Maximum nesting in a tool result, which is persisted and sent again recursively. */
const maximumNesting = 1000;

export const clientToolReturnSchema = v.pipe(
	plainObject,
	v.check((value) => isNestedWithin(value, maximumNesting), "nested too deep"),
	v.check(({ extras }) => extras === undefined || extras === null || isRecord(extras), "extras must be an object"),
	toolReturnSchema,
);
export const toolCallResultSchema = v.object({ tool_call_id: v.string(), return_value: clientToolReturnSchema });
/** Far more answers than there are questions. */
const maximumAnswers = 100;
export const questionResultSchema = v.object({
	request_id: v.string(),
	answers: v.pipe(plainObject, v.maxEntries(maximumAnswers), v.record(v.string(), v.string())),
});

export const hookResultSchema = v.object({
	request_id: v.string(),
	action: v.optional(v.picklist(["allow", "block"]), "allow"),
	reason: v.optional(v.string(), ""),
});

export const slashCommandSchema = v.object({
	name: v.string(),
	description: v.string(),
	aliases: listOf(v.string()),
});
export const serverInfoSchema = v.object({ name: v.string(), version: v.string() });
export const externalToolsResultSchema = v.object({
	accepted: listOf(v.string()),
	rejected: listOf(v.object({ name: v.string(), reason: v.string() })),
});
export const hooksInfoSchema = v.object({
	supported_events: listOf(v.string()),
	configured: v.record(v.string(), integer),
});
export const initializeResultSchema = v.object({
	protocol_version: v.string(),
	server: serverInfoSchema,
	slash_commands: listOf(slashCommandSchema),
	/** Only if at least one tool was accepted or rejected. */
	external_tools: v.exactOptional(externalToolsResultSchema),
	hooks: hooksInfoSchema,
	capabilities: v.object({ supports_question: v.literal(true) }),
	/** Only if a sandbox is configured. */
	sandbox: v.exactOptional(v.object({ status: v.picklist(["active", "none"]), why: v.nullable(v.string()) })),
});
export type InitializeResult = v.InferOutput<typeof initializeResultSchema>;

export const promptResultSchema = v.variant("status", [
	v.object({ status: v.picklist(["finished", "cancelled"]) }),
	v.object({ status: v.literal("max_steps_reached"), steps: integer }),
]);
export type PromptResult = v.InferOutput<typeof promptResultSchema>;

export const steerResultSchema = v.object({ status: v.literal("steered") });
export type SteerResult = v.InferOutput<typeof steerResultSchema>;

export const setPlanModeResultSchema = v.object({ status: v.literal("ok"), plan_mode: v.boolean() });
export type SetPlanModeResult = v.InferOutput<typeof setPlanModeResultSchema>;

export const replayResultSchema = v.object({
	status: v.picklist(["finished", "cancelled"]),
	events: integer,
	requests: integer,
});
export type ReplayResult = v.InferOutput<typeof replayResultSchema>;

export const cancelResultSchema = v.object({});

/** An approval answered by an event, as in the Wire 1.0 document, also under the event's later name. */
export const clientEventSchema = v.object({
	type: v.picklist(["ApprovalRequestResolved", "ApprovalResponse"]),
	payload: approvalResultSchema,
});
export type ClientEvent = v.InferOutput<typeof clientEventSchema>;

/** A subagent's event as sent to clients; older ones also look for the call under its former name. */
export const deliveredSubagentEventSchema = v.object({
	...subagentEventFields,
	task_tool_call_id: v.exactOptional(v.nullable(v.string())),
});
