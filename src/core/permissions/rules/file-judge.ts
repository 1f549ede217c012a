import { type DecidingFile, decidingFile } from "../deciding-files.ts";
import { isWorse } from "../policy.ts";
import { matchesAnySpelling, matchesPath, namesStep } from "./path-pattern.ts";
import type { FileAccess } from "./pattern.ts";
import type { Rule } from "./rule.ts";
import { judgeBy, type Ruling } from "./ruling.ts";

/** `paths` are absolute: resolved, plus the link if any. `isFree`: needs no approval by itself, like the plan. */
export function judgeFile(
	access: FileAccess,
	paths: readonly string[],
	roots: readonly string[],
	rules: readonly Rule[],
	isFree = false,
): Ruling | null {
	const speaksOf =
		(absolute: string, deciding: DecidingFile | null) =>
		({ decision, pattern, base }: Rule) => {
			if (pattern.kind !== "file" || pattern.access !== access) return false;
			if (decision === "allow" && deciding !== null && !namesStep(pattern.path, deciding.name)) return false;
			// Allow rules need proof; deny rules must also match alternative spellings.
			const matches = decision === "allow" ? matchesPath : matchesAnySpelling;
			return pattern.path === null || matches(pattern.path, absolute, base === null ? roots : [base]);
		};
	let worst: Ruling | null = null;
	let isOpen = false;
	for (const absolute of paths) {
		const deciding = access === "write" && !isFree ? decidingFile(absolute, roots) : null;
		const ruling = judgeBy(rules, speaksOf(absolute, deciding)) ?? (deciding === null ? null : unnamed(deciding));
		if (ruling === null) isOpen = true;
		else if (worst === null || isWorse(ruling.decision, worst.decision)) worst = ruling;
	}
	return worst?.decision === "allow" && isOpen ? null : worst;
}

/** Judges an edit. It is a write that also reveals whether the file contains a text, so read limits apply too. */
export function judgeEdit(
	paths: readonly string[],
	roots: readonly string[],
	rules: readonly Rule[],
	isFree = false,
): Ruling | null {
	const write = judgeFile("write", paths, roots, rules, isFree);
	const read = judgeFile("read", paths, roots, rules);
	if (read === null || read.decision === "allow") return write;
	return write !== null && !isWorse(read.decision, write.decision) ? write : read;
}

function unnamed({ name, does }: DecidingFile): Ruling {
	return {
		decision: "ask",
		by: "rule",
		reason: `It changes \`${name}\`: ${does}. Only a rule that names it allows that.`,
	};
}
