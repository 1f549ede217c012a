// Commands that are known to change nothing and to run nothing else, whatever the rules say of them.
import { hasHarmlessAssignments } from "../command-pattern.ts";
import type { SimpleCommand, Word } from "../script.ts";
import { gitReadOnly } from "./git-read-only.ts";
import { type OptionTable, readAllOptions } from "./options.ts";
import { isPlainSedScript, sedScripts } from "./sed-script.ts";

interface ReadOnlyRow extends OptionTable {
	/** How many words that are no options it may have; any number without. */
	readonly operands?: number;
	readonly judge?: (words: readonly Word[]) => boolean;
}

const checksum: ReadOnlyRow = {
	flags: "bcwtz",
	longFlags: "binary check tag text zero ignore-missing quiet status strict warn".split(" "),
};

const grep: ReadOnlyRow = {
	flags: "EFGPivwxcLlnHhoqsrRabzyTZU",
	valued: "efmABCdD",
	longFlags: (
		"extended-regexp fixed-strings basic-regexp perl-regexp ignore-case invert-match word-regexp line-regexp count color colour " +
		"files-without-match files-with-matches line-number with-filename no-filename only-matching quiet silent no-messages " +
		"recursive dereference-recursive text byte-offset initial-tab null null-data"
	).split(" "),
	longValued:
		"regexp file max-count after-context before-context context include exclude exclude-from exclude-dir binary-files directories label".split(
			" ",
		),
	takesNumber: true,
};

const anyLiteral: ReadOnlyRow = { judge: (words) => words.every((word) => word.kind === "literal") };

const nothing: ReadOnlyRow = { operands: 0 };

const table: Readonly<Record<string, ReadOnlyRow>> = {
	":": {},
	true: {},
	false: {},
	pwd: { flags: "LP", operands: 0 },
	whoami: nothing,
	echo: { judge: () => true },
	printf: {
		judge: ([first]) =>
			first !== undefined && (first.kind === "literal" ? !first.text.startsWith("-") : !first.mayBeOption),
	},
	test: { judge: () => true },
	"[": { judge: () => true },
	id: { flags: "agGnruzZ", longFlags: "groups group name real user zero context".split(" ") },
	groups: {},
	date: {
		flags: "uRI",
		valued: "dr",
		attached: "I",
		longFlags: ["utc", "universal", "iso-8601", "rfc-email", "rfc-3339"],
		longValued: ["date", "reference"],
		judge: (words) => words.every((word) => word.kind === "literal" && !/^\d/.test(word.text)),
	},
	uname: {
		flags: "asnrvmpio",
		longFlags: "all kernel-name nodename kernel-release kernel-version machine processor operating-system".split(" "),
		operands: 0,
	},
	uptime: { flags: "ps", operands: 0 },
	arch: nothing,
	nproc: { longFlags: ["all"], operands: 0 },
	which: { flags: "as" },
	type: { flags: "afptP" },
	basename: { flags: "az", valued: "s", longFlags: ["multiple", "zero"], longValued: ["suffix"] },
	dirname: { flags: "z", longFlags: ["zero"] },
	realpath: {
		flags: "emLPqsz",
		longFlags: "canonicalize-existing canonicalize-missing logical physical quiet strip no-symlinks zero".split(" "),
		longValued: ["relative-to", "relative-base"],
	},
	readlink: {
		flags: "femnqsvz",
		longFlags: "canonicalize canonicalize-existing canonicalize-missing no-newline quiet silent verbose zero".split(
			" ",
		),
	},
	stat: {
		flags: "Lft",
		valued: "c",
		longFlags: ["dereference", "file-system", "terse"],
		longValued: ["format", "printf"],
	},
	file: {
		flags: "bhiLkNrs",
		longFlags: "brief mime mime-type mime-encoding no-dereference dereference keep-going".split(" "),
	},
	du: {
		flags: "abcDhHkLlmsSx0",
		valued: "dBt",
		longFlags: "all apparent-size bytes total human-readable summarize one-file-system".split(" "),
		longValued: ["max-depth", "exclude", "block-size", "threshold"],
	},
	df: {
		flags: "ahHiklPT",
		valued: "tBx",
		longFlags: "all human-readable inodes local portability print-type total".split(" "),
		longValued: ["type", "exclude-type"],
	},
	free: { flags: "bkmghltw" },
	ls: {
		flags: "aAbBcCdfFgGhHiklLmnNopqQrRsStuUvxXZ1",
		valued: "ITw",
		longFlags: (
			"all almost-all author color directory classify file-type full-time group-directories-first human-readable inode " +
			"no-group numeric-uid-gid recursive reverse size si dereference"
		).split(" "),
		longValued: ["sort", "time", "format", "ignore", "hide", "indicator-style", "time-style", "block-size", "width"],
	},
	tree: {
		flags: "adfiJlnpqQrstuvxACDFghNSX",
		valued: "LPI",
		longFlags: "dirsfirst noreport prune gitignore du si".split(" "),
	},
	cat: {
		flags: "AbeEnstTuv",
		longFlags: "show-all number-nonblank show-ends number squeeze-blank show-tabs show-nonprinting".split(" "),
	},
	tac: { flags: "br", valued: "s" },
	nl: { valued: "bdfhilnsvw", flags: "p" },
	head: {
		flags: "qvz",
		valued: "cn",
		longFlags: ["quiet", "silent", "verbose", "zero-terminated"],
		longValued: ["bytes", "lines"],
		takesNumber: true,
	},
	tail: {
		flags: "qvz",
		valued: "cn",
		longFlags: ["quiet", "silent", "verbose", "zero-terminated"],
		longValued: ["bytes", "lines"],
		takesNumber: true,
	},
	wc: { flags: "clLmw", longFlags: ["bytes", "chars", "lines", "words", "max-line-length"] },
	cut: {
		flags: "nsz",
		valued: "bcdf",
		longFlags: ["complement", "only-delimited", "zero-terminated"],
		longValued: ["bytes", "characters", "delimiter", "fields", "output-delimiter"],
	},
	tr: { flags: "cCdst", longFlags: ["complement", "delete", "squeeze-repeats", "truncate-set1"] },
	rev: {},
	sort: {
		flags: "bcCdfghiMmnrRsuVz",
		valued: "kt",
		longFlags: (
			"ignore-leading-blanks dictionary-order ignore-case general-numeric-sort human-numeric-sort month-sort numeric-sort " +
			"reverse stable unique version-sort zero-terminated check merge"
		).split(" "),
		longValued: ["key", "field-separator"],
	},
	uniq: {
		flags: "cdDiuz",
		valued: "fsw",
		longFlags: ["count", "repeated", "ignore-case", "unique", "zero-terminated"],
		longValued: ["skip-fields", "skip-chars", "check-chars"],
		operands: 1,
	},
	comm: { flags: "123z" },
	cmp: { flags: "bls", valued: "in" },
	diff: {
		flags: "abBcdeEiNnpqrstTuwyZ",
		valued: "CFIUWxX",
		longFlags:
			"brief report-identical-files unified context recursive new-file ignore-case ignore-all-space ignore-blank-lines color side-by-side text".split(
				" ",
			),
		longValued: ["exclude", "exclude-from", "label"],
	},
	grep,
	egrep: grep,
	fgrep: grep,
	rg: {
		flags: "iSsvwxclLnNHIoqFUPuapb0.",
		valued: "efgtTABCmMjEr",
		longFlags: (
			"ignore-case smart-case case-sensitive invert-match word-regexp line-regexp count count-matches files files-with-matches " +
			"files-without-match line-number no-line-number with-filename no-filename only-matching quiet fixed-strings multiline " +
			"pcre2 unrestricted hidden no-ignore no-ignore-vcs follow text pretty heading no-heading json stats trim vimgrep null " +
			"type-list column"
		).split(" "),
		longValued:
			"regexp file glob iglob type type-not after-context before-context context max-count max-columns max-depth sort sortr color replace".split(
				" ",
			),
	},
	find: { judge: isReadingFind },
	sed: { judge: isReadingSed },
	ps: anyLiteral,
	md5sum: checksum,
	sha1sum: checksum,
	sha256sum: checksum,
	sha512sum: checksum,
	jq: {
		flags: "cCMSrjnseaR",
		longFlags:
			"compact-output null-input exit-status slurp raw-output raw-input color-output monochrome-output sort-keys tab join-output".split(
				" ",
			),
	},
	git: { judge: gitReadOnly },
};

/** Whether a command only reads. Redirections are not judged here, nor which files it reads. */
export function isReadOnly(command: SimpleCommand): boolean {
	const [program, ...words] = command.words;
	if (program?.kind !== "literal" || command.isDeclaredHere || !hasHarmlessAssignments(command)) return false;
	const row = Object.hasOwn(table, program.text) ? table[program.text] : undefined;
	if (row === undefined) return false;
	const { judge } = row;
	const isListed =
		row.flags !== undefined || row.valued !== undefined || row.operands !== undefined || judge === undefined;
	if (isListed) {
		const { operands, unclear } = readAllOptions(words, row);
		if (unclear !== null || (row.operands !== undefined && operands.length > row.operands)) return false;
		// Where the number of operands counts, one word must not become several.
		if (row.operands !== undefined && operands.some((word) => word.kind === "dynamic")) return false;
	}
	return judge?.(words) ?? true;
}

const findTests =
	/^-(?:name|iname|path|ipath|wholename|iwholename|regex|iregex|regextype|type|xtype|size|mtime|atime|ctime|mmin|amin|cmin|newer\w*|empty|perm|user|group|uid|gid|nouser|nogroup|links|inum|samefile|lname|ilname|readable|writable|executable|maxdepth|mindepth|depth|mount|xdev|daystart|follow|prune|quit|print|print0|printf|ls|true|false|not|and|or|a|o|H|L|P|O[0-3]|noleaf|warn|nowarn|d)$/;

function isReadingFind(words: readonly Word[]): boolean {
	return words.every((word) => {
		if (word.kind === "dynamic") return !word.mayBeOption;
		return !word.text.startsWith("-") || findTests.test(word.text) || /^-\d+\w?$/.test(word.text);
	});
}

function isReadingSed(words: readonly Word[]): boolean {
	const { unclear, options } = readAllOptions(words, {
		flags: "nErsuz",
		valued: "e",
		longFlags: [
			"quiet",
			"silent",
			"regexp-extended",
			"separate",
			"unbuffered",
			"null-data",
			"posix",
			"sandbox",
			"debug",
		],
		longValued: ["expression"],
	});
	const scripts = sedScripts(words);
	const arePlain = scripts.every((script) => script.kind === "literal" && isPlainSedScript(script.text));
	return unclear === null && arePlain && (scripts.length > 0 || options.length === 0);
}
