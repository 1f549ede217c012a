// Which files known programs read and write by their words.
import type { SimpleCommand, Word } from "../script.ts";
import { type OptionTable, readAllOptions } from "./options.ts";
import { nameOf } from "./program-name.ts";
import { readSedOptions, sedScripts } from "./sed-script.ts";
import { spreadOlderOptions } from "./tar-options.ts";

export interface FileOperand {
	readonly operation: "read" | "write";
	readonly word: Word;
}

interface FileRow extends OptionTable {
	/** What happens to its operands. */
	readonly operands: "read" | "write" | "none" | "read, last written" | "both" | "read, second written";
	/** How many operands at the start are no files. */
	readonly skips?: number;
	/** Options that hold the first operand instead. */
	readonly instead?: readonly string[];
	/** Options whose value is a file. */
	readonly reads?: readonly string[];
	readonly writes?: readonly string[];
	/** Options whose value is the directory that everything is written to. */
	readonly into?: readonly string[];
}

const reader: FileRow = { operands: "read" };
const writer: FileRow = { operands: "write" };
const changer: FileRow = {
	operands: "write",
	skips: 1,
	instead: ["reference"],
	longValued: ["reference"],
	reads: ["reference"],
};
const copier: FileRow = {
	operands: "read, last written",
	valued: "tSmog",
	longValued: ["target-directory", "suffix", "mode", "owner", "group"],
	into: ["t", "target-directory"],
};
const grep: FileRow = {
	operands: "read",
	valued: "efmABCdD",
	longValued: ["regexp", "file", "max-count", "after-context", "before-context", "context", "include", "exclude"],
	skips: 1,
	instead: ["e", "f", "regexp", "file", "files"],
	reads: ["f", "file"],
};

const ripgrep: FileRow = {
	...grep,
	valued: "efmABCgtTjrM",
	longValued: ["regexp", "file", "glob", "type", "replace", "context"],
};

const table: Readonly<Record<string, FileRow>> = {
	cat: reader,
	tac: reader,
	less: reader,
	more: reader,
	most: reader,
	bat: reader,
	rev: reader,
	nl: { operands: "read", valued: "bdfhilnsvw" },
	head: { operands: "read", valued: "cn", longValued: ["bytes", "lines"] },
	tail: { operands: "read", valued: "cns", longValued: ["bytes", "lines", "pid", "sleep-interval"] },
	wc: { operands: "read", longValued: ["files0-from"], reads: ["files0-from"] },
	grep,
	egrep: grep,
	fgrep: grep,
	rg: ripgrep,
	ag: ripgrep,
	awk: {
		operands: "read",
		valued: "Fvfile",
		longValued: ["file", "field-separator", "assign"],
		skips: 1,
		instead: ["f", "file"],
		reads: ["f", "file"],
	},
	sort: {
		operands: "read",
		valued: "koStT",
		longValued: ["key", "output", "field-separator", "buffer-size", "files0-from", "temporary-directory"],
		reads: ["files0-from"],
		writes: ["o", "output"],
	},
	uniq: { operands: "read, second written", valued: "fsw" },
	xxd: { operands: "read, second written", valued: "cglos" },
	cut: {
		operands: "read",
		valued: "bcdf",
		longValued: ["bytes", "characters", "delimiter", "fields", "output-delimiter"],
	},
	paste: { operands: "read", valued: "d" },
	join: { operands: "read", valued: "12atejov" },
	comm: reader,
	diff: { operands: "read", valued: "CFIUWxX", longValued: ["exclude", "exclude-from", "label"] },
	cmp: { operands: "read", valued: "in" },
	file: { operands: "read", valued: "fmFP", reads: ["f"] },
	stat: { operands: "read", valued: "c", longValued: ["format", "printf"] },
	od: { operands: "read", valued: "AjNStw" },
	hexdump: { operands: "read", valued: "efns" },
	strings: { operands: "read", valued: "netTs" },
	base64: { operands: "read", valued: "wo", longValued: ["wrap", "output"], writes: ["o", "output"] },
	base32: { operands: "read", valued: "w" },
	md5sum: reader,
	sha1sum: reader,
	sha256sum: reader,
	sha512sum: reader,
	cksum: reader,
	ls: { operands: "read", valued: "ITw" },
	du: { operands: "read", valued: "dBtX" },
	readlink: reader,
	realpath: reader,
	jq: {
		operands: "read",
		skips: 1,
		longValued: ["from-file"],
		valued: "fL",
		reads: ["f", "from-file"],
		instead: ["f", "from-file"],
	},
	source: reader,
	".": reader,
	tee: writer,
	rm: writer,
	rmdir: writer,
	unlink: writer,
	shred: { operands: "write", valued: "ns" },
	mkdir: { operands: "write", valued: "mZ", longValued: ["mode"] },
	touch: { operands: "write", valued: "dtr", longValued: ["date", "reference", "time"], reads: ["r", "reference"] },
	truncate: { operands: "write", valued: "sr", longValued: ["size", "reference"] },
	chmod: changer,
	chown: changer,
	chgrp: changer,
	cp: copier,
	install: copier,
	// The source is gone afterwards, and a link leads to its target.
	mv: { ...copier, operands: "both" },
	ln: { ...copier, operands: "both" },
	rsync: {
		operands: "read, last written",
		valued: "eBTf",
		longValued: ["rsh", "exclude", "include", "exclude-from", "filter"],
	},
	scp: { operands: "read, last written", valued: "cFiJloPS" },
	curl: {
		operands: "none",
		valued: "oKcDTdFHXuAebmxEYyzPCQrtw",
		longValued:
			"output config cookie-jar dump-header upload-file data form header request user url max-time proxy output-dir".split(
				" ",
			),
		reads: ["K", "config", "T", "upload-file"],
		writes: ["o", "output", "c", "cookie-jar", "D", "dump-header", "output-dir"],
	},
	wget: {
		operands: "none",
		valued: "OoaiPetTwQ",
		longValued: ["output-document", "output-file", "append-output", "input-file", "directory-prefix", "post-file"],
		reads: ["i", "input-file", "post-file"],
		writes: ["O", "o", "a", "P", "output-document", "output-file", "append-output", "directory-prefix"],
	},
	patch: {
		operands: "write",
		valued: "piodDFBYzrV",
		longValued: ["input", "output", "directory"],
		reads: ["i", "input"],
		writes: ["o", "output", "d", "directory"],
	},
	unzip: { operands: "read", valued: "dxP", writes: ["d"] },
	zip: { operands: "read", valued: "xib" },
	gzip: { operands: "write", valued: "S" },
	gunzip: { operands: "write", valued: "S" },
	vi: writer,
	vim: writer,
	nano: writer,
	emacs: writer,
};

/** Best effort, for rules that deny paths: what is not found here may be a file nevertheless. */
export function fileOperands(command: SimpleCommand): readonly FileOperand[] {
	const [program, ...words] = command.words;
	if (program?.kind !== "literal") return [];
	const name = nameOf(program.text);
	switch (name) {
		case "sed":
		case "gsed":
			return sedFiles(words);
		case "dd":
			return words.flatMap((word) => assignedFile(word));
		case "tar":
		case "bsdtar":
		case "gtar":
			return archiveFiles(words);
		case "git":
			return outputFiles(words);
		case "find":
			return findFiles(words);
		case "gawk":
		case "mawk":
		case "nawk":
			return filesOf(table["awk"], words);
		default:
			return Object.hasOwn(table, name) ? filesOf(table[name], words) : [];
	}
}

/** The programs with rows of their own above. */
const others: ReadonlySet<string> = new Set("sed gsed dd tar bsdtar gtar git find gawk mawk nawk".split(" "));

/** The word that a program takes for a file, or for an option with one, which is not known; null when there is none. */
export function unknownOperand({ words: [program, ...words] }: SimpleCommand): Word | null {
	if (program?.kind !== "literal") return null;
	const name = nameOf(program.text);
	if (!others.has(name) && !Object.hasOwn(table, name)) return null;
	return words.find(({ kind }) => kind === "dynamic") ?? null;
}

const read = (word: Word): FileOperand => ({ operation: "read", word });
const written = (word: Word): FileOperand => ({ operation: "write", word });

function filesOf(row: FileRow | undefined, words: readonly Word[]): readonly FileOperand[] {
	if (row === undefined) return [];
	const given = readAllOptions(words, row);
	const has = (names: readonly string[] = []) => given.options.some(({ name }) => names.includes(name));
	const values = given.options.flatMap(({ name, value }) => {
		if (value === null) return [];
		const uses: FileOperand[] = [];
		if (row.reads?.includes(name)) uses.push(read(value));
		if (row.writes?.includes(name) || row.into?.includes(name)) uses.push(written(value));
		return uses;
	});
	const files = given.operands.slice(has(row.instead) ? 0 : (row.skips ?? 0));
	return [...values, ...operandFiles(row, files, has(row.into))];
}

function operandFiles(row: FileRow, files: readonly Word[], hasTarget: boolean): readonly FileOperand[] {
	switch (row.operands) {
		case "none":
			return [];
		case "read":
			return files.map(read);
		case "write":
			return files.map(written);
		case "both":
			return files.flatMap((word) => [read(word), written(word)]);
		case "read, last written":
			return files.map((word, index) => (!hasTarget && index === files.length - 1 ? written(word) : read(word)));
		case "read, second written":
			return files.map((word, index) => (index === 1 ? written(word) : read(word)));
	}
}

function sedFiles(words: readonly Word[]): readonly FileOperand[] {
	const given = readSedOptions(words);
	const scripts = sedScripts(words);
	const changes = given.options.some(({ name }) => name === "i" || name === "in-place");
	const isFromOption = given.options.some(({ name }) => ["e", "f", "expression", "file"].includes(name));
	const files = isFromOption ? given.operands : given.operands.filter((word) => !scripts.includes(word));
	// Both `w FILE` and `r FILE` reach to the end of their line.
	const inner = scripts.flatMap((script) => {
		const uses = [...script.text.matchAll(/(?:^|[;{}\n\s/\d$gpiIM])([wWr])\s+([^\n;]+)/g)];
		return uses.map(([, verb = "", path = ""]): FileOperand => {
			return { operation: verb === "r" ? "read" : "write", word: { kind: "literal", text: path.trim() } };
		});
	});
	return [...files.flatMap((word) => (changes ? [read(word), written(word)] : [read(word)])), ...inner];
}

/** `dd if=… of=…` */
function assignedFile(word: Word): readonly FileOperand[] {
	const found = /^(if|of)=(.*)$/s.exec(word.text);
	if (found === null || word.kind === "dynamic") return [];
	const file: Word = { kind: "literal", text: found[2] ?? "" };
	return [found[1] === "if" ? read(file) : written(file)];
}

function archiveFiles(given: readonly Word[]): readonly FileOperand[] {
	const [first] = given;
	const words = spreadOlderOptions(given);
	const letters = first?.kind === "literal" ? first.text.replace(/^-/, "") : "";
	const creates =
		/^[A-Za-z]*[cru]/.test(letters) || words.some(({ text }) => /^--(?:create|append|update)$/.test(text));
	const uses: FileOperand[] = [];
	words.forEach((word, index) => {
		const next = words[index + 1];
		const isBundle = index === 0 || /^-[A-Za-z]+$/.test(word.text);
		const takesFile = (isBundle && word.text.endsWith("f")) || word.text === "--file";
		if (takesFile && next !== undefined) uses.push(creates ? written(next) : read(next));
		const long = /^--(?:file|directory)=(.+)$/s.exec(word.text);
		if (long?.[1] !== undefined) {
			const file: Word = { kind: "literal", text: long[1] };
			uses.push(creates && word.text.startsWith("--file") ? written(file) : read(file));
		}
		const moves = word.text === "-C" || word.text === "--directory";
		if (moves && next !== undefined) uses.push(creates ? read(next) : written(next));
		const isPlain =
			index > 0 && !word.text.startsWith("-") && !/(?:f|-C|--file|--directory)$/.test(words[index - 1]?.text ?? "");
		if (isPlain && creates) uses.push(read(word));
	});
	return uses;
}

function outputFiles(words: readonly Word[]): readonly FileOperand[] {
	return words.flatMap((word, index) => {
		const attached = /^--out?p?u?t?=(.+)$/s.exec(word.text)?.[1];
		if (attached !== undefined) return [written({ kind: "literal", text: attached })];
		const next = words[index + 1];
		return /^(?:--output|-o)$/.test(word.text) && next !== undefined ? [written(next)] : [];
	});
}

function findFiles(words: readonly Word[]): readonly FileOperand[] {
	const end = words.findIndex((word) => /^[-(!]/.test(word.text));
	const roots = end < 0 ? words : words.slice(0, end);
	const deletes = words.some((word) => word.text === "-delete");
	const outputs = words.flatMap((word, index) => {
		const next = words[index + 1];
		return /^-(?:fprint0?|fprintf|fls)$/.test(word.text) && next !== undefined ? [written(next)] : [];
	});
	return [...roots.map(read), ...(deletes ? roots.map(written) : []), ...outputs];
}
