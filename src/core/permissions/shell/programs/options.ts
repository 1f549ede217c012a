import type { Word } from "../script.ts";

export interface OptionTable {
	readonly flags?: string;
	/** Option letters with a value, attached or in the next word. */
	readonly valued?: string;
	/** Option letters whose value must be attached. */
	readonly attached?: string;
	/** Long options without a value, or with one only after `=`. */
	readonly longFlags?: readonly string[];
	/** Long options with a value, after `=` or in the next word. */
	readonly longValued?: readonly string[];
	readonly isSingleDash?: boolean;
	/** Whether long options cannot be abbreviated. */
	readonly isExact?: boolean;
	/** Whether unlisted options are flags, or have a value that is not a path. */
	readonly isOpen?: boolean;
	/** Whether `-5` is an option. */
	readonly takesNumber?: boolean;
}

/** `-ab` flags, `-n:` with a value, `-I?` maybe attached, `--name`, `--name=`, and `-#` for a number. */
export function optionTable(spec: string, more: OptionTable = {}): OptionTable {
	const words = spec.split(/\s+/).filter((word) => word !== "");
	const letters = (form: RegExp) => words.flatMap((word) => form.exec(word)?.[1] ?? []).join("");
	const names = (form: RegExp) => words.flatMap((word) => form.exec(word)?.[1] ?? []);
	const isSingleDash = more.isSingleDash === true;
	return {
		flags: letters(/^-([^-:?#]+)$/),
		valued: letters(/^-([^-]+):$/),
		attached: letters(/^-([^-]+)\?$/),
		longFlags: names(isSingleDash ? /^--?([^=]+)$/ : /^--([^=]+)$/),
		longValued: names(isSingleDash ? /^--?([^=]+)=$/ : /^--([^=]+)=$/),
		takesNumber: words.includes("-#"),
		...more,
	};
}

export interface ReadOption {
	readonly name: string;
	readonly value: Word | null;
	readonly at: number;
}

export interface ReadOptions {
	readonly options: readonly ReadOption[];
	/** The words from the first non-option on. */
	readonly rest: readonly Word[];
	/** A word that may be an option, or is an unknown one. */
	readonly unclear: Word | null;
}

export function readOptions(words: readonly Word[], table: OptionTable): ReadOptions {
	const options: ReadOption[] = [];
	const { next, unclear } = readFrom(words, 0, table, options);
	return { options, rest: words.slice(next), unclear: words[unclear[0] ?? -1] ?? null };
}

/** Options and operands in any order; long options cannot be abbreviated. */
export interface ReadArguments {
	readonly options: readonly ReadOption[];
	readonly operands: readonly Word[];
	/** Indexes of words that may be options, or are unknown ones. */
	readonly unclear: readonly number[];
}

export function readAllOptions(words: readonly Word[], table: OptionTable): ReadArguments {
	const options: ReadOption[] = [];
	const operands: Word[] = [];
	const exact = { ...table, isExact: true };
	const unclear: number[] = [];
	let index = 0;
	while (index < words.length) {
		const read = readFrom(words, index, exact, options);
		unclear.push(...read.unclear);
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
	/** Index of the first non-option. */
	readonly next: number;
	readonly unclear: readonly number[];
	/** Whether `--` ended the options. */
	readonly isOver: boolean;
}

function readFrom(words: readonly Word[], start: number, table: OptionTable, options: ReadOption[]): ReadPart {
	const unclear: number[] = [];
	let index = start;
	for (; index < words.length; index += 1) {
		const word = words[index];
		if (word === undefined) break;
		if (word.kind === "dynamic") {
			if (!word.mayBeOption) break;
			unclear.push(index);
			continue;
		}
		const { text } = word;
		if (text === "--") return { next: index + 1, unclear, isOver: true };
		if (text === "-" || !text.startsWith("-")) break;
		if (table.takesNumber && /^-{1,2}[-+]?\d+$/.test(text)) {
			options.push({ name: "number", value: word, at: index });
			continue;
		}
		const found = text.startsWith("--") || table.isSingleDash ? readLong(text, table) : readShort(text, table);
		if (found === null) {
			unclear.push(index);
			continue;
		}
		options.push(...found.options.map((option) => ({ ...option, at: index })));
		if (found.needsNext) {
			const value = words[index + 1];
			options.push({ name: found.needsNext, value: value ?? null, at: index });
			index += 1;
			// If the shell splits the value, the resulting words may be options.
			if (value?.kind === "dynamic" && value.mayBeOption && value.isOne !== true) unclear.push(index);
		}
	}
	return { next: Math.min(index, words.length), unclear, isOver: false };
}

interface Found {
	readonly options: Omit<ReadOption, "at">[];
	/** The option that takes the next word as its value; "" for none. */
	readonly needsNext: string;
}

const noPath = /^(?![.~@])(?:[^/]*|[^/]*%.*)$/s;

function readLong(
	text: string,
	{ longFlags = [], longValued = [], isExact = false, isOpen = false }: OptionTable,
): Found | null {
	const [, written = "", value] = /^--?([^=]*)(?:=(.*))?$/s.exec(text) ?? [];
	const all = [...longFlags, ...longValued];
	const candidates = all.includes(written) ? [written] : isExact ? [] : all.filter((name) => name.startsWith(written));
	const isOther = isOpen && !all.some((name) => name.startsWith(written)) && noPath.test(value ?? "");
	const name = candidates[0] ?? (isOther ? written : undefined);
	if (name === undefined || written === "" || candidates.length > 1) return null;
	if (value !== undefined) return { options: [{ name, value: { kind: "literal", text: value } }], needsNext: "" };
	return longValued.includes(name)
		? { options: [], needsNext: name }
		: { options: [{ name, value: null }], needsNext: "" };
}

function readShort(
	text: string,
	{ flags = "", valued = "", attached = "", isOpen = false }: OptionTable,
): Found | null {
	const options: Omit<ReadOption, "at">[] = [];
	for (let index = 1; index < text.length; index += 1) {
		const name = text.charAt(index);
		const value = text.slice(index + 1);
		if (valued.includes(name) && value === "") return { options, needsNext: name };
		if (valued.includes(name) || attached.includes(name)) {
			// Programs disagree whether the equals sign belongs to the value.
			if (/^=./s.test(value)) return null;
			return { options: [...options, { name, value: { kind: "literal", text: value } }], needsNext: "" };
		}
		if (!flags.includes(name) && !(isOpen && /[A-Za-z0-9]/.test(name))) return null;
		options.push({ name, value: null });
	}
	return { options, needsNext: "" };
}
