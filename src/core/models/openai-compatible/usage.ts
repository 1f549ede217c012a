import type { TokenUsage } from "../../../api/values/content.ts";
import { isRecord } from "../../../base/json.ts";
import { toCount } from "../token-count.ts";

/** `prompt_tokens` includes cached ones, flat or in `prompt_tokens_details`. Null if both totals are missing. */
export function toTokenUsage(value: unknown): TokenUsage | null {
	if (!isRecord(value)) return null;
	const prompt = toCount(value["prompt_tokens"]);
	const completion = toCount(value["completion_tokens"]);
	if (prompt === null && completion === null) return null;
	const details = isRecord(value["prompt_tokens_details"]) ? value["prompt_tokens_details"] : {};
	const total = prompt ?? 0;
	const read = Math.min(total, toCount(details["cached_tokens"]) ?? toCount(value["cached_tokens"]) ?? 0);
	const creation = Math.min(total - read, toCount(details["cache_write_tokens"]) ?? 0);
	return {
		input_other: total - read - creation,
		output: completion ?? 0,
		input_cache_read: read,
		input_cache_creation: creation,
	};
}
