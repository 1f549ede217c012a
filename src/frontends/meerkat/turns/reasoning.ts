// Checks what `provider_params` ask of the reasoning of a session's model.
import type { SessionApi } from "../../../api/kernel.ts";
import type { ModelOption } from "../../../api/models.ts";
import { NamedError } from "../errors.ts";
import { type ProviderParams, thinkingBudgetOf } from "./provider-params.ts";

/** Throws INVALID_PARAMS for reasoning that the model `alias` cannot do or cannot do without. */
export async function checkReasoning(
	session: SessionApi,
	params: ProviderParams | null,
	alias: string | null = null,
): Promise<void> {
	const [{ model, thinkingBudget: chosen }, { models }] = await Promise.all([
		session.snapshot(),
		session.send({ type: "session.describe" }),
	]);
	const option = models.find((each) => each.alias === (alias ?? model?.alias));
	if (params === null) {
		if (chosen !== null)
			checkBudget(chosen, option, " (chosen by an earlier request, until `provider_params` says otherwise)");
		return;
	}
	const budget = thinkingBudgetOf(params);
	if (params.reasoning !== null && option !== undefined) checkMode(params.reasoning, option);
	if (budget !== null) {
		if (params.reasoning === "off") throw refuse(budgetName, "goes with reasoning, and `reasoning` is off");
		checkBudget(budget, option);
	}
	const { provider_tag: tag } = params;
	if (tag !== null && tag.provider !== option?.thinkingBudgets?.vendor)
		throw refuse("provider_tag", `is of the provider ${tag.provider}, and ${said(option)} has no such fields`);
}

/** The abilities of a model outside the settings are unknown. */
function checkMode(wanted: NonNullable<ProviderParams["reasoning"]>, { alias, thinking }: ModelOption): void {
	if (wanted === "off" && thinking === "always")
		throw refuse("reasoning", `cannot be ${wanted}: the model ${alias} always reasons`);
	if (wanted !== "off" && thinking === "never")
		throw refuse("reasoning", `cannot be ${wanted}: ${neverReasons(alias)}`);
}

const budgetName = "thinking_budget_tokens";

/** `since` says where the budget comes from if the request does not set it. */
function checkBudget(budget: number, option: ModelOption | undefined, since = ""): void {
	const refuseBudget = (what: string) => refuse(budgetName, what, since);
	const range = option?.thinkingBudgets;
	if (option === undefined || range === undefined)
		throw refuseBudget(`is not supported: ${said(option)} takes no budget for its reasoning`);
	if (option.thinking === "never") throw refuseBudget(`has no use: ${neverReasons(option.alias)}`);
	const { minimum, maximum } = range;
	if (budget < minimum || (maximum !== null && budget > maximum)) {
		const limits = maximum === null ? `at least ${minimum}` : `${minimum} to ${maximum}`;
		throw refuseBudget(`must be ${limits} for the model ${option.alias}, and is ${budget}`);
	}
}

const said = (option: ModelOption | undefined) =>
	option === undefined ? "a model that the settings do not list" : `the model ${option.alias}`;
const neverReasons = (alias: string) =>
	`the model ${alias} never reasons: its capabilities in the settings lack "thinking"`;

function refuse(member: string, what: string, since = ""): NamedError {
	return new NamedError("INVALID_PARAMS", `Invalid params: \`provider_params.${member}\`${since} ${what}.`);
}
