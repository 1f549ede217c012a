import * as v from "valibot";
import type { TurnOptions, TurnOptionsChange } from "../../../api/values/turn-options.ts";
import { type BlocksOrText, blocksOrTextSchema, toInput } from "../wire/blocks.ts";
import { nullish, plainObject } from "../wire/schema.ts";
import { skillKeysSchema, skillRefsSchema } from "../wire/wire-skills.ts";
import {
	type ProviderParams,
	providerParamsChangeSchema,
	providerParamsSchema,
	toSampling,
} from "./provider-params.ts";

const maximumTexts = 1000;
const texts = v.pipe(
	v.array(v.string(), "must be a list of texts"),
	v.maxLength(maximumTexts, `must have at most ${maximumTexts} texts`),
);
const names = v.pipe(v.array(v.string()), v.maxLength(maximumTexts));

export const systemPromptSchema = v.union(
	[v.string(), v.pipe(plainObject, v.strictObject({ action: v.literal("disable") }))],
	'must be a string or {"action":"disable"}',
);
export type SystemPrompt = v.InferOutput<typeof systemPromptSchema>;

export const toolOverlaySchema = v.pipe(
	plainObject,
	v.strictObject({ allowed_tools: nullish(names), blocked_tools: nullish(names) }),
);

/** All tools, only these, or all but these. */
export const toolFilterSchema = v.union(
	[
		v.literal("All"),
		v.pipe(plainObject, v.strictObject({ Allow: names })),
		v.pipe(plainObject, v.strictObject({ Deny: names })),
	],
	'must be "All", {"Allow":[…]} or {"Deny":[…]}, with names of tools',
);

export const inputFields = {
	/** Messages before the prompt that stay in the conversation; contract only, like all of these. */
	injected_context: nullish(
		v.pipe(
			v.array(blocksOrTextSchema, "must be a list of texts or of lists of blocks"),
			v.maxLength(maximumTexts, `must have at most ${maximumTexts} messages`),
		),
	),
	/** Skill texts that precede the prompt, as messages that stay in the conversation. */
	skill_refs: nullish(skillRefsSchema),
	/** Appended to the system prompt. */
	additional_instructions: nullish(texts),
	/** A message after the prompt that does not stay in the conversation. */
	transient_turn_context: nullish(v.string("must be a text")),
};
export const turnFields = {
	...inputFields,
	/** Added to the system prompt from now on; "disable" removes the system prompt. */
	system_prompt: nullish(systemPromptSchema),
	provider_params: nullish(providerParamsChangeSchema),
	turn_tool_overlay: nullish(toolOverlaySchema),
};
export const createFields = {
	...inputFields,
	provider_params: nullish(providerParamsSchema),
	tool_filter: nullish(toolFilterSchema),
	/** Skill texts appended to the system prompt. */
	preload_skills: nullish(skillKeysSchema),
	/** A JSON Schema for each run's last answer, or an object with it as `schema`. */
	output_schema: nullish(
		v.custom<Readonly<Record<string, unknown>>>(isSchema, "Schema must be a JSON object at the root"),
	),
	/** Requests for it after the first one. */
	structured_output_retries: nullish(v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(100))),
};

function isSchema(value: unknown): boolean {
	return v.is(plainObject, value);
}

/** Default requests for structured output after the first one. */
const standardRetries = 2;

export function toEveryTurn(
	params: Readonly<Record<"output_schema", Readonly<Record<string, unknown>> | null>> & {
		readonly provider_params: ProviderParams | null;
		readonly structured_output_retries: number | null;
		readonly tool_filter: v.InferOutput<typeof toolFilterSchema> | null;
	},
): TurnOptions {
	const { output_schema, structured_output_retries, provider_params, tool_filter } = params;
	const retries = structured_output_retries ?? standardRetries;
	return {
		...(provider_params === null ? {} : { sampling: toSampling(provider_params) }),
		...(tool_filter === null || tool_filter === "All" ? {} : { tools: toLimits(tool_filter) }),
		...(output_schema === null ? {} : { answerForm: { schema: unwrapped(output_schema), retries } }),
	};
}

function toLimits(filter: Exclude<v.InferOutput<typeof toolFilterSchema>, string>): NonNullable<TurnOptions["tools"]> {
	return "Allow" in filter ? { allowed: filter.Allow, blocked: [] } : { allowed: null, blocked: filter.Deny };
}

function unwrapped(given: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
	const { schema } = given;
	return v.is(plainObject, schema) && !("type" in given) ? schema : given;
}

export function toOneTurn(
	fields: {
		readonly injected_context: readonly BlocksOrText[] | null;
		readonly additional_instructions: readonly string[] | null;
		readonly turn_tool_overlay: v.InferOutput<typeof toolOverlaySchema> | null;
		readonly transient_turn_context: string | null;
	},
	skills: readonly string[],
): TurnOptions {
	const passing = fields.transient_turn_context ?? "";
	const { injected_context: injected, additional_instructions: instructions, turn_tool_overlay: overlay } = fields;
	const context = [...(injected ?? []).map(toInput), ...skills];
	return {
		...(context.length === 0 ? {} : { context }),
		...(instructions === null ? {} : { instructions: [...instructions] }),
		...(passing === "" ? {} : { passingContext: passing }),
		...(overlay === null ? {} : { tools: { allowed: overlay.allowed_tools, blocked: overlay.blocked_tools ?? [] } }),
	};
}

/** The options from this turn on; null if nothing changes. */
export function toLaterTurns(fields: {
	readonly system_prompt: SystemPrompt | null;
	readonly provider_params: ProviderParams | null;
}): TurnOptionsChange | null {
	const { system_prompt: prompt, provider_params: params } = fields;
	const change = {
		...(params === null ? {} : { sampling: toSampling(params) }),
		...(typeof prompt === "string" ? { instructions: [prompt] } : {}),
		...(prompt === null || typeof prompt === "string" ? {} : { systemPrompt: "", instructions: null }),
	};
	return Object.keys(change).length === 0 ? null : change;
}
