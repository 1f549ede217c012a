import type { CommandPattern, PatternToken } from "./command-pattern.ts";
import { type Arguments, canonicalFlags, hasOperandList, readArguments } from "./programs/arguments.ts";
import { canonicalWords } from "./programs/canonical-words.ts";
import { nameOf, writtenName } from "./programs/program-name.ts";
import type { CommandReading, SimpleCommand } from "./script.ts";

export interface Match {
	/** How the command matches; a phrase such as "inside sudo". */
	readonly form: string;
}

/** A command prepared for comparison, once for all rules. */
interface Candidate {
	readonly command: SimpleCommand;
	/** The outermost command of the script that runs it; usually itself. */
	readonly outermost: SimpleCommand;
	readonly texts: () => readonly CandidateWords[];
	readonly canonical: () => CandidateWords;
}

interface CandidateWords {
	readonly words: readonly string[];
	readonly has: Arguments;
	readonly operands: ReadonlySet<string>;
}

export class Candidates {
	readonly #byName = new Map<string, Candidate[]>();
	/** Commands already added; repeated commands are compared once. */
	readonly #known = new Set<string>();
	#first: SimpleCommand | null = null;

	readonly #home: string;

	/** The home directory has several spellings. */
	constructor(home: string) {
		this.#home = home;
	}

	add(reading: CommandReading): void {
		this.#add(reading, reading.command);
	}

	#add({ command, inner }: CommandReading, outermost: SimpleCommand): void {
		const [program] = command.words;
		if (program !== undefined) this.#first ??= outermost;
		const key = JSON.stringify([command.text, ...command.words.map((word) => word.text)]);
		if (program?.kind === "literal" && !this.#known.has(key)) {
			this.#known.add(key);
			const name = nameOf(program.text);
			const known = this.#byName.get(name) ?? [];
			const texts = once(() => wordsOf(name, command));
			const canonical = once(() => canonicalOf(name, command, this.#home));
			known.push({ command, outermost, texts, canonical });
			this.#byName.set(name, known);
		}
		for (const reading of inner?.commands ?? []) this.#add(reading, outermost);
	}

	/** The first command that matches the pattern; calls `rest` between commands. */
	async find(
		pattern: CommandPattern,
		rest: () => Promise<void> | undefined,
	): Promise<(Match & { readonly text: string }) | null> {
		await rest();
		if (pattern.kind === "every") return this.#first && { form: "as every command", text: this.#first.text };
		const [first, ...words] = pattern.tokens;
		if (first?.kind !== "literal") return null;
		const name = nameOf(first.text);
		const wanted = wantedBy(name, words);
		const canonical = wantedBy(name, canonicalTokens(name, words, this.#home));
		for (const candidate of this.#byName.get(name) ?? []) {
			await rest();
			const { command, outermost } = candidate;
			const form = formOf(first.text, name, { wanted, canonical }, pattern.isPrefix, candidate);
			if (form === null) continue;
			const isInside = outermost !== command;
			return { form: isInside ? `inside ${writtenName(outermost.words[0]?.text ?? "")}` : form, text: outermost.text };
		}
		return null;
	}
}

function once<T>(work: () => T): () => T {
	let done: { readonly value: T } | null = null;
	return () => {
		done ??= { value: work() };
		return done.value;
	};
}

function wordsOf(name: string, command: SimpleCommand): readonly CandidateWords[] {
	const decoded = command.words.slice(1).map((word) => word.text);
	const written = command.text.split(/\s+/).slice(1);
	return [decoded, written].map((words) => toCandidate(name, words));
}

function canonicalOf(name: string, { words, cwd }: SimpleCommand, home: string): CandidateWords {
	const texts = words.slice(1).map((word) => word.text);
	return toCandidate(name, canonicalWords(name, texts, { cwd, home }));
}

function toCandidate(name: string, words: readonly string[]): CandidateWords {
	const has = readArguments(name, words);
	return { words, has, operands: new Set(has.operands.map(({ text }) => text)) };
}

/** The placeholder for "any one word" in a pattern; no command contains it. */
const anyWord = "\0";

function canonicalTokens(name: string, tokens: readonly PatternToken[], home: string): readonly PatternToken[] {
	const texts = tokens.map((token) => (token.kind === "any" ? anyWord : token.text));
	return canonicalWords(name, texts, { cwd: null, home }).map((text) =>
		text === anyWord ? { kind: "any" } : { kind: "literal", text, raw: text },
	);
}

function formOf(
	program: string,
	name: string,
	{ wanted, canonical: wantedCanonical }: { readonly wanted: Wanted; readonly canonical: Wanted },
	isPrefix: boolean,
	{ command, texts, canonical }: Candidate,
): string | null {
	const written = command.words[0]?.text ?? "";
	const form = program === written ? "as written" : `as ${written}`;
	if (texts().some(({ words }) => isInOrder(wanted.words, words, isPrefix))) return form;
	const isOtherForm =
		texts().some((given) => hasArguments(name, wanted, given, isPrefix)) ||
		isInOrder(wantedCanonical.words, canonical().words, isPrefix) ||
		hasArguments(name, wantedCanonical, canonical(), isPrefix);
	return isOtherForm ? "with its options in another form" : null;
}

function isInOrder(wanted: readonly PatternToken[], texts: readonly string[], isPrefix: boolean): boolean {
	if (texts.length < wanted.length || (!isPrefix && texts.length > wanted.length)) return false;
	return wanted.every((token, index) => isEqual(token, texts[index]));
}

function isEqual(token: PatternToken, text: string | undefined): boolean {
	if (text === undefined) return false;
	return token.kind === "any" || token.text === text || token.raw === text;
}

interface Wanted {
	readonly words: readonly PatternToken[];
	readonly flags: readonly string[];
	readonly operands: readonly PatternToken[];
}

function wantedBy(name: string, words: readonly PatternToken[]): Wanted {
	const isOption = (token: PatternToken) => token.kind === "literal" && /^-./.test(token.text);
	return {
		words,
		flags: words.flatMap((token) =>
			token.kind === "literal" && isOption(token) && token.text !== "--" ? canonicalFlags(name, token.text) : [],
		),
		operands: words.filter((token) => !isOption(token)),
	};
}

/** Whether a command has all options of a pattern, in any order and spelling, and its other words in order. */
function hasArguments(
	name: string,
	wanted: Wanted,
	{ has, operands: texts }: CandidateWords,
	isPrefix: boolean,
): boolean {
	if (!wanted.flags.every((flag) => hasFlag(flag, has))) return false;
	const { operands } = wanted;
	if (hasOperandList(name)) return operands.every((operand) => isAmong(operand, texts));
	return hasOperands(operands, has.operands, isPrefix);
}

function hasFlag(flag: string, has: Arguments): boolean {
	return has.flags.has(flag) || [...has.abbreviated].some((short) => flag.startsWith(short));
}

function isAmong(token: PatternToken, texts: ReadonlySet<string>): boolean {
	return token.kind === "any" ? texts.size > 0 : texts.has(token.text) || texts.has(token.raw);
}

/** A word after an option may be its value and then is not an operand. */
function hasOperands(wanted: readonly PatternToken[], operands: Arguments["operands"], isPrefix: boolean): boolean {
	let reached = 0;
	for (const { text, mayBeValue } of operands) {
		const token = wanted[reached];
		if (token !== undefined && isEqual(token, text)) reached += 1;
		else if (token === undefined ? !isPrefix && !mayBeValue : !mayBeValue) return false;
	}
	return reached === wanted.length;
}
