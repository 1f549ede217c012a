import type { HistoryEntry } from "../../../api/values/conversation.ts";
import { type ProviderMemory, readSeal } from "../answers/memory.ts";

/** Thinking budgets in tokens. Few sizes, because another budget invalidates the API's message cache. */
const budgets = [32_000, 16_000, 8000, 4000, 2000, 1024];

export const smallestBudget = 1024;

export interface ThinkingStyle {
	/** Adaptive models decide how much they think; others get a budget. */
	readonly kind: "adaptive" | "budget";
	/** Whether the model only sends reasoning if a summary is requested. */
	readonly isSilent: boolean;
}

/** 4.06 for Claude 4.6. A Claude without a version counts as new; other vendors' models have none. */
function versionOf(model: string): number | null {
	if (!/claude/i.test(model)) return null;
	const found = /claude-(?:[a-z]+-)?(\d{1,2})(?:[.-](\d{1,2}))?(?!\d)/i.exec(model);
	return found === null ? Number.POSITIVE_INFINITY : Number(found[1]) + Number(found[2] ?? 0) / 100;
}

/** Other vendors' models only support budgets. */
export function thinkingStyle(model: string): ThinkingStyle {
	const version = versionOf(model) ?? 0;
	return { kind: version >= 4.06 ? "adaptive" : "budget", isSilent: version >= 4.07 };
}

export function refusesSampling(model: string): boolean {
	return (versionOf(model) ?? 0) >= 4.07;
}

export function mostTokens(model: string): number | null {
	if (/claude-3-haiku/i.test(model)) return 4096;
	const version = versionOf(model);
	if (version === null || version < 4) return null;
	if (version >= 4.06) return 128_000;
	return version < 4.05 && /opus/i.test(model) ? 32_000 : 64_000;
}

/** The setting closest to no thinking; absent for models that always think. */
export function leastThinking(model: string): { readonly type: "disabled" | "between_tools" } | null {
	if (/claude-sonnet-5[.-]5/i.test(model)) return { type: "between_tools" };
	return /claude-(?:opus-5[.-]5|fable-5)/i.test(model) ? null : { type: "disabled" };
}

/** The largest budget that leaves tokens for the answer within `maxTokens`; null if none. */
export function thinkingBudget(maxTokens: number): number | null {
	return budgets.find((budget) => budget <= maxTokens * 0.8) ?? null;
}

/** Whether the last message continues a turn without sendable reasoning; the API refuses those with a thinking budget. */
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
