// What the contract says of tokens: which model they were counted by, and how the parts add up.
import type { TokenUsage } from "../../../api/values/content.ts";
import type { Accounting } from "../wire/wire-events.ts";
import { toEventUsage } from "./usage.ts";

/** A model by its provider and by the name sent to it. */
export interface ModelName {
	readonly provider: string;
	readonly model: string;
}

/** The usage of one model call, and the model that was called. */
export interface CountedCall {
	readonly usage: TokenUsage;
	readonly model: ModelName;
}

export function toAccounting({ usage, model: { provider, model } }: CountedCall): Accounting {
	return {
		provider,
		model,
		presented_tokens: toEventUsage(usage).input_tokens,
		// Providers count in different ways: what the kernel has are always parts that do not overlap.
		convention: `${provider}_disjoint_input_components`,
		aggregation: "sum_disjoint_provider_components",
	};
}
