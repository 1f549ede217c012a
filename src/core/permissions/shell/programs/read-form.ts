// Everything unlisted needs a rule with its exact words.
import type { SimpleCommand, Word } from "../script.ts";
import type { FileOperand, Form, Given, Operands } from "./form.ts";
import { forms } from "./forms/forms.ts";
import { type OptionTable, optionTable, readAllOptions, readOptions } from "./options.ts";
import { nameOf } from "./program-name.ts";

export interface FormReading {
	/** The program and its verbs, as written. */
	readonly names: readonly string[];
	readonly form: Form | null;
	readonly given: Given;
	/** Why a rule for the program or verb does not cover the command; a clause without a full stop. */
	readonly doubt: string | null;
}

const nothing: Given = { options: [], operands: [] };

/** Reads a command; the compared rule names its first `named` words. */
export function readForm({ words: [program, ...words] }: SimpleCommand, named = 0): FormReading {
	if (program?.kind !== "literal")
		return { names: [], form: null, given: nothing, doubt: "the program is not literal" };
	const name = tableName(program.text);
	const form = name === null ? null : (forms.get(name) ?? null);
	if (form === null || name === null) {
		const doubt = `${nameOf(program.text)} is not in the table of known programs, so only its exact words can be allowed`;
		return { names: [program.text], form: null, given: nothing, doubt };
	}
	const [only] = words;
	if (words.length === 1 && only?.text === "--version") {
		const isPlain = form.reads !== undefined || printsVersion.has(name);
		return {
			names: [program.text],
			form: { ...versionForm, ...(isPlain && { reads: true }) },
			given: nothing,
			doubt: null,
		};
	}
	return readLevel(form, words, Math.max(0, named - 1), [program.text]);
}

const versionForm: Form = { anyOption: true, files: "none" };
/** Other programs read their version from the project and run it: `yarnPath`, `rust-toolchain.toml`, `.mvn/jvm.config`. */
const printsVersion = new Set(
	"bash bun c++ cc clang clang++ cmake curl deno docker g++ gcc gh git gmake java javac julia kubectl lua make node nodejs npm npx perl php podman psql python python3 ruby ruff sh tar tsc unzip uv wget zip zsh".split(
		" ",
	),
);

/** The table name: python3.12 is python3. */
function tableName(program: string): string | null {
	const own = nameOf(program);
	if (forms.has(own)) return own;
	const plain = own.replace(/-?\d[\d.]*$/, "");
	return forms.has(plain) ? plain : null;
}

function readLevel(form: Form, given: readonly Word[], count: number, names: readonly string[]): FormReading {
	const words = form.spread?.(given) ?? given;
	// The first word may have become several.
	const named = count > 0 ? count + words.length - given.length : 0;
	const delegated = form.delegate?.(words) ?? null;
	if (delegated !== null) {
		const skipped = words.length - delegated.words.length;
		const before = words.slice(0, skipped).map(({ text }) => text);
		return readLevel(delegated.form, delegated.words, named - skipped, [...names, ...before]);
	}
	const { verbs } = form;
	if (verbs === undefined) return { names, form, ...readPlain(form, words, named) };
	const { options, rest, unclear } = readOptions(words, { ...tableOf(form), isExact: true });
	const [verb] = rest;
	const before = words.length - rest.length;
	const doubt =
		doubtOfOptions(form, { options, operands: [] }, named) ??
		(unclear === null || words.indexOf(unclear) < named ? null : beyond(unclear));
	if (verb === undefined) return { names, form: { ...form, verbs: {} }, given: { options, operands: [] }, doubt };
	const next = verb.kind === "literal" && Object.hasOwn(verbs, verb.text) ? verbs[verb.text] : undefined;
	if (next === undefined) {
		// The effect of an unknown verb is unknown; some programs take another word there.
		if (form.operand !== undefined || form.judge !== undefined)
			return { names, form, ...readPlain(form, words, named) };
		return {
			names,
			form: null,
			given: nothing,
			doubt: `${names.join(" ")} ${verb.text} is not in the table of known commands`,
		};
	}
	const path = [...names, verb.text];
	const read = readLevel(next, rest.slice(1), named - before - 1, path);
	const unnamed =
		next.isNamed === true && named <= before ? `only a rule that names \`${path.join(" ")}\` covers it` : null;
	return { ...read, doubt: doubt ?? unnamed ?? read.doubt };
}

function readPlain(form: Form, all: readonly Word[], named: number): Pick<FormReading, "given" | "doubt"> {
	const dashes = form.tail === undefined ? -1 : all.findIndex((word) => word.kind === "literal" && word.text === "--");
	const words = dashes < 0 ? all : all.slice(0, dashes);
	const table = tableOf(form);
	let given: Given;
	let unclear: Word | undefined;
	if (form.optionsFirst === true) {
		const read = readOptions(words, { ...table, isExact: true });
		given = { options: read.options, operands: read.rest };
		unclear = read.unclear === null || words.indexOf(read.unclear) < named ? undefined : read.unclear;
	} else {
		const read = readAllOptions(words, table);
		given = { ...read, open: read.unclear.flatMap((at) => (words[at]?.kind === "dynamic" ? [words[at]] : [])) };
		unclear = words[read.unclear.find((at) => at >= named) ?? -1];
	}
	// Files that only the shell knows are judged separately.
	const isFree = form.anyOption === true && (form.files === "none" || unclear?.kind === "dynamic");
	let doubt = isFree || unclear === undefined ? null : beyond(unclear);
	doubt ??= doubtOfOptions(form, given, named) ?? doubtOfOperands(form, given) ?? form.judge?.(given) ?? null;
	if (dashes >= 0 && form.tail !== undefined) {
		const tail = readPlain(form.tail, all.slice(dashes + 1), named - dashes - 1);
		doubt ??= given.options.some(
			({ value, at }) => value === null && at === words.length - 1 && isValued(form, words[at]),
		)
			? "an option takes -- for its value"
			: tail.doubt;
	}
	return { given, doubt };
}

function isValued(form: Form, word: Word | undefined): boolean {
	const table = tableOf(form);
	const text = word?.text ?? "";
	return text.startsWith("--")
		? (table.longValued?.includes(text.slice(2)) ?? false)
		: (table.valued?.includes(text.slice(-1)) ?? false);
}

function beyond(word: Word): string {
	return word.kind === "dynamic"
		? `${word.why} may become an option`
		: `a rule for the program does not cover ${word.text}`;
}

function doubtOfOptions(form: Form, { options }: Given, named: number): string | null {
	const others = tablesOf(form).others;
	for (const { name, value, at } of options) {
		if (at < named) continue;
		if (others.has(name)) return `a rule for the program does not cover ${name.length === 1 ? "-" : "--"}${name}`;
		const isPlain =
			value === null || form.value === undefined || (value.kind === "literal" && form.value.test(value.text));
		if (!isPlain) return `a rule for the program does not cover ${name} ${value.text}`;
	}
	return null;
}

function doubtOfOperands({ operand, most }: Form, { operands }: Given): string | null {
	if (most !== undefined && (operands.length > most || operands.some(({ kind }) => kind === "dynamic")))
		return "it has more operands than a rule for the program covers";
	const odd = operand && operands.find((word) => word.kind === "dynamic" || !operand.test(word.text));
	return odd === undefined ? null : `a rule for the program does not cover ${odd.text}`;
}

interface Tables {
	readonly table: OptionTable;
	readonly others: ReadonlySet<string>;
	readonly uses: ReadonlyMap<string, string>;
}

const read = new WeakMap<Form, Tables>();

/** Lazy, because most programs are never used. */
function tablesOf(form: Form): Tables {
	const known = read.get(form);
	if (known !== undefined) return known;
	const uses = new Map<string, string>();
	const plain = (spec = "") =>
		spec.replaceAll(/(-\w:|--?[\w-]+=)([rwdx])(?=\s|$)/g, (_, option: string, use: string) => {
			uses.set(option.replaceAll(/^--?|[:=]$/g, ""), use);
			return option;
		});
	const more = { isSingleDash: form.isSingleDash === true, isOpen: form.anyOption === true };
	const own = plain(form.options);
	const rest = plain(form.others);
	const { flags = "", valued = "", attached = "", longFlags = [], longValued = [] } = optionTable(rest, more);
	const tables = {
		table: optionTable(`${own} ${rest}`, more),
		others: new Set([...flags, ...valued, ...attached, ...longFlags, ...longValued]),
		uses,
	};
	read.set(form, tables);
	return tables;
}

function tableOf(form: Form): OptionTable {
	return tablesOf(form).table;
}

/** Whether a command changes and runs nothing. Redirections and the files it reads are judged elsewhere. */
export function isReadOnly({ form, given, doubt }: FormReading): boolean {
	if (form?.reads === undefined || doubt !== null) return false;
	return form.reads === true || form.reads(given);
}

export function readsOtherFiles({ form, given }: FormReading): boolean {
	return form?.readsOthers === true || (typeof form?.readsOthers === "function" && form.readsOthers(given));
}

/** The files that a command in a known form reads and writes through its words. */
export function filesOfForm({ form, given }: FormReading): readonly FileOperand[] {
	if (form === null) return [];
	const { options, operands } = given;
	const { uses } = tablesOf(form);
	const values = options.flatMap(({ name, value }): readonly FileOperand[] => {
		const use = uses.get(name);
		if (value === null || use === undefined) return [];
		if (use === "x") return [{ operation: "read", word: value, isRun: true }];
		return [{ operation: use === "r" ? "read" : "write", word: value }];
	});
	const isInstead = options.some(({ name }) => form.instead?.split(" ").includes(name) === true);
	const hasTarget = options.some(({ name }) => uses.get(name) === "d");
	const files = operands.slice(isInstead ? 0 : (form.skips ?? 0));
	const open = form.files === undefined || form.files === "none" ? [] : (given.open ?? []);
	const more = [
		...open.flatMap((word) => usesOf(form.files === "list" ? "list" : "read", word, 0, 1)),
		...(form.moreFiles?.(given) ?? []),
		...(form.hasRevisions === true ? operands.flatMap(fileInRevision) : []),
	];
	return [
		...values,
		...more,
		...files
			.slice(0, form.files === "run" && form.optionsFirst === true ? 1 : files.length)
			.flatMap((word, index) => usesOf(form.files, word, index, hasTarget ? -1 : files.length)),
	];
}

function fileInRevision(word: Word): readonly FileOperand[] {
	const named = word.kind === "literal" ? /^[^:]*:(?:\([^)]*\)|[/!^])?(.+)$/s.exec(word.text)?.[1] : undefined;
	return named === undefined ? [] : [{ operation: "read", word: { kind: "literal", text: named } }];
}

function usesOf(kind: Operands | undefined, word: Word, index: number, count: number): readonly FileOperand[] {
	const reading = { operation: "read", word } as const;
	const writing = { operation: "write", word } as const;
	switch (kind) {
		case undefined:
		case "none":
			return [];
		case "list":
			return [{ ...reading, isListed: true }];
		case "read":
			return [reading];
		case "run":
			return [{ ...reading, isRun: true }];
		case "write":
			return [writing];
		case "both":
			return [reading, writing];
		case "read, last written":
			return [index === count - 1 ? writing : reading];
		case "read, second written":
			return [index === 1 ? writing : reading];
	}
}
