// The thinking parameters of Gemini models: a budget of tokens for the 2.5 family, a level for later ones.
import type { ThinkingMode } from "../model-settings.ts";

export interface ThinkingConfiguration {
	readonly includeThoughts?: boolean;
	readonly thinkingBudget?: number;
	readonly thinkingLevel?: "low" | "high";
}

/** The largest budget that every model of the family accepts; the Pro models have a minimum above zero. */
const largestBudget = 24_576;
const smallestProBudget = 128;

/** Null for models that do not think, or whose thinking cannot be configured. */
export function thinkingConfiguration(model: string, thinking: ThinkingMode): ThinkingConfiguration | null {
	const found = /(?:^|\/)gemini-(?:(\d+)(?:\.(\d+))?)?/i.exec(model);
	if (found === null) return null;
	const [, major = "3", minor = "0"] = found;
	const version = Number(major) + Number(minor) / 100;
	if (version < 2.05) return null;
	const hasLevels = version >= 3;
	switch (thinking) {
		case "default":
			return { includeThoughts: true };
		case "on":
			return hasLevels
				? { includeThoughts: true, thinkingLevel: "high" }
				: { includeThoughts: true, thinkingBudget: largestBudget };
		case "off":
			if (hasLevels) return { thinkingLevel: "low" };
			return { thinkingBudget: /-pro/i.test(model) ? smallestProBudget : 0 };
	}
}
