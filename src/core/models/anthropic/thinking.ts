// The thinking parameters of Claude models: by their version, and by what the conversation allows.
import type { HistoryEntry } from "../../../api/values/conversation.ts";
import type { ProviderMemory } from "../ai-sdk/memory.ts";
import { readSeal } from "../ai-sdk/memory.ts";

/** Thinking budgets in tokens. Few sizes, because another budget invalidates the API's cache of the messages. */
const budgets = [32_000, 16_000, 8000, 4000, 2000, 1024];

/** The smallest budget that the API accepts. */
export const smallestBudget = 1024;

export interface ThinkingStyle {
	/** Adaptive models decide how much they think; the others get a budget. */
	readonly kind: "adaptive" | "budget";
	/** Whether the model sends no reasoning unless a summary is requested. */
	readonly isSilent: boolean;
}

/** By the version in the model's name. A Claude without one is new; a model of another vendor has budgets only. */
export function thinkingStyle(model: string): ThinkingStyle {
	if (!/claude/i.test(model)) return { kind: "budget", isSilent: false };
	const found = /claude-(?:[a-z]+-)?(\d{1,2})(?:[.-](\d{1,2}))?(?!\d)/i.exec(model);
	if (found === null) return { kind: "adaptive", isSilent: true };
	const version = Number(found[1]) + Number(found[2] ?? 0) / 100;
	return { kind: version >= 4.06 ? "adaptive" : "budget", isSilent: version >= 4.07 };
}

/** The largest budget that leaves tokens for an answer within `maxTokens`; null when none does. */
export function thinkingBudget(maxTokens: number): number | null {
	return budgets.find((budget) => budget <= maxTokens * 0.8) ?? null;
}

/**
 * Whether the last message continues a turn that began without reasoning that can be sent back: with a budget, such a
 * turn is refused. It began so under another model, or while thinking was off.
 */
export function continuesWithoutReasoning(messages: readonly HistoryEntry[], memory: ProviderMemory): boolean {
	let first: HistoryEntry | null = null;
	let afterResult = false;
	for (const message of messages) {
		if (message.role === "assistant") first ??= message;
		else if (message.role === "tool") afterResult = true;
		// A user message right after results is part of the turn.
		else if (!afterResult) first = null;
		if (message.role === "assistant") afterResult = false;
	}
	if (first === null || !afterResult) return false;
	return !first.content.some((part) => part.type === "think" && readSeal(memory, part.encrypted) !== null);
}
