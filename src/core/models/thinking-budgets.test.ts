import { expect, it } from "vitest";
import type { ProviderType } from "./model-settings.ts";
import { thinkingBudgets } from "./thinking-budgets.ts";

const claude = { vendor: "anthropic", minimum: 1024, maximum: null };
const gemini = (minimum: number, maximum: number) => ({ vendor: "gemini", minimum, maximum });

it.each<[ProviderType, string, unknown]>([
	["anthropic", "claude-sonnet-4-5", claude],
	["anthropic", "kimi-k2.6", claude],
	["anthropic", "claude-opus-4-6", null],
	["anthropic", "claude-latest", null],
	["gemini", "gemini-2.5-flash", gemini(0, 24_576)],
	["google_genai", "models/gemini-2.5-pro", gemini(128, 32_768)],
	["vertexai", "gemini-3-pro", null],
	["gemini", "gemma-3-27b-it", null],
	["kimi", "kimi-k2.6", null],
	["openai_responses", "gpt-5", null],
])("a request to %s for %s has the budgets %j", (type, model, budgets) => {
	expect(thinkingBudgets(type, model)).toEqual(budgets);
});
