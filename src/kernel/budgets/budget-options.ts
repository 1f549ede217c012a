// Composes the budgets of a session from the settings and from the options it is opened with.
import type { BudgetSettings } from "../../settings/config/configuration.ts";
import type { BudgetLimits } from "./budgets.ts";

/** Budgets under the names of the settings; times in seconds. */
export type BudgetOptions = Omit<BudgetSettings, "warningRatio">;

/** The options override the settings, budget by budget. */
export function composeBudgets(limits: BudgetSettings, options: Partial<BudgetOptions>): BudgetLimits {
	const of = (name: keyof BudgetOptions, unit = 1): number | null => {
		const limit = options[name] ?? limits[name];
		return limit === null ? null : limit * unit;
	};
	return {
		session: { tokens: of("sessionTokens"), time: of("sessionSeconds", 1000), "tool-calls": of("sessionToolCalls") },
		turn: { tokens: of("turnTokens"), time: of("turnSeconds", 1000), "tool-calls": of("turnToolCalls") },
		warningRatio: limits.warningRatio,
	};
}
