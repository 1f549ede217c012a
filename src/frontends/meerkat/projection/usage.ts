import type { TokenUsage } from "../../../api/values/content.ts";

export function toResultUsage(usage: TokenUsage) {
	const { input_tokens, output_tokens, cache_creation_tokens, cache_read_tokens } = toEventUsage(usage);
	return {
		input_tokens,
		output_tokens,
		...(cache_creation_tokens === null ? {} : { cache_creation_tokens }),
		...(cache_read_tokens === null ? {} : { cache_read_tokens }),
	};
}

export function toEventUsage(usage: TokenUsage) {
	return {
		input_tokens: usage.input_other + usage.input_cache_read + usage.input_cache_creation,
		output_tokens: usage.output,
		cache_creation_tokens: usage.input_cache_creation === 0 ? null : usage.input_cache_creation,
		cache_read_tokens: usage.input_cache_read === 0 ? null : usage.input_cache_read,
	};
}
