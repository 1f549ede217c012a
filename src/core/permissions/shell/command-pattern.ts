// Patterns over simple commands, as rules have them: `git diff:*`. They compare words, never text, as the same command
// can be written in many ways.
import { posix } from "node:path";
import { riskOf } from "./programs/risky-flags.ts";
import type { SimpleCommand, Word } from "./script.ts";
import { decodeWord } from "./word.ts";

export type PatternToken =
	| {
			readonly kind: "literal";
			readonly text: string;
			/** As written, for words that only a shell can expand, such as `~`. */
			readonly raw: string;
	  }
	/** Exactly one word. */
	| { readonly kind: "any" };

export type CommandPattern =
	| { readonly kind: "every" }
	| {
			readonly kind: "tokens";
			/** The first is literal. */
			readonly tokens: readonly PatternToken[];
			/** Whether further words may follow. */
			readonly isPrefix: boolean;
	  };

export type PatternReading =
	| { readonly ok: true; readonly pattern: CommandPattern }
	/** `reason` is a sentence. */
	| { readonly ok: false; readonly reason: string };

/** Reads what stands between the parentheses of `Bash(…)`. */
export function parseCommandPattern(text: string): PatternReading {
	const trimmed = text.trim();
	if (trimmed === "") return refuse("The pattern names no command: write * for every command.");
	if (trimmed === "*" || trimmed === ":*") return { ok: true, pattern: { kind: "every" } };
	const isColon = trimmed.endsWith(":*");
	const isStar = !isColon && /\s\*$/.test(trimmed);
	const body = isColon ? trimmed.slice(0, -2).trimEnd() : isStar ? trimmed.slice(0, -1).trimEnd() : trimmed;
	const words = splitWords(body);
	if (words === null) return refuse("The pattern has a quote that does not close.");
	const tokens: PatternToken[] = [];
	for (const [index, raw] of words.entries()) {
		if (raw === "*") {
			if (index === 0) return refuse("A pattern starts with the name of a program: * there would match any of them.");
			tokens.push({ kind: "any" });
			continue;
		}
		const token = readToken(raw, words, index);
		if (!token.ok) return token;
		tokens.push({ kind: "literal", text: token.text, raw });
	}
	return { ok: true, pattern: { kind: "tokens", tokens, isPrefix: isColon || isStar } };
}

function refuse(reason: string): { readonly ok: false; readonly reason: string } {
	return { ok: false, reason };
}

function readToken(
	raw: string,
	words: readonly string[],
	index: number,
): { readonly ok: true; readonly text: string } | { readonly ok: false; readonly reason: string } {
	if (raw.includes(":*")) return refuse(`":*" means "and any further words", and only at the end of a pattern.`);
	if (/^~(?:\/[^$`*?[{'"\\;&|<>()]*)?$/.test(raw)) return { ok: true, text: raw };
	const word = decodeWord(raw, null);
	if (word.kind === "literal") {
		if (index === 0 && /^[\w.]+=/.test(word.text))
			return refuse("A pattern starts with a program, not with a variable.");
		return word.text === "" && index === 0
			? refuse("A pattern starts with the name of a program.")
			: { ok: true, text: word.text };
	}
	if (word.why === "a pattern for file names") {
		const before = words.slice(0, index);
		const stem = /^[^*?[\]]+/.exec(raw)?.[0];
		if (index === 0 && /^[\w.-]+:[\w.-]+\*$/.test(raw)) {
			const instead = `${raw.slice(0, -1).replace(":", " ")}:*`;
			return refuse(`A pattern compares whole words, so "${raw}" is not possible: write ${instead}.`);
		}
		const proposal = stem !== undefined && index === words.length - 1 ? [...before, stem] : before;
		const instead = proposal.length > 0 ? `write ${proposal.join(" ")}:*` : "name the program, as in git status:*";
		return refuse(
			`A pattern compares whole words, so "${raw}" is not possible: ${instead}, or * for exactly one word.`,
		);
	}
	return refuse(`A pattern compares words as they are, and "${raw}" has ${word.why}: name one plain command.`);
}

/** The words of a text, as written; null when a quote does not close. */
function splitWords(text: string): readonly string[] | null {
	const words: string[] = [];
	let word = "";
	let quote = "";
	for (let index = 0; index < text.length; index += 1) {
		const character = text.charAt(index);
		if (quote === "" && /\s/.test(character)) {
			if (word !== "") words.push(word);
			word = "";
			continue;
		}
		word += character;
		if (character === "\\" && quote !== "'") {
			index += 1;
			word += text.charAt(index);
		} else if (quote !== "") {
			if (character === quote) quote = "";
		} else if (character === "'" || character === '"') quote = character;
	}
	if (quote !== "") return null;
	return word === "" ? words : [...words, word];
}

const harmlessVariable = /^(?:NODE_ENV|CI|LANG|LC_[A-Z]+|TZ|NO_COLOR|FORCE_COLOR|TERM)$/;

/** Whether the variables that are set for a command are of no consequence for what it does. */
export function hasHarmlessAssignments({ assignments }: SimpleCommand): boolean {
	return assignments.every(({ name, value }) => value.kind === "literal" && harmlessVariable.test(name));
}

/**
 * Whether a rule that allows the pattern allows the command: only where it is certain which program runs, and that none of
 * its words makes it do more than the pattern says. Redirections are not judged here.
 */
export function allows(pattern: CommandPattern, command: SimpleCommand): boolean {
	if (pattern.kind === "every") return true;
	const [program] = command.words;
	if (program === undefined) return false;
	const { tokens, isPrefix } = pattern;
	const [first] = tokens;
	if (first?.kind !== "literal" || program.kind !== "literal" || command.isDeclaredHere) return false;
	if (!isProgram(first.text, program.text, command.cwd) || !hasHarmlessAssignments(command)) return false;
	const words: readonly Word[] = [{ kind: "literal", text: first.text }, ...command.words.slice(1)];
	if (words.length < tokens.length || (!isPrefix && words.length > tokens.length)) return false;
	if (!tokens.every((token, index) => isCovered(token, words[index]))) return false;
	const named = new Set(tokens.flatMap((token) => (token.kind === "literal" ? [token.text] : [])));
	return riskOf(command, named) === null;
}

/** A path means the file that it leads to; a bare name never means a path, as any file may have that name. */
function isProgram(wanted: string, program: string, cwd: string | null): boolean {
	if (!program.includes("/")) return program === wanted;
	if (!wanted.startsWith("/")) return false;
	if (program.startsWith("/")) return program === wanted;
	return cwd !== null && !program.includes("..") && posix.resolve(cwd, program) === wanted;
}

function isCovered(token: PatternToken, word: Word | undefined): boolean {
	if (word?.kind !== "literal") return false;
	return token.kind === "any" || token.text === word.text;
}
