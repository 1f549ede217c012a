// Judges a file by the rules: allowed when every path that leads to it is allowed, denied when one of them is denied.
import { isWorse } from "../policy.ts";
import { matchesPath } from "./path-pattern.ts";
import type { FileAccess } from "./pattern.ts";
import type { Rule } from "./rule.ts";
import { judgeBy, type Ruling } from "./ruling.ts";

/** `paths` are absolute: the resolved one, and the one that was named if a link hid it. Null when no rule speaks of it. */
export function judgeFile(
	access: FileAccess,
	paths: readonly string[],
	roots: readonly string[],
	rules: readonly Rule[],
): Ruling | null {
	const speaksOf =
		(absolute: string) =>
		({ pattern, base }: Rule) =>
			pattern.kind === "file" &&
			pattern.access === access &&
			(pattern.path === null || matchesPath(pattern.path, absolute, base === null ? roots : [base]));
	let worst: Ruling | null = null;
	let isOpen = false;
	for (const absolute of paths) {
		const ruling = judgeBy(rules, speaksOf(absolute));
		if (ruling === null) isOpen = true;
		else if (worst === null || isWorse(ruling.decision, worst.decision)) worst = ruling;
	}
	return worst?.decision === "allow" && isOpen ? null : worst;
}
