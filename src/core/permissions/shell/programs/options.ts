// Reads the options before the words that a program runs in turn.
import type { Word } from "../script.ts";

/** The options of a program that stand before its other words. */
export interface OptionTable {
	/** Letters of options without a value. */
	readonly flags?: string;
	/** Letters of options with a value, attached or in the next word. */
	readonly valued?: string;
	/** Letters of options whose value can only be attached. */
	readonly attached?: string;
	/** Long options without a value, or with one after `=` only. */
	readonly longFlags?: readonly string[];
	/** Long options with a value, after `=` or in the next word. */
	readonly longValued?: readonly string[];
	/** Whether long options have one dash. */
	readonly isSingleDash?: boolean;
	/** Whether long options must be written out. */
	readonly isExact?: boolean;
	/** Whether `-5` is an option. */
	readonly takesNumber?: boolean;
}

export interface ReadOption {
	/** Without dashes. */
	readonly name: string;
	readonly value: Word | null;
}

export interface ReadOptions {
	readonly options: readonly ReadOption[];
	/** The words from the first that is no option. */
	readonly rest: readonly Word[];
	/** A word that may be an option, or is none that the table knows. */
	readonly unclear: Word | null;
}

export function readOptions(words: readonly Word[], table: OptionTable): ReadOptions {
	const options: ReadOption[] = [];
	const { next, unclear } = readFrom(words, 0, table, options);
	return { options, rest: words.slice(next), unclear };
}

/** Options and operands of a program that takes them in any order; its long options must be written out. */
export interface ReadArguments {
	readonly options: readonly ReadOption[];
	readonly operands: readonly Word[];
	readonly unclear: Word | null;
}

export function readAllOptions(words: readonly Word[], table: OptionTable): ReadArguments {
	const options: ReadOption[] = [];
	const operands: Word[] = [];
	const exact = { ...table, isExact: true };
	let unclear: Word | null = null;
	let index = 0;
	while (index < words.length) {
		const read = readFrom(words, index, exact, options);
		unclear ??= read.unclear;
		if (read.isOver) {
			operands.push(...words.slice(read.next));
			break;
		}
		const operand = words[read.next];
		if (operand !== undefined) operands.push(operand);
		index = read.next + 1;
	}
	return { options, operands, unclear };
}

interface ReadPart {
	/** Where the first word is that is no option. */
	readonly next: number;
	readonly unclear: Word | null;
	/** Whether `--` says that no option follows. */
	readonly isOver: boolean;
}

/** Adds the options from `start` on to `options`. */
function readFrom(words: readonly Word[], start: number, table: OptionTable, options: ReadOption[]): ReadPart {
	let unclear: Word | null = null;
	let index = start;
	for (; index < words.length; index += 1) {
		const word = words[index];
		if (word === undefined) break;
		if (word.kind === "dynamic") {
			if (!word.mayBeOption) break;
			unclear ??= word;
			continue;
		}
		const { text } = word;
		if (text === "--") return { next: index + 1, unclear, isOver: true };
		if (text === "-" || !text.startsWith("-")) break;
		if (table.takesNumber && /^-{1,2}[-+]?\d+$/.test(text)) {
			options.push({ name: "number", value: word });
			continue;
		}
		const found = text.startsWith("--") || table.isSingleDash ? readLong(text, table) : readShort(text, table);
		if (found === null) {
			unclear ??= word;
			continue;
		}
		if (found.needsNext) {
			index += 1;
			found.options.push({ name: found.needsNext, value: words[index] ?? null });
		}
		options.push(...found.options);
	}
	return { next: Math.min(index, words.length), unclear, isOver: false };
}

interface Found {
	readonly options: ReadOption[];
	/** The option whose value is the next word; "" for none. */
	readonly needsNext: string;
}

function readLong(text: string, { longFlags = [], longValued = [], isExact = false }: OptionTable): Found | null {
	const [, written = "", value] = /^--?([^=]*)(?:=(.*))?$/s.exec(text) ?? [];
	const all = [...longFlags, ...longValued];
	const candidates = all.includes(written) ? [written] : isExact ? [] : all.filter((name) => name.startsWith(written));
	const [name] = candidates;
	if (name === undefined || written === "" || candidates.length > 1) return null;
	if (value !== undefined) return { options: [{ name, value: { kind: "literal", text: value } }], needsNext: "" };
	return longValued.includes(name)
		? { options: [], needsNext: name }
		: { options: [{ name, value: null }], needsNext: "" };
}

function readShort(text: string, { flags = "", valued = "", attached = "" }: OptionTable): Found | null {
	const options: ReadOption[] = [];
	for (let index = 1; index < text.length; index += 1) {
		const name = text.charAt(index);
		const value = text.slice(index + 1);
		if (flags.includes(name)) options.push({ name, value: null });
		else if (attached.includes(name)) {
			options.push({ name, value: { kind: "literal", text: value } });
			return { options, needsNext: "" };
		} else if (valued.includes(name)) {
			if (value === "") return { options, needsNext: name };
			options.push({ name, value: { kind: "literal", text: value } });
			return { options, needsNext: "" };
		} else return null;
	}
	return { options, needsNext: "" };
}
