import type { ThinkingBudgets } from "../../api/models.ts";
import { smallestBudget, thinkingStyle } from "./anthropic/thinking.ts";
import { budgetRange } from "./google/thinking.ts";
import type { ProviderType } from "./model-settings.ts";

const ofClaude = (model: string): ThinkingBudgets | null =>
	thinkingStyle(model).kind === "budget" ? { vendor: "anthropic", minimum: smallestBudget, maximum: null } : null;

function ofGemini(model: string): ThinkingBudgets | null {
	const range = budgetRange(model);
	return range === null ? null : { vendor: "gemini", ...range };
}

const none = () => null;

const byType: Readonly<Record<ProviderType, (model: string) => ThinkingBudgets | null>> = {
	anthropic: ofClaude,
	google_genai: ofGemini,
	gemini: ofGemini,
	vertexai: ofGemini,
	kimi: none,
	openai_legacy: none,
	openai_responses: none,
	_echo: none,
	_scripted_echo: none,
	_chaos: none,
};

export function thinkingBudgets(type: ProviderType, model: string): ThinkingBudgets | null {
	return byType[type](model);
}
