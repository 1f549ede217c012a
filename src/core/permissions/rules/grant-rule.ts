import { parseRulePattern } from "./pattern.ts";
import type { Rule } from "./rule.ts";

export function readGrant(text: string, home: string): Rule | null {
	const parsed = parseRulePattern(text, home);
	if (!parsed.ok) return null;
	const origin = { scope: "session", file: null, line: null } as const;
	return { decision: "allow", text, pattern: parsed.pattern, reason: "", origin, base: null };
}
