// Token counts as providers report them.

/** Hundreds of times the largest context window: what is more is no count. */
const most = 1_000_000_000;

/** Whole tokens; null for what is no count of any request. */
export function toCount(value: unknown): number | null {
	return typeof value === "number" && value >= 0 && value <= most ? Math.trunc(value) : null;
}
