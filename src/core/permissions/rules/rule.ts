// A rule: a decision over the calls that its pattern speaks of, and where it is written.
import type { Decision } from "../policy.ts";
import type { RulePattern } from "./pattern.ts";

/** Where a rule is from; the scopes do not override each other: the worst decision of all wins. */
export type RuleScope = "managed" | "user" | "project" | "session";

export interface RuleOrigin {
	readonly scope: RuleScope;
	/** Null for one that is in no file; what gave it in place of a file, such as a flag. */
	readonly file: string | null;
	/** Counted from 1; null when it is not known. */
	readonly line: number | null;
}

export interface Rule {
	readonly decision: Decision;
	/** The pattern as written. */
	readonly text: string;
	readonly pattern: RulePattern;
	/** Why, in the words of its author; may be empty. */
	readonly reason: string;
	readonly origin: RuleOrigin;
	/** The directory, absolute, that relative paths of the pattern are below; null for the roots of the workspace. */
	readonly base: string | null;
}

/** A rule as a file declares it. */
export interface RuleDeclaration {
	readonly decision: Decision;
	readonly pattern: string;
	readonly reason: string;
	/** Calls that the rule must decide over, and calls that it must not. */
	readonly match: readonly string[];
	readonly notMatch: readonly string[];
	/** The line of the declaration, counted from 1; null when it is not known. */
	readonly line: number | null;
	/** What gave the rule if no file did, such as a flag. */
	readonly from?: string;
}

/** The place of a rule, such as `config.toml, line 12`; empty for one that is in no file. */
export function describePlace({ file, line }: RuleOrigin): string {
	if (file === null) return "";
	return line === null ? file : `${file}, line ${line}`;
}

/** A sentence about what the rule does, such as `denies it`, with the reason that its author gave. */
export function ruleSentence({ text, origin, reason }: Rule, does: string): string {
	const why = reason === "" ? "" : `: ${reason.replace(/[.\s]+$/, "")}`;
	if (origin.scope === "session") return `\`${text}\`, approved for the session, ${does}${why}.`;
	const place = describePlace(origin);
	return `The ${origin.scope} rule \`${text}\`${place === "" ? "" : ` (${place})`} ${does}${why}.`;
}
