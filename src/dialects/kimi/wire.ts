// Method params and results of Kimi Wire, and the results its clients give, as on the wire (wire-protocol §2, §5).
import * as v from "valibot";
import { isNestedWithin, isRecord } from "../../base/json.ts";
import { toolReturnSchema, userInputSchema } from "../../events/content.ts";

const truths: ReadonlySet<unknown> = new Set([true, 1, "1", "true", "t", "yes", "y", "on"]);
const falsehoods: ReadonlySet<unknown> = new Set([false, 0, "0", "false", "f", "no", "n", "off"]);

/** Booleans as leniently as the reference reads them. */
const lenientBoolean = v.pipe(
	v.unknown(),
	v.transform((value) => (typeof value === "string" ? value.toLowerCase() : value)),
	v.check((value) => truths.has(value) || falsehoods.has(value), "a boolean is needed"),
	v.transform((value) => truths.has(value)),
);

/** An integer as leniently as the reference reads it. */
const lenientInteger = v.pipe(
	v.unknown(),
	v.transform((value) => (typeof value === "string" && /^\s*[+-]?\d+\s*$/.test(value) ? Number(value) : value)),
	v.number(),
	v.integer(),
);

/** An object; the schemas of the library below take arrays for objects. */
const plainObject = v.custom<Record<string, unknown>>(isRecord, "an object is needed");

const nullish = <S extends v.GenericSchema>(schema: S) => v.optional(v.nullable(schema), null);

export const initializeParamsSchema = v.object({
	protocol_version: v.string(),
	client: nullish(v.object({ name: v.string(), version: nullish(v.string()) })),
	external_tools: nullish(v.array(v.object({ name: v.string(), description: v.string(), parameters: plainObject }))),
	capabilities: nullish(
		v.pipe(
			plainObject,
			v.object({
				supports_question: v.optional(lenientBoolean, false),
				supports_plan_mode: v.optional(lenientBoolean, false),
			}),
		),
	),
	hooks: nullish(
		v.array(
			v.object({
				id: v.string(),
				event: v.string(),
				matcher: v.optional(v.string(), ""),
				timeout: v.optional(lenientInteger, 30),
			}),
		),
	),
});

export const inputParamsSchema = v.object({ user_input: userInputSchema });
export const setPlanModeParamsSchema = v.object({ enabled: lenientBoolean });
/** Params that are not looked at. */
export const anyParamsSchema = v.unknown();

/** What a client answers to an ApprovalRequest. */
export const approvalResultSchema = v.object({
	request_id: v.string(),
	response: v.picklist(["approve", "approve_for_session", "reject"]),
	feedback: v.optional(v.string(), ""),
});
/** Levels of nesting in a tool result: it is kept and told again, which costs stack. */
const maximumNesting = 1000;

/** What a client answers to a ToolCallRequest. */
export const toolCallResultSchema = v.object({
	tool_call_id: v.string(),
	return_value: v.pipe(
		plainObject,
		v.check((value) => isNestedWithin(value, maximumNesting), "nested too deep"),
		v.check(({ extras }) => extras === undefined || extras === null || isRecord(extras), "extras must be an object"),
		toolReturnSchema,
	),
});
/** What a client answers to a QuestionRequest. */
export const questionResultSchema = v.object({
	request_id: v.string(),
	answers: v.pipe(plainObject, v.record(v.string(), v.string())),
});

/** What a client answers to a HookRequest. */
export const hookResultSchema = v.object({
	request_id: v.string(),
	action: v.optional(v.picklist(["allow", "block"]), "allow"),
	reason: v.optional(v.string(), ""),
});

export interface InitializeResult {
	readonly protocol_version: string;
	readonly server: { readonly name: string; readonly version: string };
	readonly slash_commands: readonly {
		readonly name: string;
		readonly description: string;
		readonly aliases: readonly string[];
	}[];
	/** Only when at least one tool was accepted or rejected. */
	readonly external_tools?: {
		readonly accepted: readonly string[];
		readonly rejected: readonly { readonly name: string; readonly reason: string }[];
	};
	readonly hooks: {
		readonly supported_events: readonly string[];
		/** How many hooks there are of each event that has any: those of the settings and this client's. */
		readonly configured: Readonly<Record<string, number>>;
	};
	readonly capabilities: { readonly supports_question: true };
}

export type PromptResult =
	| { readonly status: "finished" | "cancelled" }
	| { readonly status: "max_steps_reached"; readonly steps: number };

export interface SetPlanModeResult {
	readonly status: "ok";
	readonly plan_mode: boolean;
}

export interface ReplayResult {
	readonly status: "finished" | "cancelled";
	readonly events: number;
	readonly requests: number;
}
