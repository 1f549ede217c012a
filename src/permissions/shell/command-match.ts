// Whether a command is what a rule denies or asks about, in whatever form it is written.

import type { CommandPattern, PatternToken } from "./command-pattern.ts";
import { type Arguments, canonicalFlags, hasOperandList, readArguments } from "./programs/arguments.ts";
import { nameOf } from "./programs/program-name.ts";
import type { CommandReading, SimpleCommand } from "./script.ts";

export interface Match {
	/** In what form the command matches; a phrase such as "inside sudo". */
	readonly form: string;
}

/** Looks at the command, and at everything that it runs in turn. */
export function matchOf(pattern: CommandPattern, { command, inner }: CommandReading): Match | null {
	const form = formOf(pattern, command);
	if (form !== null) return { form };
	for (const reading of inner?.commands ?? []) {
		const match = matchOf(pattern, reading);
		if (match !== null) return { form: `inside ${nameOf(command.words[0]?.text ?? "")}` };
	}
	return null;
}

function formOf(pattern: CommandPattern, command: SimpleCommand): string | null {
	const [program, ...words] = command.words;
	if (program === undefined) return null;
	if (pattern.kind === "every") return "as every command";
	if (program.kind === "dynamic") return null;
	const { tokens, isPrefix } = pattern;
	const [first, ...wanted] = tokens;
	if (first?.kind !== "literal") return null;
	const name = nameOf(program.text);
	if (name !== nameOf(first.text)) return null;
	const form = program.text === first.text ? "as written" : `as ${program.text}`;
	const decoded = words.map((word) => word.text);
	if (isInOrder(wanted, decoded, isPrefix)) return form;
	// What people write is compared too: `~` is another text once it is decoded.
	const written = command.text.split(/\s+/).slice(1);
	if (isInOrder(wanted, written, isPrefix)) return form;
	for (const texts of [decoded, written]) {
		if (hasArguments(name, wanted, texts, isPrefix)) return "with its options in another form";
	}
	return null;
}

function isInOrder(wanted: readonly PatternToken[], texts: readonly string[], isPrefix: boolean): boolean {
	if (texts.length < wanted.length || (!isPrefix && texts.length > wanted.length)) return false;
	return wanted.every((token, index) => isEqual(token, texts[index]));
}

function isEqual(token: PatternToken, text: string | undefined): boolean {
	if (text === undefined) return false;
	return token.kind === "any" || token.text === text || token.raw === text;
}

/** Whether a command has all options of a pattern, in any order and spelling, and its other words in their order. */
function hasArguments(
	name: string,
	wanted: readonly PatternToken[],
	texts: readonly string[],
	isPrefix: boolean,
): boolean {
	const isOption = (token: PatternToken) => token.kind === "literal" && /^-./.test(token.text);
	const options = wanted.flatMap((token) => (token.kind === "literal" && isOption(token) ? [token.text] : []));
	const operands = wanted.filter((token) => !isOption(token) && !(token.kind === "literal" && token.text === "--"));
	const has = readArguments(name, texts);
	if (!options.every((option) => hasOption(name, option, has))) return false;
	if (hasOperandList(name))
		return isContained(
			operands,
			has.operands.map(({ text }) => text),
		);
	return hasOperands(operands, has.operands, isPrefix);
}

function hasOption(name: string, option: string, has: Arguments): boolean {
	return canonicalFlags(name, option).every(
		(flag) => has.flags.has(flag) || [...has.abbreviated].some((short) => flag.startsWith(short)),
	);
}

function isContained(operands: readonly PatternToken[], texts: readonly string[]): boolean {
	return operands.every((operand) => texts.some((text) => isEqual(operand, text)));
}

/** A word after an option may be its value, and is then none of the operands. */
function hasOperands(wanted: readonly PatternToken[], operands: Arguments["operands"], isPrefix: boolean): boolean {
	let reached = 0;
	for (const { text, mayBeValue } of operands) {
		const token = wanted[reached];
		if (token !== undefined && isEqual(token, text)) reached += 1;
		else if (token === undefined ? !isPrefix && !mayBeValue : !mayBeValue) return false;
	}
	return reached === wanted.length;
}
