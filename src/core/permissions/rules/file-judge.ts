// Judges a file by the rules: allowed when every path that leads to it is allowed, denied when one of them is denied.
import { isWorse } from "../policy.ts";
import { matchesAnySpelling, matchesPath } from "./path-pattern.ts";
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
		({ decision, pattern, base }: Rule) => {
			if (pattern.kind !== "file" || pattern.access !== access) return false;
			// What is allowed is proven; what is denied may have other names.
			const matches = decision === "allow" ? matchesPath : matchesAnySpelling;
			return pattern.path === null || matches(pattern.path, absolute, base === null ? roots : [base]);
		};
	let worst: Ruling | null = null;
	let isOpen = false;
	for (const absolute of paths) {
		const ruling = judgeBy(rules, speaksOf(absolute));
		if (ruling === null) isOpen = true;
		else if (worst === null || isWorse(ruling.decision, worst.decision)) worst = ruling;
	}
	return worst?.decision === "allow" && isOpen ? null : worst;
}

/**
 * Judges an edit: a write, which also shows whether the file contains a text, and so is denied and asked about where
 * reading is.
 */
export function judgeEdit(paths: readonly string[], roots: readonly string[], rules: readonly Rule[]): Ruling | null {
	const write = judgeFile("write", paths, roots, rules);
	const read = judgeFile("read", paths, roots, rules);
	if (read === null || read.decision === "allow") return write;
	return write !== null && !isWorse(read.decision, write.decision) ? write : read;
}
