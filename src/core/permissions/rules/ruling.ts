// What the rules say about a part of a call, in the words of the rule that decides.
import { isWorse, type Verdict } from "../policy.ts";
import { type Rule, ruleSentence } from "./rule.ts";

export interface JudgePlace {
	/** The roots of the workspace, absolute, links resolved. */
	roots(): Promise<readonly string[]>;
	/** The home directory. */
	readonly home: string;
	/** Resolves every link of an absolute path, which need not exist. */
	resolve(path: string): Promise<string>;
	/** A clause that says why git would run a program of the repository there; null when it would not. */
	repositoryProgram(directory: string): Promise<string | null>;
	/** The names in a directory; without it, patterns for file names stand for unknown files. */
	readonly list?: (directory: string) => Promise<readonly string[]>;
}

/** What the rules say about one subject. */
export type Ruling = Pick<Verdict, "decision" | "reason" | "by">;

/** Everything that one subject is judged by. */
export interface Law {
	readonly rules: readonly Rule[];
	readonly allowsReadOnly: boolean;
	readonly place: JudgePlace;
}

/** The ruling of the worst rule that matches. */
export function judgeBy(rules: readonly Rule[], matches: (rule: Rule) => boolean): Ruling | null {
	let worst: Rule | null = null;
	for (const rule of rules) {
		if (!matches(rule)) continue;
		if (worst === null || isWorse(rule.decision, worst.decision)) worst = rule;
	}
	return worst === null ? null : rulingOf(worst);
}

const verbs = { allow: "allows it", ask: "asks for an approval", deny: "denies it" } as const;

/** The ruling of one rule; `what` is what it matched, if that is not the whole call. */
export function rulingOf(rule: Rule, what: string | null = null): Ruling {
	const object = what === null ? verbs[rule.decision] : verbs[rule.decision].replace("it", `\`${what}\``);
	const by = rule.origin.scope === "session" ? "session-grant" : "rule";
	return { decision: rule.decision, by, reason: ruleSentence(rule, object) };
}
