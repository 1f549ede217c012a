import type { ModelPrice } from "../../api/models.ts";
import type { TokenUsage } from "../../api/values/content.ts";
import type { TurnOutcome } from "../../api/values/event.ts";

export interface Denial {
	readonly tool_name: string;
	readonly tool_use_id: string;
	readonly tool_input: Readonly<Record<string, unknown>>;
}

export function toClientUsage(usage: TokenUsage) {
	return {
		input_tokens: usage.input_other,
		output_tokens: usage.output,
		cache_read_input_tokens: usage.input_cache_read,
		cache_creation_input_tokens: usage.input_cache_creation,
	};
}

export const noUsage: TokenUsage = { input_other: 0, output: 0, input_cache_read: 0, input_cache_creation: 0 };

/** Includes the model calls of subagents. */
export class TurnCount {
	readonly denials: Denial[] = [];
	steps = 0;
	text = "";
	usage = noUsage;
	/** In US dollars. */
	cost = 0;
	readonly startedAt: number;

	constructor(startedAt: number) {
		this.startedAt = startedAt;
	}

	count(usage: TokenUsage, price: ModelPrice | null): void {
		this.usage = {
			input_other: this.usage.input_other + usage.input_other,
			output: this.usage.output + usage.output,
			input_cache_read: this.usage.input_cache_read + usage.input_cache_read,
			input_cache_creation: this.usage.input_cache_creation + usage.input_cache_creation,
		};
		this.cost += costOf(usage, price);
	}
}

export const countsDollars = (price: ModelPrice | null): price is ModelPrice => price?.currency === "USD";

function costOf(usage: TokenUsage, price: ModelPrice | null): number {
	if (!countsDollars(price)) return 0;
	const perMillion =
		usage.input_other * price.input +
		usage.output * price.output +
		usage.input_cache_read * price.cacheRead +
		usage.input_cache_creation * price.cacheCreation;
	return perMillion / 1_000_000;
}

interface Ending {
	readonly subtype: string;
	readonly stopReason: string | null;
	readonly errors: readonly string[];
	readonly structured?: unknown;
}

export function toEnding(outcome: TurnOutcome, isOverBudget: boolean): Ending {
	const error = (subtype: string, ...errors: string[]): Ending => ({ subtype, stopReason: null, errors });
	if (isOverBudget) return error("error_max_budget_usd", "The budget of --max-budget-usd is used up.");
	switch (outcome.status) {
		case "finished": {
			const { formed } = outcome;
			if (formed?.kind === "unformed") return error("error_max_structured_output_retries", formed.reason);
			const structured = formed === undefined ? {} : { structured: formed.value };
			return { subtype: "success", stopReason: "end_turn", errors: [], ...structured };
		}
		case "truncated":
			return { subtype: "success", stopReason: "max_tokens", errors: [] };
		case "cancelled":
			return error("error_during_execution", "The turn was interrupted.");
		case "max-steps":
			return error("error_max_turns", `The turn reached its limit after ${outcome.steps} model calls.`);
		case "failed":
			return error("error_during_execution", outcome.error.message);
	}
}

export interface ResultPlace {
	readonly sessionId: string;
	readonly uuid: string;
	readonly now: number;
	readonly model: { readonly name: string; readonly contextWindow: number } | null;
}

export function toResult(count: TurnCount, ending: Ending, { sessionId, uuid, now, model }: ResultPlace) {
	const duration = Math.max(0, Math.round(now - count.startedAt));
	const isSuccess = ending.subtype === "success";
	const { usage, cost } = count;
	const perModel = {
		inputTokens: usage.input_other,
		outputTokens: usage.output,
		cacheReadInputTokens: usage.input_cache_read,
		cacheCreationInputTokens: usage.input_cache_creation,
		webSearchRequests: 0,
		costUSD: cost,
		contextWindow: model?.contextWindow ?? 0,
		maxOutputTokens: 0,
	};
	return {
		type: "result" as const,
		subtype: ending.subtype,
		is_error: !isSuccess,
		duration_ms: duration,
		duration_api_ms: duration,
		num_turns: count.steps,
		...(isSuccess ? { result: count.text } : { errors: ending.errors }),
		stop_reason: ending.stopReason,
		total_cost_usd: cost,
		usage: toClientUsage(usage),
		modelUsage: model === null ? {} : { [model.name]: perModel },
		permission_denials: count.denials,
		...("structured" in ending ? { structured_output: ending.structured } : {}),
		session_id: sessionId,
		uuid,
	};
}
export type Result = ReturnType<typeof toResult>;
