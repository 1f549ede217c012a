import * as v from "valibot";
import type { Decision } from "../policy.ts";
import { parseRulePattern } from "./pattern.ts";

const list = v.optional(v.array(v.string()), []);
const settingsSchema = v.object({
	permissions: v.looseObject({ allow: list, ask: list, deny: list }),
});

export interface ConvertedRule {
	readonly decision: Decision;
	readonly pattern: string;
}

export type Conversion =
	| {
			readonly ok: true;
			readonly rules: readonly ConvertedRule[];
			/** Skipped patterns, each with the reason as a clause without a full stop. */
			readonly leftOut: readonly (ConvertedRule & { readonly reason: string })[];
			/** Other keys in `permissions`, such as modes and directories. */
			readonly otherKeys: readonly string[];
	  }
	| { readonly ok: false; readonly reason: string };

export function convertClaudeRules(value: unknown, home: string): Conversion {
	const parsed = v.safeParse(settingsSchema, value);
	if (!parsed.success) {
		const [issue] = parsed.issues;
		return { ok: false, reason: `${v.getDotPath(issue) ?? "the file"}: ${issue.message}` };
	}
	const { deny, ask, allow, ...others } = parsed.output.permissions;
	const written = [
		...deny.map((pattern) => ({ decision: "deny", pattern }) as const),
		...ask.map((pattern) => ({ decision: "ask", pattern }) as const),
		...allow.map((pattern) => ({ decision: "allow", pattern }) as const),
	];
	const rules: ConvertedRule[] = [];
	const leftOut: (ConvertedRule & { readonly reason: string })[] = [];
	for (const { decision, pattern } of written) {
		const converted = toPattern(pattern);
		const read = parseRulePattern(converted, home);
		if (read.ok) rules.push({ decision, pattern: converted });
		else leftOut.push({ decision, pattern, reason: read.reason });
	}
	return { ok: true, rules, leftOut, otherKeys: Object.keys(others) };
}

/** Claude Code writes `//etc` for `/etc`, and `/src` for a path below the project. */
function toPattern(pattern: string): string {
	const { tool = "", path = "" } = /^(?<tool>Read|Edit|Write)\((?<path>[\s\S]*)\)$/.exec(pattern)?.groups ?? {};
	if (tool === "") return pattern;
	const converted = path.startsWith("//") ? path.slice(1) : path.startsWith("/") ? `.${path}` : path;
	return `${tool === "Edit" ? "Write" : tool}(${converted})`;
}
