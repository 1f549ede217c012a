// Asks the model once for a title that says what the conversation is about. Nothing enters the context.
import { inputText, joinTexts, textPart, type UserInput } from "../../api/values/content.ts";
import type { EventBody } from "../../api/values/event.ts";
import { KernelError } from "../../base/errors.ts";
import { lastText } from "../../core/agent/context.ts";
import { askSilently, type Retrying } from "../../core/agent/silent-call.ts";
import type { AgentBudget } from "../budgets/budgets.ts";
import type { Agent } from "../turn/turn-dependencies.ts";

const systemPrompt =
	"You name conversations between a user and a coding agent. Answer with a title of three to six words in the language of the user, and nothing else: no quotation marks, no Markdown, no full stop.";

/** Maximum characters of the prompt and of the answer to send. */
const longestExcerpt = 1000;

export interface TitleSuggestionSettings {
	agent(): Promise<Pick<Agent, "model" | "context">>;
	readonly budget: AgentBudget;
	readonly cacheKey: string;
	readonly retries: Omit<Retrying, "emit">;
	emit(body: EventBody): Promise<void>;
}

/** The model's title for the conversation that the input began; null without a model or budget. Throws what the model failed with. */
export async function suggestTitle(
	input: UserInput,
	{ agent, budget, cacheKey, retries, emit }: TitleSuggestionSettings,
	signal: AbortSignal,
): Promise<string | null> {
	const { model, context } = await agent();
	if (model === null || budget.exhausted() !== null) return null;
	const excerpt = (text: string) => text.slice(0, longestExcerpt);
	const text = `User: ${excerpt(inputText(input))}\n\nAgent: ${excerpt(lastText(context))}`;
	const request = { systemPrompt, messages: [{ role: "user" as const, content: [textPart(text)] }], cacheKey };
	// The beginning of the prompt is a title too: it is not asked again.
	const once = { ...retries, limits: { ...retries.limits, maxAttempts: 1 }, emit: async () => {} };
	const answer = await askSilently(budget.counted(model), request, once, signal);
	const used = budget.toPersist();
	if (used !== null) await emit(used);
	if (answer.kind === "failed") throw new KernelError("provider-failed", answer.failure.message);
	if (answer.kind === "cancelled") return null;
	const [line = ""] = joinTexts(answer.content, "").trim().split("\n", 1);
	return line.replace(/^[\s"'“”«»*#`]+|[\s"'“”«»*`.]+$/gu, "");
}
