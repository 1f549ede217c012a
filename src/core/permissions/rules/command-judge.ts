// Judges a command line by the rules: everything that it would run, and every file that it would redirect into.
import path from "node:path";
import type { Subject } from "../../../api/values/subject.ts";
import type { CommandPattern } from "../shell/command-pattern.ts";
import { type FileUse, filesOf, findHidden, judgeScript, type ScriptVerdict } from "../shell/judge-script.ts";
import { nameOf } from "../shell/programs/program-name.ts";
import { readScript } from "../shell/read-script.ts";
import type { CommandReading, ScriptReading } from "../shell/script.ts";
import { judgeFile } from "./file-judge.ts";
import { type Rule, ruleSentence } from "./rule.ts";
import { type JudgePlace, type Law, type Ruling, rulingOf } from "./ruling.ts";

export type CommandSubject = Extract<Subject, { kind: "command" }>;

/** A rule over commands, as the judge of scripts takes it. */
interface CommandRule {
	readonly pattern: CommandPattern;
	readonly rule: Rule;
}

/** Null when no rule has anything to say about it. */
export async function judgeCommand({ text, cwd }: CommandSubject, law: Law): Promise<Ruling | null> {
	const { rules, place } = law;
	const rulesOf = (decision: Rule["decision"]): readonly CommandRule[] =>
		rules.flatMap((rule) =>
			rule.decision === decision && rule.pattern.kind === "command" ? [{ pattern: rule.pattern.command, rule }] : [],
		);
	const [deny, ask, allow] = [rulesOf("deny"), rulesOf("ask"), rulesOf("allow")];
	const hasFileRules = rules.some(({ pattern }) => pattern.kind === "file");
	if (deny.length + ask.length + allow.length === 0 && !hasFileRules && !law.allowsReadOnly) return null;
	const reading = await readScript(text, { cwd, home: place.home });
	const program = law.allowsReadOnly ? await gitProgram(reading.commands, place) : null;
	const allowsReadOnly = law.allowsReadOnly && program === null;
	const files = await judgeFiles(reading, law);
	const hasFileLimits = rules.some(({ decision, pattern }) => decision !== "allow" && pattern.kind === "file");
	/** A file that is not known may be one that a rule denies or asks about. */
	const hidesFile = hasFileLimits && [...filesOf(reading.commands)].some((use) => use.path === null);
	const limitsReading = rules.some(
		({ decision, pattern }) => decision !== "allow" && pattern.kind === "file" && pattern.access === "read",
	);
	const limits = { deny, ask, allow, allowsReadOnly, limitsReading };
	const verdict = await judgeScript(limits, { cwd, home: place.home }, reading, (use) =>
		use.path === null && hidesFile ? "ask" : decisionOf(use, files),
	);
	if (verdict.decision === null && hidesFile) return unknownFile;
	if (verdict.decision === null && program !== null) return open(`No rule allows it, and ${program}.`);
	return toRuling(verdict, files, {
		isDoubtful: reading.doubts.length > 0 || hidesFile || findHidden({ deny, allow }, reading.commands) !== null,
		hasLimits: deny.length + ask.length > 0 || hasFileLimits,
	});
}

const unknownFile: Ruling = {
	decision: "ask",
	by: "rule",
	reason: "It cannot be judged by rules, because it uses a file whose name is not known.",
};

/** Why git would run a program of a repository for one of the commands, as a clause; null when it would not. */
async function gitProgram(commands: readonly CommandReading[], place: JudgePlace): Promise<string | null> {
	const directories = new Set<string | null>();
	const collect = (readings: readonly CommandReading[]) => {
		for (const { command, inner } of readings) {
			const [program] = command.words;
			if (program !== undefined && nameOf(program.text) === "git") directories.add(command.cwd);
			if (inner !== null) collect(inner.commands);
		}
	};
	collect(commands);
	for (const directory of directories) {
		const why = directory === null ? "git would run in an unknown directory" : await place.repositoryProgram(directory);
		if (why !== null) return why;
	}
	return null;
}

type JudgedFiles = ReadonlyMap<string, Ruling | null>;

const keyOf = ({ operation, path: named }: FileUse) => `${operation} ${named ?? ""}`;

/** What the rules say about each file whose path is known, under its path and where links lead. */
async function judgeFiles({ commands }: ScriptReading, { rules, place }: Law): Promise<JudgedFiles> {
	const judged = new Map<string, Ruling | null>();
	const roots = await place.roots();
	for (const use of filesOf(commands)) {
		if (use.path === null || judged.has(keyOf(use))) continue;
		const named = path.normalize(use.path);
		// A path that cannot be resolved, such as one below a file, is judged as written.
		const resolved = await place.resolve(use.path).catch(() => named);
		judged.set(keyOf(use), judgeFile(use.operation, [...new Set([resolved, named])], roots, rules));
	}
	return judged;
}

/** A redirection into a file needs a rule of its own to be allowed. */
function decisionOf(use: FileUse, files: JudgedFiles): Rule["decision"] {
	const ruling = files.get(keyOf(use)) ?? null;
	if (ruling !== null) return ruling.decision;
	return use.by === "redirect" && use.operation === "write" ? "ask" : "allow";
}

/** `hasLimits` says whether a rule denies something or asks about it. */
function toRuling(
	verdict: ScriptVerdict<CommandRule>,
	files: JudgedFiles,
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
			const byFile = [...files.values()].find((ruling) => ruling?.decision === decision);
			if (byFile !== undefined && byFile !== null) return byFile;
			const beginning = isDoubtful ? "It cannot be judged by rules" : "No rule allows it";
			const reason = `${beginning}, because ${why}${what}.`;
			// Where something is denied or asked about, a doubt may hide it.
			return isDoubtful && hasLimits ? { decision: "ask", by: "rule", reason } : open(reason);
		}
	}
}

/** No rule allows it, for this reason. */
function open(reason: string): Ruling {
	return { decision: "ask", by: "default", reason };
}
