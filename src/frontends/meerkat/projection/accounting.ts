import type { TokenUsage } from "../../../api/values/content.ts";
import type { Accounting } from "../wire/wire-events.ts";
import { toEventUsage } from "./usage.ts";

export interface ModelName {
	readonly provider: string;
	readonly model: string;
}

export interface CountedCall {
	readonly usage: TokenUsage;
	readonly model: ModelName;
}

export function toAccounting({ usage, model: { provider, model } }: CountedCall): Accounting {
	return {
		provider,
		model,
		presented_tokens: toEventUsage(usage).input_tokens,
		// Providers count differently; the kernel's counts never overlap.
		convention: `${provider}_disjoint_input_components`,
		aggregation: "sum_disjoint_provider_components",
	};
}
