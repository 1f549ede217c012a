// What allows a command: a rule, what it is known to do, or that everything it runs in turn is allowed.
import { posix } from "node:path";
import { type CommandPattern, hasHarmlessAssignments, type PatternToken } from "./command-pattern.ts";
import { type FileUse, type Made, usesOf } from "./files-used.ts";
import { textRunners } from "./programs/forms/interpreter-forms.ts";
import { nameOf } from "./programs/program-name.ts";
import { type FormReading, isReadOnly, readForm, readsOtherFiles } from "./programs/read-form.ts";
import type { CommandReading, ScriptReading, SimpleCommand, Word } from "./script.ts";

export interface AllowingRule {
	readonly pattern: CommandPattern;
	/** Whether it only covers files below the roots of the workspace. */
	readonly isConfined?: boolean;
}

/** What a script is allowed by. */
export interface AllowPlace {
	/** The directory that the script starts in, to which programs with a path in a rule are relative. */
	readonly root: string;
	readonly values: ScriptReading["values"];
	readonly made: Made;
	/** Whether the script may go to a directory that is not in the workspace. */
	readonly leaves: boolean;
	/** Whether a file is below a root of the workspace, and nothing that other programs take for their settings. */
	isInside(use: FileUse): boolean;
}

/** Whether a rule allows a command; `allowsInner` judges what it runs in turn. */
export function allows(
	rule: AllowingRule,
	{ command, inner }: CommandReading,
	place: AllowPlace,
	allowsInner: (inner: CommandReading) => boolean,
): boolean {
	const { pattern } = rule;
	if (pattern.kind === "every") return true;
	if (command.isDeclaredHere || !hasHarmlessAssignments(command)) return false;
	const local = asNamedByNpx(rule, command, place);
	if (local !== null)
		return (
			!runsOwnFile(command, null, place) &&
			allows(local.rule, { command: local.command, inner: null }, place, allowsInner)
		);
	const { tokens, isPrefix } = pattern;
	const [first] = tokens;
	const [program, ...others] = command.words;
	if (first?.kind !== "literal" || program?.kind !== "literal") return false;
	if (!isProgram(first.text, program.text, command.cwd, place.root) || takesCommands(command)) return false;
	const words: readonly Word[] = [first, ...others];
	if (words.length < tokens.length) return coversInner(rule, words, inner, place, allowsInner);
	const isCovered = tokens.every((token, index) => covers(token, words[index]));
	if (!isCovered || (!isPrefix && words.length > tokens.length)) return false;
	if (!isPrefix && tokens.every(({ kind }) => kind === "literal")) return !runsOwnFile(command, null, place);
	if (inner?.isFollowed === true) {
		const runsOwn = runsOwnFile(command, null, place) || runsOwnPackage({ command, inner }, place);
		return !runsOwn && coversInner(rule, words, inner, place, allowsInner);
	}
	const open = tokens.findIndex(({ kind }) => kind === "any");
	const known: SimpleCommand = { ...command, words };
	const reading = readForm(known, open < 0 ? tokens.length : open);
	// Without a row, a rule covers the words that it names.
	if (reading.doubt !== null && !(reading.form === null && words.length === tokens.length && open < 0)) return false;
	if (runsOwnFile(known, reading, place)) return false;
	const uses = [...usesOf(known, place.values, place.made, command)].filter(isJudgedHere);
	return (
		uses.every(
			(use) => (use.operation === "read" && (rule.isConfined !== true || use.isListed === true)) || place.isInside(use),
		) &&
		// Elsewhere, a program finds other things to run.
		(isAtHome(command, place) ||
			(rule.isConfined !== true && (reading.form?.reads !== undefined || (command.cwd === null && !place.leaves))))
	);
}

/** Whether a program would take its input for a program, or for commands: no rule can read these. */
function takesCommands(command: SimpleCommand): boolean {
	const { isFed, words } = command;
	return isFed && textRunners.has(nameOf(words[0]?.text ?? "")) && readForm(command, words.length).doubt !== null;
}

/** A rule for a wrapper covers what it runs as far as the rule names it; else that must be allowed by itself. */
function coversInner(
	rule: AllowingRule,
	words: readonly Word[],
	inner: CommandReading["inner"],
	place: AllowPlace,
	allowsInner: (inner: CommandReading) => boolean,
): boolean {
	const { pattern } = rule;
	if (inner === null || !inner.isFollowed || pattern.kind === "every" || inner.commands.length === 0) return false;
	const [first] = inner.commands;
	const program = first?.command.words[0];
	const start = program === undefined ? -1 : words.indexOf(program);
	const { tokens } = pattern;
	if (start > 0 && tokens.length > start && first !== undefined) {
		const isNamed = tokens.slice(0, start).every((token, index) => covers(token, words[index]));
		const rest: AllowingRule = { ...rule, pattern: { ...pattern, tokens: tokens.slice(start) } };
		return isNamed && inner.commands.length === 1 && allows(rest, first, place, allowsInner);
	}
	const isNamed = pattern.isPrefix && tokens.every((token, index) => covers(token, words[index]));
	return isNamed && inner.commands.every(allowsInner);
}

const localProgram = /^(?:\.\/)?node_modules\/\.bin\/([\w.-]+)$/;

/** What is in `node_modules/.bin` is what a rule for `npx` names. */
function asNamedByNpx(
	{ pattern, ...rest }: AllowingRule,
	command: SimpleCommand,
	{ root }: AllowPlace,
): { readonly rule: AllowingRule; readonly command: SimpleCommand } | null {
	const [program, ...others] = command.words;
	if (pattern.kind === "every" || command.cwd !== root || program?.kind !== "literal") return null;
	const [first, second] = pattern.tokens;
	const local = localProgram.exec(program.text)?.[1];
	if (local === undefined || first?.kind !== "literal" || first.text !== "npx") return null;
	if (second?.kind !== "literal" || second.text !== local) return null;
	const words: readonly Word[] = [{ kind: "literal", text: local }, ...others];
	return {
		rule: { ...rest, pattern: { ...pattern, tokens: pattern.tokens.slice(1) } },
		command: { ...command, words },
	};
}

/** A path means the file that it leads to; a bare name never means a path, as any file may have that name. */
function isProgram(wanted: string, program: string, cwd: string | null, root: string): boolean {
	if (!wanted.includes("/") || !program.includes("/")) return program === wanted;
	const isUp = /(?:^|\/)\.\.(?:\/|$)/;
	if (posix.isAbsolute(program)) return program === (posix.isAbsolute(wanted) ? wanted : posix.resolve(root, wanted));
	return cwd !== null && !isUp.test(program) && posix.resolve(cwd, program) === posix.resolve(root, wanted);
}

function covers(token: PatternToken, word: Word | undefined): boolean {
	if (word?.kind !== "literal") return false;
	return token.kind === "any" || token.text === word.text;
}

/** Whether what it runs is a file that the script itself writes. */
function runsOwnFile({ words, cwd }: SimpleCommand, reading: FormReading | null, { made }: AllowPlace): boolean {
	const [program] = words;
	const operand = reading?.form?.files === "run" ? reading.given.operands[0] : undefined;
	return [program?.text.includes("/") === true ? program : undefined, operand].some(
		(word) => word?.kind === "literal" && made.isWritten(posix.resolve(cwd ?? "/", word.text)),
	);
}

/** The same for what a package manager runs, which is in this directory. */
function runsOwnPackage({ command, inner }: CommandReading, { made }: AllowPlace): boolean {
	if (inner === null || inner.isTransparent) return false;
	return inner.commands.some(
		({
			command: {
				words: [program],
			},
		}) => made.isWritten(posix.resolve(command.cwd ?? "/", "node_modules/.bin", program?.text ?? "")),
	);
}

/** Whether a command is known to change nothing, and only reads what is in the workspace. */
export function readsOnly(command: SimpleCommand, place: AllowPlace, limits: ReadLimits): boolean {
	const [program] = command.words;
	if (program?.kind !== "literal" || program.text.includes("/")) return false;
	if (command.isDeclaredHere || !hasHarmlessAssignments(command)) return false;
	const reading = readForm(command);
	if (!isReadOnly(reading)) return false;
	if (limits !== "none" && readsOtherFiles(reading) && !(limits === "hidden names" && skipsHidden(reading)))
		return false;
	return usesInside(command, place, "all") && (reading.form?.files === "none" || isAtHome(command, place));
}

/** Whether the files that it uses, or only those of its redirections, are in the workspace. */
export function usesInside(command: SimpleCommand, place: AllowPlace, by: "redirect" | "all"): boolean {
	const uses = [...usesOf(command, place.values, place.made)].filter(isJudgedHere);
	return uses.every((use) => (by === "redirect" && use.by === "operand") || place.isInside(use));
}

/** Whether a command may go to a directory that is not in the workspace; its path is judged as the system resolves it. */
export function leaves(command: SimpleCommand, place: AllowPlace): boolean {
	const [program, target] = command.words;
	if (program?.text !== "cd" && program?.text !== "pushd") return false;
	return target === undefined || target.text.startsWith("-") || !usesInside(command, place, "all");
}

/** What a command redirects into a file needs a rule for the file. */
const isJudgedHere = ({ by, operation }: FileUse) => by === "operand" || operation === "read";

/** Which files may not be read without a question. */
export type ReadLimits = "none" | "hidden names" | "any";

/** Whether it leaves out files whose name starts with a dot: `rg` does, and git has what is committed. */
function skipsHidden({ names: [name], given: { options, operands } }: FormReading): boolean {
	if (name === "git") {
		return (
			operands.every((word) => word.kind === "literal" && !/[*?[]|^:/.test(word.text)) &&
			!options.some((option) => option.name === "untracked")
		);
	}
	return (
		name === "rg" &&
		!options.some(
			({ name: option, value }) =>
				/^(?:u|hidden|unrestricted|no-ignore|\.|f|file)$/.test(option) ||
				(/^(?:g|glob|iglob)$/.test(option) && value?.text.startsWith("!") !== true),
		)
	);
}

/** Whether the directory that it runs in is one of the workspace. */
function isAtHome({ cwd }: SimpleCommand, { isInside }: AllowPlace): boolean {
	return cwd !== null && isInside({ operation: "read", path: cwd, text: cwd, by: "operand" });
}
