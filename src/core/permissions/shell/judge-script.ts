// Deny beats ask, ask beats allow; a script is allowed only if each of its commands is.
import { posix } from "node:path";
import { createPace } from "../../../base/pace.ts";
import { type AllowPlace, allows, leaves, type ReadLimits, readsOnly, usesInside } from "./allowance.ts";
import { type Budget, BudgetExceeded, createBudget, judgingTime } from "./budget.ts";
import { Candidates, type Match } from "./command-match.ts";
import { type CommandPattern, hasHarmlessAssignments } from "./command-pattern.ts";
import { type FileUse, filesOf, flatten, madeBy } from "./files-used.ts";
import { textRunners } from "./programs/forms/interpreter-forms.ts";
import { nameOf, writtenName } from "./programs/program-name.ts";
import { programInVariable } from "./programs/program-variables.ts";
import { readForm } from "./programs/read-form.ts";
import { type CommandReading, type ScriptPlace, type ScriptReading, type SimpleCommand, shownPiece } from "./script.ts";
import { isShellOnly } from "./shell-only.ts";

export interface ScriptRule {
	readonly pattern: CommandPattern;
	/** Whether it only allows workspace files. */
	readonly isConfined?: boolean;
}

export interface ScriptRules<Rule extends ScriptRule> {
	readonly deny: readonly Rule[];
	readonly ask: readonly Rule[];
	readonly allow: readonly Rule[];
	readonly allowsReadOnly: boolean;
	/** Which files cannot be read without asking. With limits, commands that read unnamed files need a rule. */
	readonly readLimits?: ReadLimits;
	/** Whether a file is in the workspace; without it, all files are. */
	readonly isInside?: (use: FileUse) => boolean;
}

/** Returns "allow" if no rule applies to the file. */
export type JudgeFile = (use: FileUse) => "allow" | "ask" | "deny";

export interface ScriptVerdict<Rule extends ScriptRule> {
	readonly decision: "allow" | "ask" | "deny" | null;
	/** A clause without a full stop. */
	readonly why: string;
	readonly rule: Rule | null;
	/** The deciding part as written, cut to 200 characters; null for the whole script. */
	readonly text: string | null;
}

/** Yields, because there may be thousands of rules. Deny rules are checked without a limit. */
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
	const hidden = findHidden(rules, place, reading);
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

/** Splits the work on a script so that other work can run in between. */
class Pieces {
	readonly #pace = createPace();
	readonly #budget: Budget;
	#exceeded: BudgetExceeded | null = null;
	#isLimited = false;

	constructor(budget: Budget) {
		this.#budget = budget;
	}

	/** Enforces the limit from now on, including earlier work: throws BudgetExceeded. */
	limit(): void {
		this.#isLimited = true;
		if (this.#exceeded !== null) throw this.#exceeded;
	}

	/** Call after each piece; only returns a promise when it yields. */
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

async function judgeFiles(reading: ScriptReading, judgeFile: JudgeFile, pieces: Pieces): Promise<JudgedFiles> {
	let asked: FileUse | null = null;
	for (const use of filesOf(reading)) {
		await pieces.next();
		const decision = judgeFile(use);
		if (decision === "deny") return { denied: use, asked };
		const isUncertain = use.by === "redirect" && use.operation === "write" && use.path === null;
		if (decision === "ask" || isUncertain) asked ??= use;
	}
	return { denied: null, asked };
}

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

/** Program text that no rule can read may run a denied command. Only a rule with exactly these words allows it. */
export function findHidden<Rule extends ScriptRule>(
	rules: Pick<ScriptRules<Rule>, "deny" | "allow">,
	place: ScriptPlace,
	reading: ScriptReading,
): { readonly why: string; readonly text: string } | null {
	if (rules.deny.length === 0) return null;
	const exact = rules.allow.filter(({ pattern }) => isExact(pattern));
	const allowPlace = allowPlaceOf({}, place, reading);
	const find = (commands: readonly CommandReading[]): { readonly why: string; readonly text: string } | null => {
		for (const each of commands) {
			const isNamed = exact.some((rule) => allows(rule, each, allowPlace, () => false));
			const why = isNamed ? null : (textDoubt(each.command) ?? programInVariable(each.command));
			if (why !== null) return { why, text: shownPiece(each.command.text) };
			const found = find(each.inner?.commands ?? []);
			if (found !== null) return found;
		}
		return null;
	};
	return find(reading.commands);
}

/** Why a command may run text that no rule can read; null if its form is known not to. */
function textDoubt(command: SimpleCommand): string | null {
	const [program] = command.words;
	if (program?.kind !== "literal") return null;
	const name = nameOf(program.text);
	if (!textRunners.has(name) && !textRunners.has(name.replace(/-?\d[\d.]*$/, ""))) return null;
	const { doubt } = readForm(command);
	return doubt === null ? null : `${writtenName(program.text)} runs a program that no rule can read, or more: ${doubt}`;
}

function isExact(pattern: CommandPattern): boolean {
	return pattern.kind !== "every" && !pattern.isPrefix && pattern.tokens.every(({ kind }) => kind === "literal");
}

function allowPlaceOf<Rule extends ScriptRule>(
	{ isInside = () => true }: Pick<ScriptRules<Rule>, "isInside">,
	{ cwd }: ScriptPlace,
	{ commands, values }: ScriptReading,
): AllowPlace {
	const place = { root: posix.resolve(cwd), values, made: madeBy(commands), leaves: false, isInside };
	return { ...place, leaves: [...flatten(commands)].some((command) => leaves(command, place)) };
}

interface Allowance<Rule> {
	readonly rule: Rule | null;
	readonly why: string;
}

async function judgeAllowed<Rule extends ScriptRule>(
	rules: ScriptRules<Rule>,
	place: ScriptPlace,
	reading: ScriptReading,
	pieces: Pieces,
): Promise<ScriptVerdict<Rule>> {
	const allowPlace = allowPlaceOf(rules, place, reading);
	const found: Allowance<Rule>[] = [];
	for (const each of reading.commands) {
		await pieces.next();
		const allowance = allowanceOf(rules, place, allowPlace, each);
		if (allowance === null) return { decision: null, ...whyNot(rules, each.command), rule: null };
		found.push(allowance);
	}
	const every = rules.allow.find(({ pattern }) => pattern.kind === "every");
	if (every !== undefined) found.push({ rule: every, why: "a rule allows every command" });
	const first = found.find(({ rule }) => rule !== null) ?? found.find(({ why }) => why !== ofTheShell);
	// Assignments alone change nothing outside of their shell.
	if (first === undefined)
		return { decision: null, why: "no rule matches any of its commands", rule: null, text: null };
	return { decision: "allow", why: first.why, rule: first.rule, text: null };
}

/** Why no rule allows a command; if a rule names its program, says which part is not covered. */
function whyNot<Rule extends ScriptRule>(
	{ allow }: ScriptRules<Rule>,
	command: SimpleCommand,
): { readonly why: string; readonly text: string } {
	const [program] = command.words;
	const named = allow.some(
		({ pattern }) =>
			pattern.kind === "tokens" && pattern.tokens[0]?.kind === "literal" && pattern.tokens[0].text === program?.text,
	);
	const doubt = named ? readForm(command, 1).doubt : null;
	return { why: doubt ?? "no rule allows the command", text: shownPiece(command.text) };
}

const ofTheShell = "it changes nothing but its shell";

function allowanceOf<Rule extends ScriptRule>(
	rules: ScriptRules<Rule>,
	place: ScriptPlace,
	allowPlace: AllowPlace,
	reading: CommandReading,
): Allowance<Rule> | null {
	const { command, inner } = reading;
	const allowsInner = (each: CommandReading) => allowanceOf(rules, place, allowPlace, each) !== null;
	const rule = rules.allow.find((each) => allows(each, reading, allowPlace, allowsInner));
	if (rule !== undefined) return { rule, why: "a rule allows each of its commands" };
	if (rules.allowsReadOnly && readsOnly(command, allowPlace, rules.readLimits ?? "none") && inner === null) {
		return { rule: null, why: "its commands are known to change nothing" };
	}
	const isNear = usesInside(command, allowPlace, "redirect");
	if (inner === null) return isNear && isShellOnly(command, place) ? { rule: null, why: ofTheShell } : null;
	if (!inner.isTransparent || !hasHarmlessAssignments(command) || command.isDeclaredHere) return null;
	let last: Allowance<Rule> | null = null;
	for (const each of inner.commands) {
		const allowance = allowanceOf(rules, place, allowPlace, each);
		if (allowance === null) return null;
		if (last === null || last.rule === null) last = allowance;
	}
	const isOpen = last?.rule !== null && last?.rule.isConfined !== true;
	return isNear || isOpen ? last : null;
}
