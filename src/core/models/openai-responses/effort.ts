// The smallest reasoning effort of each OpenAI model family, for thinking that is switched off.

export type Effort = "none" | "minimal" | "low";

/** Null for models that do not think, have no effort setting, or are unknown. */
export function smallestEffort(model: string): Effort | null {
	if (/^o\d+(?:-|$)/.test(model)) return "low";
	const found = /^gpt-(\d+)(?:\.(\d+))?(?:-(.+))?$/.exec(model);
	const [, major = "0", minor, variant = ""] = found ?? [];
	const version = Number(major);
	if (version < 5 || /^(?:chat|pro)/.test(variant)) return null;
	if (version > 5 || variant.startsWith("codex")) return "low";
	return minor === undefined ? "minimal" : "none";
}
