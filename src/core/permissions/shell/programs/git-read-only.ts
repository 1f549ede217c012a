// Which commands of `git` are known to change nothing.
import type { Word } from "../script.ts";
import { type OptionTable, readAllOptions } from "./options.ts";

interface VerbRow extends OptionTable {
	/** How many words that are no options it may have; any number without. */
	readonly operands?: number;
	/** The first word after the verb must be one of these. */
	readonly subcommands?: readonly string[];
	/** With one of these options it may have any number of operands. */
	readonly listing?: readonly string[];
}

const difference: VerbRow = {
	flags: "pusqzwbaRcmtDgrik",
	valued: "nSGLUWl",
	attached: "MCBX",
	longFlags: (
		"stat numstat shortstat dirstat summary patch no-patch raw name-only name-status cached staged merge-base color no-color " +
		"word-diff color-words minimal patience histogram ignore-all-space ignore-space-change ignore-blank-lines check binary " +
		"full-index no-renames find-renames find-copies exit-code quiet no-ext-diff no-textconv text oneline graph all branches tags " +
		"remotes merges no-merges first-parent reverse decorate no-decorate follow abbrev-commit no-abbrev-commit topo-order " +
		"date-order author-date-order walk-reflogs full-history simplify-by-decoration show-pulls cc left-right cherry-pick " +
		"cherry-mark boundary parents children source compact-summary no-index no-prefix function-context unified abbrev relative " +
		"ignore-submodules submodule pickaxe-all pickaxe-regex use-mailmap no-mailmap no-notes notes regexp-ignore-case " +
		"extended-regexp fixed-strings perl-regexp all-match invert-grep not pretty format date diff-filter diff-algorithm inter-hunk-context"
	).split(" "),
	longValued:
		"author committer grep since until after before max-count skip min-parents max-parents glob exclude encoding".split(
			" ",
		),
	takesNumber: true,
};

const verbs: Readonly<Record<string, VerbRow>> = {
	status: {
		flags: "sbvzu",
		attached: "u",
		longFlags:
			"short branch show-stash porcelain long verbose untracked-files ignored ignore-submodules column no-column ahead-behind no-ahead-behind renames no-renames find-renames".split(
				" ",
			),
	},
	diff: difference,
	log: difference,
	show: difference,
	shortlog: {
		flags: "nsec",
		longFlags: ["numbered", "summary", "email", "all", "no-merges", "merges"],
		longValued: ["since", "until", "group"],
	},
	"rev-parse": {
		longFlags:
			"show-toplevel abbrev-ref short verify quiet is-inside-work-tree is-bare-repository git-dir git-common-dir absolute-git-dir show-prefix show-cdup symbolic symbolic-full-name all branches tags remotes".split(
				" ",
			),
		flags: "q",
	},
	"rev-list": {
		longFlags: "count all branches tags remotes oneline no-merges merges first-parent reverse objects left-right".split(
			" ",
		),
		longValued: ["max-count", "since", "until", "after", "before", "author"],
		valued: "n",
		takesNumber: true,
	},
	"ls-files": {
		flags: "cdmosuktvzf",
		valued: "xX",
		longFlags:
			"cached deleted modified others ignored stage unmerged killed directory exclude-standard full-name error-unmatch".split(
				" ",
			),
		longValued: ["exclude", "exclude-from"],
	},
	"ls-tree": { flags: "drtlz", longFlags: "name-only name-status full-name full-tree long".split(" ") },
	blame: {
		flags: "bcflnstweCMp",
		valued: "L",
		longFlags: "root porcelain line-porcelain incremental show-name show-number show-email show-stats".split(" "),
		longValued: ["since", "ignore-rev"],
	},
	describe: {
		longFlags: "all tags long always dirty contains exact-match first-parent abbrev".split(" "),
		longValued: ["match", "exclude", "candidates"],
	},
	"cat-file": { flags: "tsep", operands: 2 },
	"merge-base": { flags: "a", longFlags: ["all", "octopus", "is-ancestor", "fork-point", "independent"] },
	"name-rev": { longFlags: ["tags", "name-only", "always", "all"] },
	"show-ref": {
		flags: "sdq",
		longFlags: ["head", "heads", "tags", "branches", "verify", "hash", "dereference", "quiet"],
	},
	"for-each-ref": {
		longFlags: ["format"],
		longValued: ["sort", "count", "points-at", "merged", "no-merged", "contains"],
	},
	"check-ignore": { flags: "qvnz", longFlags: ["quiet", "verbose", "non-matching", "no-index"] },
	grep: {
		flags: "IavwihnlLcqHEGPFpWo",
		valued: "eABCfm",
		longFlags:
			"cached untracked no-index text invert-match word-regexp ignore-case full-name extended-regexp fixed-strings perl-regexp line-number files-with-matches name-only count quiet show-function heading break column only-matching".split(
				" ",
			),
		longValued: ["max-depth", "max-count"],
	},
	branch: {
		flags: "arvql",
		longFlags: "all remotes verbose list show-current color no-color column no-column ignore-case format".split(" "),
		longValued: ["sort", "contains", "no-contains", "merged", "no-merged", "points-at"],
		operands: 0,
		listing: ["l", "list"],
	},
	tag: {
		flags: "l",
		attached: "n",
		longFlags: ["list", "column", "no-column", "color", "ignore-case", "format"],
		longValued: ["sort", "contains", "no-contains", "merged", "no-merged", "points-at"],
		operands: 0,
		listing: ["l", "list"],
	},
	remote: { flags: "v", longFlags: ["verbose"], operands: 0 },
	stash: { subcommands: ["list"], flags: "pu", longFlags: ["stat", "oneline", "name-only"], operands: 1 },
	worktree: { subcommands: ["list"], flags: "vz", longFlags: ["porcelain", "verbose"], operands: 1 },
	version: { operands: 0 },
};

const harmlessGlobal = new Set(["--no-pager", "-P", "--no-optional-locks"]);

/** For the words after `git`. */
export function gitReadOnly(words: readonly Word[]): boolean {
	const start = words.findIndex((word) => !harmlessGlobal.has(word.text));
	const [verb, ...rest] = start < 0 ? [] : words.slice(start);
	if (verb?.kind !== "literal") return false;
	if (verb.text === "--version") return rest.length === 0;
	const row = Object.hasOwn(verbs, verb.text) ? verbs[verb.text] : undefined;
	if (row === undefined) return false;
	const { options, operands, unclear } = readAllOptions(rest, row);
	if (unclear !== null) return false;
	const [first] = rest;
	if (row.subcommands !== undefined && (first?.kind !== "literal" || !row.subcommands.includes(first.text)))
		return false;
	const isListing = options.some(({ name }) => row.listing?.includes(name));
	return isListing || row.operands === undefined || operands.length <= row.operands;
}
