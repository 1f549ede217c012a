// How much a model of OpenAI thinks when it is told to leave thinking off: each family has a smallest effort of its own.

export type Effort = "none" | "minimal" | "low";

/** Null for models that do not think, cannot be told how much, or are unknown. */
export function smallestEffort(model: string): Effort | null {
	if (/^o\d+(?:-|$)/.test(model)) return "low";
	const found = /^gpt-(\d+)(?:\.(\d+))?(?:-(.+))?$/.exec(model);
	const [, major = "0", minor, variant = ""] = found ?? [];
	const version = Number(major);
	if (version < 5 || /^(?:chat|pro)/.test(variant)) return null;
	if (version > 5 || variant.startsWith("codex")) return "low";
	return minor === undefined ? "minimal" : "none";
}
