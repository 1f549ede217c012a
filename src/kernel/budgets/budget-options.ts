import type { BudgetOptions } from "../../api/session-options.ts";
import type { BudgetSettings } from "../../settings/config/configuration.ts";
import type { BudgetLimits } from "./budgets.ts";

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
