// What OpenAI model families accept: reasoning, minimum effort, sampling.

export type Effort = "none" | "minimal" | "low";

interface Family {
	readonly isReasoning: boolean;
	/** For disabled thinking; null if the model has no effort setting. */
	readonly smallestEffort: Effort | null;
}

const other: Family = { isReasoning: false, smallestEffort: null };

/** Unknown models count as nonthinking. */
export function familyOf(model: string): Family {
	if (/^o\d+(?:-|$)/.test(model)) return { isReasoning: true, smallestEffort: "low" };
	const found = /^gpt-(\d+)(?:\.(\d+))?(?:-(.+))?$/.exec(model);
	const [, major = "0", minor, variant = ""] = found ?? [];
	const version = Number(major);
	if (version < 5) return other;
	// In later versions the chat models also think.
	if (variant.startsWith("chat")) return minor === undefined ? other : { isReasoning: true, smallestEffort: null };
	if (variant.startsWith("pro")) return { isReasoning: true, smallestEffort: null };
	if (version > 5 || variant.startsWith("codex")) return { isReasoning: true, smallestEffort: "low" };
	return { isReasoning: true, smallestEffort: minor === undefined ? "minimal" : "none" };
}
