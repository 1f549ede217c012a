import * as v from "valibot";
import type { TurnOptions } from "../../../api/values/turn-options.ts";
import { cut } from "../../../base/text/sentence.ts";
import { count, nullish, plainObject } from "../wire/schema.ts";

const number = v.pipe(
	v.number(),
	v.check((value) => Number.isFinite(value), "must be a number that a request can have"),
	v.minValue(0),
);
const maximumTokens = 4_294_967_295;

/** Provider-specific members that an adapter sends; others are rejected by name. */
const tags = {
	anthropic: { provider: v.literal("anthropic"), thinking_budget_tokens: nullish(count) },
	gemini: { provider: v.literal("gemini"), thinking_budget: nullish(count), top_p: nullish(number) },
};

const isTagged = (provider: unknown): provider is keyof typeof tags =>
	provider === "anthropic" || provider === "gemini";

/** The first unsupported member of a tag, for errors; null if all are supported. */
function unknownOfTag(given: Readonly<Record<string, unknown>>): string | null {
	const { provider } = given;
	if (isTagged(provider)) return unknownMember(given, Object.keys(tags[provider]));
	return typeof provider === "string" ? `provider: ${cut(provider, 100)}` : "provider";
}

export const providerTagSchema = v.pipe(
	plainObject,
	v.check(
		(given) => unknownOfTag(given) === null,
		({ input }) =>
			`this server does not support \`${unknownOfTag(input)}\`; it takes \`thinking_budget_tokens\` for anthropic, \`thinking_budget\` and \`top_p\` for gemini`,
	),
	v.variant("provider", [v.object(tags.anthropic), v.object(tags.gemini)]),
);

/** Members without an effect here are rejected by name, like unknown ones. */
export const providerParamsSchema = v.pipe(
	plainObject,
	v.check(
		(given) => unknownMember(given, members) === null,
		({ input }) =>
			`this server does not support \`${unknownMember(input, members)}\`; it takes ${members.map((name) => `\`${name}\``).join(", ")}`,
	),
	v.object({
		temperature: nullish(number),
		top_p: nullish(number),
		max_output_tokens: nullish(v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(maximumTokens))),
		/** `silent`: the reasoning is not sent. */
		reasoning: nullish(v.picklist(["emit", "silent", "off"])),
		thinking_budget_tokens: nullish(v.pipe(count, v.maxValue(maximumTokens))),
		provider_tag: nullish(providerTagSchema),
	}),
	v.check(({ provider_tag: tag, top_p, thinking_budget_tokens: budget }) => {
		const isTwice = (one: unknown, other: unknown) => (one ?? null) !== null && (other ?? null) !== null;
		return !isTwice(budget, budgetOf(tag)) && !(tag?.provider === "gemini" && isTwice(top_p, tag.top_p));
	}, "`provider_tag` says again what a member beside it says"),
);
export type ProviderParams = v.InferOutput<typeof providerParamsSchema>;

const members = ["temperature", "top_p", "max_output_tokens", "reasoning", "thinking_budget_tokens", "provider_tag"];

function unknownMember(given: Readonly<Record<string, unknown>>, known: readonly string[]): string | null {
	const name = Object.keys(given).find((each) => !known.includes(each) && given[each] !== null);
	return name === undefined ? null : cut(name, 100);
}

const nothing = {
	temperature: null,
	top_p: null,
	max_output_tokens: null,
	reasoning: null,
	thinking_budget_tokens: null,
	provider_tag: null,
};

export const providerParamsChangeSchema = v.pipe(
	plainObject,
	v.union([
		v.pipe(
			v.strictObject({ action: v.literal("clear") }),
			v.transform(() => nothing),
		),
		v.pipe(
			v.strictObject({ action: v.literal("set"), value: providerParamsSchema }),
			v.transform(({ value }) => value),
		),
		providerParamsSchema,
	]),
);

function budgetOf(tag: v.InferOutput<typeof providerTagSchema> | null): number | null {
	if (tag === null) return null;
	return tag.provider === "anthropic" ? tag.thinking_budget_tokens : tag.thinking_budget;
}

export function thinkingBudgetOf({ thinking_budget_tokens: budget, provider_tag: tag }: ProviderParams): number | null {
	return budget ?? budgetOf(tag);
}

const thinkingModes = { emit: "on", silent: "hidden", off: "off" } as const;

export function toSampling(params: ProviderParams): NonNullable<TurnOptions["sampling"]> {
	const { temperature, top_p, max_output_tokens, reasoning, provider_tag: tag } = params;
	return {
		temperature,
		topP: top_p ?? (tag?.provider === "gemini" ? tag.top_p : null),
		maxTokens: max_output_tokens,
		thinking: reasoning === null ? null : thinkingModes[reasoning],
		thinkingBudget: thinkingBudgetOf(params),
	};
}
