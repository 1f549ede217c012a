import type { TokenUsage } from "../../api/values/content.ts";

/** Hundreds of times the largest context window; larger values are invalid. */
const most = 1_000_000_000;

/** Whole tokens; null for an implausible count. */
export function toCount(value: unknown): number | null {
	return typeof value === "number" && value >= 0 && value <= most ? Math.trunc(value) : null;
}

interface Counts {
	readonly input: number | undefined;
	readonly read: number | undefined;
	readonly creation: number | undefined;
	readonly output: number | undefined;
}

/** Null if the provider counted nothing. */
export function toUsage({ input = 0, read = 0, creation = 0, output = 0 }: Counts): TokenUsage | null {
	if (input + read + creation + output <= 0) return null;
	// Some report more cached tokens than prompt tokens.
	return { input_other: Math.max(0, input), output, input_cache_read: read, input_cache_creation: creation };
}
