// The verdict over a script: the worst over everything that it would run, write and read. Denying beats asking, and
// asking beats allowing; a script is allowed only if each of its commands is.
import { posix } from "node:path";
import { createPace } from "../../../base/pace.ts";
import { type Budget, BudgetExceeded, createBudget, judgingTime } from "./budget.ts";
import { Candidates, type Match } from "./command-match.ts";
import { allows, type CommandPattern, hasHarmlessAssignments } from "./command-pattern.ts";
import { fileOperands, unknownOperand } from "./programs/file-operands.ts";
import { inlineProgram } from "./programs/inline-program.ts";
import { nameOf } from "./programs/program-name.ts";
import { programInVariable } from "./programs/program-variables.ts";
import { isReadOnly } from "./programs/read-only.ts";
import { readsUnnamedFiles } from "./programs/unnamed-files.ts";
import {
	type CommandReading,
	type ScriptPlace,
	type ScriptReading,
	type SimpleCommand,
	shownPiece,
	type Word,
} from "./script.ts";
import { isShellOnly } from "./shell-only.ts";

export interface ScriptRule {
	readonly pattern: CommandPattern;
}

export interface ScriptRules<Rule extends ScriptRule> {
	readonly deny: readonly Rule[];
	readonly ask: readonly Rule[];
	readonly allow: readonly Rule[];
	/** Whether commands that are known to change nothing need no rule. */
	readonly allowsReadOnly: boolean;
	/** Whether reading some files is denied or asked about: then those need a rule that read files which nobody knows. */
	readonly limitsReading?: boolean;
}

export interface FileUse {
	readonly operation: "read" | "write";
	/**
	 * Absolute, and not normalized: `..` after a symbolic link leads elsewhere. Null when only the shell knows it.
	 */
	readonly path: string | null;
	/** As written. */
	readonly text: string;
	/** A redirection, or a word that a known program takes for a file. */
	readonly by: "redirect" | "operand";
}

/** Says nothing of a file with "allow", when no rule is against it. */
export type JudgeFile = (use: FileUse) => "allow" | "ask" | "deny";

export interface ScriptVerdict<Rule extends ScriptRule> {
	/** Null when nothing speaks for or against the script. */
	readonly decision: "allow" | "ask" | "deny" | null;
	/** A clause without full stop. */
	readonly why: string;
	/** The rule that decided, if one did. */
	readonly rule: Rule | null;
	/** What it is about, as written, cut to 200 characters; null for the script as a whole. */
	readonly text: string | null;
}

/**
 * Judges a script that was read for `place`. It lets other work go on, as there may be thousands of rules. What denies
 * the script is found whatever it costs; then the work has a limit.
 */
export async function judgeScript<Rule extends ScriptRule>(
	rules: ScriptRules<Rule>,
	place: ScriptPlace,
	reading: ScriptReading,
	judgeFile: JudgeFile,
	budget: Budget = createBudget(judgingTime),
): Promise<ScriptVerdict<Rule>> {
	const pieces = new Pieces(budget);
	const candidates = new Candidates(place.home);
	for (const command of reading.commands) {
		candidates.add(command);
		await pieces.next();
	}
	const denied = await findMatch(rules.deny, candidates, pieces);
	if (denied !== null) return verdictOf("deny", denied);
	const files = await judgeFiles(reading, judgeFile, pieces);
	if (files.denied !== null) return fileVerdict("deny", files.denied);
	const [doubt] = reading.doubts;
	if (doubt !== undefined) return { decision: "ask", why: doubt.why, rule: null, text: doubt.text };
	const hidden = findHidden(rules, reading.commands);
	if (hidden !== null) return { decision: "ask", ...hidden, rule: null };
	try {
		pieces.limit();
		const asked = await findMatch(rules.ask, candidates, pieces);
		if (asked !== null) return verdictOf("ask", asked);
		if (files.asked !== null) return fileVerdict("ask", files.asked);
		const elsewhere = findElsewhere(reading.commands, place);
		if (elsewhere !== null) {
			const why = "git runs in another directory, where the repository may have programs of its own";
			return { decision: "ask", why, rule: null, text: shownPiece(elsewhere.text) };
		}
		return await judgeAllowed(rules, place, reading, pieces);
	} catch (error) {
		if (!(error instanceof BudgetExceeded)) throw error;
		return { decision: "ask", why: error.message, rule: null, text: null };
	}
}

/** The work on a script, in pieces between which other work goes on. */
class Pieces {
	readonly #pace = createPace();
	readonly #budget: Budget;
	#exceeded: BudgetExceeded | null = null;
	#isLimited = false;

	constructor(budget: Budget) {
		this.#budget = budget;
	}

	/** From now on, and for what was done before, BudgetExceeded is thrown. */
	limit(): void {
		this.#isLimited = true;
		if (this.#exceeded !== null) throw this.#exceeded;
	}

	/** After each piece; only some of them have to be waited for. */
	next(): Promise<void> | undefined {
		try {
			this.#budget.visit();
		} catch (error) {
			if (!(error instanceof BudgetExceeded) || this.#isLimited) throw error;
			this.#exceeded = error;
		}
		return this.#pace.rest()?.then(() => this.#budget.resume());
	}
}

interface Found<Rule> {
	readonly rule: Rule;
	readonly match: Match;
	readonly text: string;
}

async function findMatch<Rule extends ScriptRule>(
	rules: readonly Rule[],
	candidates: Candidates,
	pieces: Pieces,
): Promise<Found<Rule> | null> {
	for (const rule of rules) {
		const match = await candidates.find(rule.pattern, () => pieces.next());
		if (match !== null) return { rule, match, text: match.text };
	}
	return null;
}

function verdictOf<Rule extends ScriptRule>(
	decision: "ask" | "deny",
	{ rule, match, text }: Found<Rule>,
): ScriptVerdict<Rule> {
	return { decision, why: `a rule matches the command ${match.form}`, rule, text: shownPiece(text) };
}

function fileVerdict<Rule extends ScriptRule>(decision: "ask" | "deny", use: FileUse): ScriptVerdict<Rule> {
	const what = use.operation === "read" ? "reads" : "writes";
	const file = use.path === null ? "a file whose path is not certain" : use.path;
	return { decision, why: `it ${what} ${file}`, rule: null, text: shownPiece(use.text) };
}

interface JudgedFiles {
	readonly denied: FileUse | null;
	readonly asked: FileUse | null;
}

async function judgeFiles({ commands }: ScriptReading, judgeFile: JudgeFile, pieces: Pieces): Promise<JudgedFiles> {
	let asked: FileUse | null = null;
	for (const use of filesOf(commands)) {
		await pieces.next();
		const decision = judgeFile(use);
		if (decision === "deny") return { denied: use, asked };
		const isUncertain = use.by === "redirect" && use.operation === "write" && use.path === null;
		if (decision === "ask" || isUncertain) asked ??= use;
	}
	return { denied: null, asked };
}

/** The files that the commands would redirect from or to, and those that known programs take from their words. */
export function* filesOf(commands: readonly CommandReading[]): Generator<FileUse> {
	for (const { command, inner } of commands) {
		for (const { operation, target } of command.redirects) {
			const path = pathOf(target, command);
			if (path !== null && isFreeDevice(path)) continue;
			yield { operation, path, text: target.text, by: "redirect" };
		}
		for (const { operation, word } of fileOperands(command)) {
			const path = pathOf(word, command);
			if (path !== null && isFreeDevice(path)) continue;
			yield { operation, path, text: word.text, by: "operand" };
		}
		const unknown = unknownOperand(command);
		if (unknown !== null) yield { operation: "read", path: null, text: unknown.text, by: "operand" };
		if (inner !== null) yield* filesOf(inner.commands);
	}
}

function pathOf(word: Word, { cwd }: SimpleCommand): string | null {
	if (word.kind === "dynamic" || word.text === "") return null;
	if (posix.isAbsolute(word.text)) return word.text;
	return cwd === null ? null : `${cwd === "/" ? "" : cwd}/${word.text}`;
}

function isFreeDevice(path: string): boolean {
	return /^\/dev\/(?:null|stdin|stdout|stderr|tty|zero|full|fd\/\d+)$/.test(path);
}

/** A git command outside of the directory that the script started in. */
function findElsewhere(commands: readonly CommandReading[], place: ScriptPlace): SimpleCommand | null {
	for (const { command, inner } of commands) {
		const [program] = command.words;
		const isGit = program?.kind === "literal" && nameOf(program.text) === "git";
		if (isGit && command.cwd !== posix.resolve(place.cwd)) return command;
		const found = findElsewhere(inner?.commands ?? [], place);
		if (found !== null) return found;
	}
	return null;
}

/**
 * A program within a text that no rule can read, where rules deny commands: it may run one of them. A rule that allows
 * exactly these words has the text itself.
 */
export function findHidden<Rule extends ScriptRule>(
	rules: Pick<ScriptRules<Rule>, "deny" | "allow">,
	commands: readonly CommandReading[],
): { readonly why: string; readonly text: string } | null {
	if (rules.deny.length === 0) return null;
	for (const { command, inner } of commands) {
		const exact = rules.allow.find(({ pattern }) => isExact(pattern) && allows(pattern, command));
		const why = exact === undefined ? (inlineProgram(command, new Set()) ?? programInVariable(command)) : null;
		if (why !== null) return { why, text: shownPiece(command.text) };
		const found = findHidden(rules, inner?.commands ?? []);
		if (found !== null) return found;
	}
	return null;
}

function isExact(pattern: CommandPattern): boolean {
	return pattern.kind !== "every" && !pattern.isPrefix && pattern.tokens.every(({ kind }) => kind === "literal");
}

interface Allowance<Rule> {
	/** Null when no rule was needed. */
	readonly rule: Rule | null;
	readonly why: string;
}

async function judgeAllowed<Rule extends ScriptRule>(
	rules: ScriptRules<Rule>,
	place: ScriptPlace,
	{ commands }: ScriptReading,
	pieces: Pieces,
): Promise<ScriptVerdict<Rule>> {
	const found: Allowance<Rule>[] = [];
	for (const reading of commands) {
		await pieces.next();
		const allowance = allowanceOf(rules, place, reading);
		if (allowance === null) {
			if (isShellOnly(reading.command, place) && reading.inner === null) continue;
			const text = shownPiece(reading.command.text);
			return { decision: null, why: "no rule allows the command", rule: null, text };
		}
		found.push(allowance);
	}
	const every = rules.allow.find(({ pattern }) => pattern.kind === "every");
	if (every !== undefined) found.push({ rule: every, why: "a rule allows every command" });
	const first = found.find(({ rule }) => rule !== null) ?? found[0];
	if (first === undefined)
		return { decision: null, why: "it has no command that a rule speaks of", rule: null, text: null };
	return { decision: "allow", why: first.why, rule: first.rule, text: null };
}

/** What allows a command with everything that it runs in turn; null if something of it is allowed by nothing. */
function allowanceOf<Rule extends ScriptRule>(
	rules: ScriptRules<Rule>,
	place: ScriptPlace,
	{ command, inner }: CommandReading,
): Allowance<Rule> | null {
	const rule = rules.allow.find(({ pattern }) => allows(pattern, command));
	if (rule !== undefined) return { rule, why: "a rule allows each of its commands" };
	const isFree = rules.allowsReadOnly && hasHarmlessAssignments(command) && isReadOnly(command);
	if (isFree && !(rules.limitsReading === true && readsUnnamedFiles(command))) {
		return { rule: null, why: "its commands are known to change nothing" };
	}
	if (inner === null || !inner.isTransparent || !hasHarmlessAssignments(command) || command.isDeclaredHere) return null;
	let last: Allowance<Rule> | null = null;
	for (const reading of inner.commands) {
		const allowance = allowanceOf(rules, place, reading);
		if (allowance === null) {
			if (isShellOnly(reading.command, place) && reading.inner === null) continue;
			return null;
		}
		if (last === null || last.rule === null) last = allowance;
	}
	return last;
}
