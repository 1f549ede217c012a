import { isWorse, type Verdict } from "../policy.ts";
import { type Rule, ruleSentence } from "./rule.ts";

export interface JudgePlace {
	/** The workspace roots, absolute, with links resolved. */
	roots(): Promise<readonly string[]>;
	readonly home: string;
	/** Resolves every link of an absolute path, which need not exist. */
	resolve(path: string): Promise<string>;
	/** Why git would run a program from the repository there, as a clause; null if it would not. */
	repositoryProgram(directory: string): Promise<string | null>;
	readonly list?: (directory: string) => Promise<readonly string[]>;
}

export type Ruling = Pick<Verdict, "decision" | "reason" | "by">;

export interface Law {
	readonly rules: readonly Rule[];
	readonly allowsReadOnly: boolean;
	readonly place: JudgePlace;
}

export function judgeBy(rules: readonly Rule[], matches: (rule: Rule) => boolean): Ruling | null {
	let worst: Rule | null = null;
	for (const rule of rules) {
		if (!matches(rule)) continue;
		if (worst === null || isWorse(rule.decision, worst.decision)) worst = rule;
	}
	return worst === null ? null : rulingOf(worst);
}

const verbs = { allow: "allows it", ask: "asks for an approval", deny: "denies it" } as const;

/** `what` is the matched part, if not the whole call. */
export function rulingOf(rule: Rule, what: string | null = null): Ruling {
	const object = what === null ? verbs[rule.decision] : verbs[rule.decision].replace("it", `\`${what}\``);
	const by = rule.origin.scope === "session" ? "session-grant" : "rule";
	return { decision: rule.decision, by, reason: ruleSentence(rule, object) };
}
