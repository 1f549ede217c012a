import { posix } from "node:path";
import { type CommandPattern, hasHarmlessAssignments, type PatternToken } from "./command-pattern.ts";
import { type FileUse, type Made, usesOf } from "./files-used.ts";
import { textRunners } from "./programs/forms/interpreter-forms.ts";
import { nameOf } from "./programs/program-name.ts";
import { type FormReading, isReadOnly, readForm, readsOtherFiles } from "./programs/read-form.ts";
import type { CommandReading, ScriptReading, SimpleCommand, Word } from "./script.ts";

export interface AllowingRule {
	readonly pattern: CommandPattern;
	/** Whether it only covers files below the workspace roots. */
	readonly isConfined?: boolean;
}

export interface AllowPlace {
	/** The directory in which the script starts. Program paths in rules are relative to it. */
	readonly root: string;
	readonly values: ScriptReading["values"];
	readonly made: Made;
	readonly leaves: boolean;
	isInside(use: FileUse): boolean;
}

/** Whether a rule allows a command; `allowsInner` judges the commands it runs. */
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
	const [program, ...others] = asStaging(command.words, tokens);
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
	// Programs without a table row are only covered by their exact words.
	if (reading.doubt !== null && !(reading.form === null && words.length === tokens.length && open < 0)) return false;
	if (runsOwnFile(known, reading, place)) return false;
	const uses = [...usesOf(known, place.values, place.made, command)].filter(isJudgedHere);
	return (
		uses.every((use) => isFree(use, rule, words.slice(0, tokens.length)) || place.isInside(use)) &&
		// In other directories, a program finds other things to run.
		(isAtHome(command, place) ||
			(rule.isConfined !== true && (reading.form?.reads !== undefined || (command.cwd === null && !place.leaves))))
	);
}

/** Whether a rule covers the file wherever it is. What runs must be in the workspace, unless the rule names it. */
function isFree({ operation, isListed, isRun, text }: FileUse, rule: AllowingRule, named: readonly Word[]): boolean {
	if (isRun === true && !named.some((word) => word.text === text)) return false;
	return operation === "read" && (rule.isConfined !== true || isListed === true);
}

/** Whether the program would execute its input. Rules cannot judge such input. */
function takesCommands(command: SimpleCommand): boolean {
	const { isFed, words } = command;
	return isFed && textRunners.has(nameOf(words[0]?.text ?? "")) && readForm(command, words.length).doubt !== null;
}

/** A wrapper rule covers the inner command as far as it names it; the rest needs its own allowance. */
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

/** A rule for `npx` covers programs in `node_modules/.bin`. */
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

/** A rule for `git add` also covers its reversal, `git restore --staged`. */
function asStaging(words: readonly Word[], [, verb]: readonly PatternToken[]): readonly Word[] {
	const [program, restore, option] = words;
	const isReversal =
		program?.text === "git" && restore?.text === "restore" && /^(?:-S|--staged)$/.test(option?.text ?? "");
	if (!isReversal || program === undefined || verb?.kind !== "literal" || verb.text !== "add") return words;
	return [program, { kind: "literal", text: verb.text }, ...words.slice(3)];
}

/** A path matches the file it leads to. A bare name never matches a path, because any file may have that name. */
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

/** Whether it runs a file that the script itself writes. */
function runsOwnFile({ words, cwd }: SimpleCommand, reading: FormReading | null, { made }: AllowPlace): boolean {
	const [program] = words;
	const operand = reading?.form?.files === "run" ? reading.given.operands[0] : undefined;
	return [program?.text.includes("/") === true ? program : undefined, operand].some(
		(word) => word?.kind === "literal" && made.isWritten(posix.resolve(cwd ?? "/", word.text)),
	);
}

/** runsOwnFile for package managers, which run files of this directory. */
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

/** Whether a command is known to change nothing and to read only workspace files. */
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

/** Whether the files it uses, or only its redirections, are in the workspace. */
export function usesInside(command: SimpleCommand, place: AllowPlace, by: "redirect" | "all"): boolean {
	const uses = [...usesOf(command, place.values, place.made)].filter(isJudgedHere);
	return uses.every((use) => (by === "redirect" && use.by === "operand") || place.isInside(use));
}

/** Whether a command may enter a directory outside of the workspace, judged by the resolved path. */
export function leaves(command: SimpleCommand, place: AllowPlace): boolean {
	const [program, target] = command.words;
	if (program?.text !== "cd" && program?.text !== "pushd") return false;
	return target === undefined || target.text.startsWith("-") || !usesInside(command, place, "all");
}

/** Redirections into a file need a rule for the file. */
const isJudgedHere = ({ by, operation }: FileUse) => by === "operand" || operation === "read";

export type ReadLimits = "none" | "hidden names" | "any";

/** Whether it skips dotfiles: `rg` does, and git only searches committed files. */
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

function isAtHome(command: SimpleCommand, { made, isInside }: AllowPlace): boolean {
	const { cwd } = command;
	if (cwd === null || made.holds(cwd, command)) return false;
	return isInside({ operation: "read", path: cwd, text: cwd, by: "operand" });
}
