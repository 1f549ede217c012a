import type { Subject } from "../../../api/values/subject.ts";
import type { ReadLimits } from "../shell/allowance.ts";
import type { CommandPattern } from "../shell/command-pattern.ts";
import { type FileUse, flatten } from "../shell/files-used.ts";
import { findHidden, judgeScript, type ScriptVerdict } from "../shell/judge-script.ts";
import { nameOf } from "../shell/programs/program-name.ts";
import { readScript } from "../shell/read-script.ts";
import type { CommandReading } from "../shell/script.ts";
import { type Rule, ruleSentence } from "./rule.ts";
import { type JudgePlace, type Law, type Ruling, rulingOf } from "./ruling.ts";
import { judgeUsedFiles, type UsedFiles } from "./used-files.ts";

export type CommandSubject = Extract<Subject, { kind: "command" }>;

interface CommandRule {
	readonly pattern: CommandPattern;
	readonly rule: Rule;
	readonly isConfined: boolean;
}

export async function judgeCommand({ text, cwd }: CommandSubject, law: Law): Promise<Ruling | null> {
	const { rules, place } = law;
	const rulesOf = (decision: Rule["decision"]): readonly CommandRule[] =>
		rules.flatMap((rule) =>
			rule.decision === decision && rule.pattern.kind === "command"
				? [{ pattern: rule.pattern.command, rule, isConfined: rule.origin.scope === "session" }]
				: [],
		);
	const [deny, ask, allow] = [rulesOf("deny"), rulesOf("ask"), rulesOf("allow")];
	const hasFileRules = rules.some(({ pattern }) => pattern.kind === "file");
	const hasRules = deny.length + ask.length + allow.length > 0 || hasFileRules;
	if (!hasRules && !law.allowsReadOnly) return null;
	const reading = await readScript(text, { cwd, home: place.home });
	const program = law.allowsReadOnly ? await gitProgram(reading.commands, place) : null;
	const allowsReadOnly = law.allowsReadOnly && program === null;
	const files = await judgeUsedFiles(reading, law);
	const limiting = rules.filter(({ decision, pattern }) => decision !== "allow" && pattern.kind === "file");
	/** An unknown file may be subject to a deny or ask rule. */
	const hidesFile = limiting.length > 0 && files.hidesFile;
	const limits = {
		deny,
		ask,
		allow,
		allowsReadOnly,
		readLimits: readLimitsOf(limiting),
		isInside: (use: FileUse) => files.of(use).isInside,
	};
	const verdict = await judgeScript(limits, { cwd, home: place.home }, reading, (use) => {
		const { ruling, isKnown } = files.of(use);
		if (ruling !== null) return ruling.decision;
		if (!isKnown && hidesFile && use.isListed !== true) return "ask";
		return use.by === "redirect" && use.operation === "write" ? "ask" : "allow";
	});
	if (verdict.decision === null && hidesFile) return unknownFile;
	if (verdict.decision === null && program !== null) return open(`No rule allows it, and ${program}.`);
	const hidden = findHidden({ deny, allow }, { cwd, home: place.home }, reading);
	const ruling = toRuling(verdict, files, {
		isDoubtful: reading.doubts.length > 0 || hidesFile || hidden !== null,
		hasLimits: deny.length + ask.length + limiting.length > 0,
	});
	// Without rules, the reason why none matches is noise.
	return !hasRules && ruling?.decision === "ask" ? null : ruling;
}

/** Whether all read-protected files have dotfile names. */
function readLimitsOf(limiting: readonly Rule[]): ReadLimits {
	const reading = limiting.flatMap(({ pattern }) =>
		pattern.kind === "file" && pattern.access === "read" ? [pattern.path] : [],
	);
	if (reading.length === 0) return "none";
	return reading.every((path) => path?.steps.some((step) => step.kind === "name" && step.name.startsWith(".")))
		? "hidden names"
		: "any";
}

const unknownFile: Ruling = {
	decision: "ask",
	by: "rule",
	reason: "It cannot be judged by rules, because it uses a file whose name is not known.",
};

/** Why git would run a program from the repository, as a clause; null if it would not. */
async function gitProgram(commands: readonly CommandReading[], place: JudgePlace): Promise<string | null> {
	const uses = [...flatten(commands)].filter(
		({ words: [program] }) => program !== undefined && nameOf(program.text) === "git",
	);
	for (const directory of new Set(uses.map(({ cwd }) => cwd))) {
		const why = directory === null ? "git would run in an unknown directory" : await place.repositoryProgram(directory);
		if (why !== null) return why;
	}
	return null;
}

/** `hasLimits`: some rule denies or asks. */
function toRuling(
	verdict: ScriptVerdict<CommandRule>,
	files: UsedFiles,
	{ isDoubtful, hasLimits }: { readonly isDoubtful: boolean; readonly hasLimits: boolean },
): Ruling | null {
	const { decision, why, rule, text } = verdict;
	const what = text === null ? "" : ` (\`${text}\`)`;
	switch (decision) {
		case null:
			return null;
		case "allow":
			return rule === null
				? { decision, by: "rule", reason: "Commands that only read are allowed." }
				: { ...rulingOf(rule.rule), reason: ruleSentence(rule.rule, "allows it") };
		case "deny":
		case "ask": {
			if (rule !== null) return rulingOf(rule.rule, text);
			const byFile = files.rulings.find((ruling) => ruling.decision === decision);
			if (byFile !== undefined) return byFile;
			const beginning = isDoubtful ? "It cannot be judged by rules" : "No rule allows it";
			const reason = `${beginning}, because ${why}${what}.`;
			// With deny or ask rules present, a doubt may hide a match.
			return isDoubtful && hasLimits ? { decision: "ask", by: "rule", reason } : open(reason);
		}
	}
}

function open(reason: string): Ruling {
	return { decision: "ask", by: "default", reason };
}
