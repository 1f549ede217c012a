import type { Decision } from "../policy.ts";
import type { RulePattern } from "./pattern.ts";

/** The origin of a rule. Scopes do not override each other; the strictest decision wins. */
export type RuleScope = "managed" | "user" | "project" | "session";

export interface RuleOrigin {
	readonly scope: RuleScope;
	/** The file, or the source in place of a file, such as a flag; null for neither. */
	readonly file: string | null;
	readonly line: number | null;
}

export interface Rule {
	readonly decision: Decision;
	readonly text: string;
	readonly pattern: RulePattern;
	/** The author's reason; may be empty. */
	readonly reason: string;
	readonly origin: RuleOrigin;
	/** Absolute base directory for relative paths in the pattern; null for the workspace roots. */
	readonly base: string | null;
}

export interface RuleDeclaration {
	readonly decision: Decision;
	readonly pattern: string;
	readonly reason: string;
	/** Examples: calls that the rule must match, and calls that it must not. */
	readonly match: readonly string[];
	readonly notMatch: readonly string[];
	readonly line: number | null;
	/** The source if not a file, such as a flag. */
	readonly from?: string;
}

export function describePlace({ file, line }: RuleOrigin): string {
	if (file === null) return "";
	return line === null ? file : `${file}, line ${line}`;
}

/** A sentence about the effect of the rule, such as `denies it`, with the author's reason. */
export function ruleSentence({ text, origin, reason }: Rule, does: string): string {
	const why = reason === "" ? "" : `: ${reason.replace(/[.\s]+$/, "")}`;
	if (origin.scope === "session") return `\`${text}\`, approved for the session, ${does}${why}.`;
	const place = describePlace(origin);
	return `The ${origin.scope} rule \`${text}\`${place === "" ? "" : ` (${place})`} ${does}${why}.`;
}
