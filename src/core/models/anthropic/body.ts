// Corrects the request body that the package would send.
import { isRecord } from "../../../base/json.ts";
import { thinkingBudget } from "./thinking.ts";

/** Limits reasoning and answer together to `most` tokens, and removes reasoning unless the model is to think. */
export function mendBody(body: unknown, most: number): unknown {
	if (!isRecord(body)) return body;
	const limited = withinTokens(body, most);
	const { messages } = limited;
	// Only the package knows which models cannot stop thinking: it sends no `disabled` for them, and their reasoning
	// stays.
	return thinkingType(limited) === "disabled" && Array.isArray(messages)
		? { ...limited, messages: messages.flatMap(withoutReasoning) }
		: limited;
}

export function thinkingType(body: unknown): unknown {
	return isRecord(body) && isRecord(body["thinking"]) ? body["thinking"]["type"] : undefined;
}

/** The package adds the thinking budget to the tokens of the answer, though the API counts it among them. */
function withinTokens(body: Record<string, unknown>, most: number): Record<string, unknown> {
	const asked = body["max_tokens"];
	const tokens = typeof asked === "number" ? Math.min(most, asked) : most;
	if (thinkingType(body) !== "enabled") return { ...body, max_tokens: tokens };
	const given = isRecord(body["thinking"]) ? body["thinking"]["budget_tokens"] : null;
	const budget = typeof given === "number" && given < tokens ? given : thinkingBudget(tokens);
	const thinking = budget === null ? { type: "disabled" } : { type: "enabled", budget_tokens: budget };
	return { ...body, max_tokens: tokens, thinking };
}

/** A message that contains only reasoning is removed as well. */
function withoutReasoning(message: unknown): unknown[] {
	if (!isRecord(message) || message["role"] !== "assistant" || !Array.isArray(message["content"])) return [message];
	const content = message["content"].filter((block: unknown) => !isReasoning(block));
	return content.length === 0 ? [] : [{ ...message, content }];
}

function isReasoning(block: unknown): boolean {
	return isRecord(block) && (block["type"] === "thinking" || block["type"] === "redacted_thinking");
}
