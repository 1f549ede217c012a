import type { ThinkingMode } from "../model-settings.ts";

export interface ThinkingConfiguration {
	readonly includeThoughts?: boolean;
	readonly thinkingBudget?: number;
	readonly thinkingLevel?: "low" | "high";
}

/** The largest budget that all models of the family accept; the Pro models have a minimum above zero. */
const largestBudget = 24_576;
const smallestProBudget = 128;

const largestProBudget = 32_768;
const isPro = (model: string) => /-pro/i.test(model);

/** How the model's thinking is configured: token budget or level; null for neither. */
function styleOf(model: string): "budget" | "level" | null {
	const found = /(?:^|\/)gemini-(?:(\d+)(?:\.(\d+))?)?/i.exec(model);
	if (found === null) return null;
	const [, major = "3", minor = "0"] = found;
	const version = Number(major) + Number(minor) / 100;
	if (version < 2.05) return null;
	return version >= 3 ? "level" : "budget";
}

export function isThirdGeneration(model: string): boolean {
	return styleOf(model) === "level";
}

/** The valid budget range; null for a model without budgets. */
export function budgetRange(model: string): { readonly minimum: number; readonly maximum: number } | null {
	if (styleOf(model) !== "budget") return null;
	return isPro(model)
		? { minimum: smallestProBudget, maximum: largestProBudget }
		: { minimum: 0, maximum: largestBudget };
}

/** Null if the model does not think or its thinking cannot be configured. A supported budget takes precedence. */
export function thinkingConfiguration(
	model: string,
	thinking: ThinkingMode,
	budget: number | null = null,
): ThinkingConfiguration | null {
	const style = styleOf(model);
	if (style === null) return null;
	const hasLevels = style === "level";
	if (!hasLevels && budget !== null && thinking !== "off")
		return { ...(budget > 0 ? { includeThoughts: true } : {}), thinkingBudget: budget };
	switch (thinking) {
		case "default":
			return { includeThoughts: true };
		case "on":
			return hasLevels
				? { includeThoughts: true, thinkingLevel: "high" }
				: { includeThoughts: true, thinkingBudget: largestBudget };
		case "off":
			if (hasLevels) return { thinkingLevel: "low" };
			return { thinkingBudget: isPro(model) ? smallestProBudget : 0 };
	}
}
