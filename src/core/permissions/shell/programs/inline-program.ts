// Interpreters whose program is a text among their words or in their input: `perl -e '…'`, `python3 -c '…'`, `node <<EOF`.
// No rule knows which commands such a text runs.
import { beginning } from "../../../../base/well-formed.ts";
import type { SimpleCommand, Word } from "../script.ts";
import { nameOf, writtenName } from "./program-name.ts";
import { isRiskyWord, type RiskRow } from "./risk-row.ts";
import { runsInSed } from "./sed-program.ts";

const reason = "runs a program that no rule can read";

/** What make runs in its recipes, or takes them from. */
const makeRuns =
	/^(?:SHELL|MAKEFLAGS|\.SHELLFLAGS)\s*[:+?!]*=|\$[({](?:shell|eval)\b|^(?:-[A-Za-z]*f)?(?:-|\/dev\/(?:stdin|fd\/.*))$/;

/** Options with the text of a program, or with a program to run; by the names that `nameOf` gives. */
const interpreters: Readonly<Record<string, RiskRow>> = {
	perl: { programs: "perl", short: "eE", reason },
	python: { programs: "python pypy", short: "c", reason },
	pypy: { programs: "pypy", short: "c", reason },
	ruby: { programs: "ruby", short: "e", reason },
	node: { programs: "node nodejs", short: "ep", long: "eval print", reason },
	nodejs: { programs: "nodejs", short: "ep", long: "eval print", reason },
	bun: { programs: "bun", short: "ep", long: "eval print", reason },
	deno: { programs: "deno", words: /^(?:eval|repl)$/, reason },
	php: { programs: "php", short: "rBRE", long: "run process-begin process-code process-end", reason },
	lua: { programs: "lua luajit", short: "e", reason },
	luajit: { programs: "luajit", short: "e", reason },
	rscript: { programs: "Rscript", short: "e", reason },
	julia: { programs: "julia", short: "eE", long: "eval print", reason },
	elixir: { programs: "elixir", short: "e", long: "eval rpc-eval", reason },
	osascript: { programs: "osascript", short: "e", reason },
	tclsh: { programs: "tclsh", reason },
	expect: { programs: "expect", short: "c", reason },
	ghc: { programs: "ghc", short: "e", reason },
	groovy: { programs: "groovy", short: "e", reason },
	scala: { programs: "scala", short: "e", reason },
	emacs: { programs: "emacs", long: "eval execute", words: /^-(?:eval|execute|batch)/, reason },
	vim: { programs: "vim", short: "cS", long: "cmd", words: /^\+/, reason },
	vi: { programs: "vi", short: "cS", long: "cmd", words: /^\+/, reason },
	nvim: { programs: "nvim", short: "cS", long: "cmd", words: /^\+/, reason },
	ex: { programs: "ex", short: "cS", long: "cmd", words: /^\+/, reason },
	awk: { programs: "awk", words: /system|getline|\|/, reason },
	gawk: { programs: "gawk", words: /system|getline|\||@/, reason },
	mawk: { programs: "mawk", words: /system|getline|\|/, reason },
	nawk: { programs: "nawk", words: /system|getline|\|/, reason },
	sed: { programs: "sed", words: { test: runsInSed }, reason },
	gsed: { programs: "gsed", words: { test: runsInSed }, reason },
	view: { programs: "view", short: "cS", long: "cmd", words: /^\+/, reason },
	vimdiff: { programs: "vimdiff", short: "cS", long: "cmd", words: /^\+/, reason },
	less: { programs: "less", words: /^-?\+/, reason },
	more: { programs: "more", words: /^\+/, reason },
	man: { programs: "man", short: "PHB", long: "pager html browser", anywhere: true, reason },
	r: { programs: "R", short: "e", anywhere: true, reason },
	ghci: { programs: "ghci", short: "e", anywhere: true, reason },
	guile: { programs: "guile", short: "c", reason },
	racket: { programs: "racket", short: "e", long: "eval", anywhere: true, reason },
	sbcl: { programs: "sbcl", long: "eval", anywhere: true, reason },
	erl: { programs: "erl", words: /^-(?:eval|run|s)$/, reason },
	octave: { programs: "octave", long: "eval", anywhere: true, reason },
	gnuplot: { programs: "gnuplot", short: "e", anywhere: true, reason },
	sqlite3: { programs: "sqlite3", words: /^\s*\.(?:sh|sy|o|on|read|import)/, reason },
	psql: { programs: "psql", words: /\\!|\\[og]|\bprogram\b|\|/i, reason },
	mysql: { programs: "mysql", words: /\\!|\bsystem\b/i, reason },
	dc: { programs: "dc", words: /!/, reason },
	rg: { programs: "rg", long: "pre hostname-bin", anywhere: true, reason },
	split: { programs: "split", long: "filter", anywhere: true, reason },
	zip: { programs: "zip", long: "unzip-command", words: /^-[A-Za-z]*TT/, reason },
	scp: { programs: "scp", short: "S", words: /(?:proxy|local|knownhosts)command/i, reason },
	sftp: { programs: "sftp", short: "SD", words: /(?:proxy|local|knownhosts)command/i, reason },
	strace: { programs: "strace", words: /^(?:-[A-Za-z]*o|--output=)?[|!]/, reason },
	make: { programs: "make", short: "E", long: "eval", words: makeRuns, reason },
	gmake: { programs: "gmake", short: "E", long: "eval", words: makeRuns, reason },
	tcpdump: { programs: "tcpdump", short: "z", anywhere: true, reason },
	nc: { programs: "nc", short: "ec", anywhere: true, reason },
	ncat: { programs: "ncat", short: "ec", long: "exec sh-exec lua-exec", anywhere: true, reason },
	socat: { programs: "socat", words: /^(?:exec|system|shell):/i, reason },
	hyperfine: { programs: "hyperfine", words: /\S/, reason },
	fzf: { programs: "fzf", long: "preview bind", anywhere: true, reason },
	bat: { programs: "bat", long: "pager", anywhere: true, reason },
	ag: { programs: "ag", long: "pager", anywhere: true, reason },
	rpm: { programs: "rpm", short: "ED", words: /%\(|^--eval/, reason },
	go: { programs: "go", words: /^--?(?:exec|toolexec|vettool)(?:=|$)/, reason },
	sort: { programs: "sort", long: "compress-program", anywhere: true, reason },
	install: { programs: "install", long: "strip-program", anywhere: true, reason },
	gcc: { programs: "gcc", words: /^-(?:wrapper|fplugin)/, reason },
	"g++": { programs: "g++", words: /^-(?:wrapper|fplugin)/, reason },
	cc: { programs: "cc", words: /^-(?:wrapper|fplugin)/, reason },
	clang: { programs: "clang", words: /^-(?:wrapper|fplugin|load)/, reason },
	hg: { programs: "hg", long: "config", anywhere: true, reason },
	svn: { programs: "svn", long: "diff-cmd diff3-cmd editor-cmd config-option", anywhere: true, reason },
	gh: { programs: "gh", words: /^!/, reason },
	apt: { programs: "apt", short: "o", long: "option", anywhere: true, reason },
	"apt-get": { programs: "apt-get", short: "o", long: "option", anywhere: true, reason },
	gdb: {
		programs: "gdb",
		words: /^(?:py(?:t|th|tho|thon|thon-interactive)?|pi|gu|guile|source|pipe|\|)(?:\s|$)/,
		reason,
	},
	lldb: { programs: "lldb", words: /^(?:script|platform|command)\b/, reason },
	ed: { programs: "ed", words: /\S/, reason },
	at: { programs: "at", words: /^(?!-[lrdc]$)/, reason },
	batch: { programs: "batch", words: /\S/, reason },
	crontab: { programs: "crontab", words: /^(?!-[lr]$)/, reason },
	"nix-shell": { programs: "nix-shell", long: "run command", anywhere: true, reason },
};

/** Those that read their program from their input when no word names a file. */
const readsInput = new Set("perl python pypy ruby node nodejs php lua luajit rscript julia tclsh".split(" "));

/** Names of the input, and of what the shell connects to a program. */
const isInput = /^(?:-|\/dev\/(?:stdin|fd\/.*)|\/proc\/(?:self|thread-self|\d+)\/fd\/.*|<\(.*)$/s;

/** Those that take a file with their program by an option; without one it is among their words. */
const takesScriptFile = new Set("sed gsed awk gawk mawk nawk".split(" "));

/** An option of theirs that names such a file, also shortened, with what is attached to it. */
const scriptFileOption = /^(?:-[A-Za-z]*[fEi]|--(?:fi(?:le?)?|exec?|in(?:c[a-z]*)?)(?:=|$))(.*)$/s;

const asksAboutItself = /^(?:--?version|--?help|-[vVh])$/;

/**
 * Why it is not known what an interpreter does, as a clause; null for a file with a program and for everything else.
 * Words in `named` are of no concern: the rule has them itself.
 */
export function inlineProgram(
	{ words: [program, ...words] }: SimpleCommand,
	named: ReadonlySet<string>,
): string | null {
	if (program?.kind !== "literal") return null;
	const shown = writtenName(program.text);
	const own = nameOf(program.text);
	// python3.12, lua5.4
	const name = Object.hasOwn(interpreters, own) ? own : own.replace(/-?\d[\d.]*$/, "");
	const row = Object.hasOwn(interpreters, name) ? interpreters[name] : undefined;
	if (row === undefined) return null;
	const isWithFile = row.words === undefined && row.anywhere !== true;
	const endsOptions = (word: Word) => word.kind === "literal" && word.text === "--";
	const end = isWithFile
		? words.findIndex((word, index) => isFile(word, words[index - 1]))
		: words.findIndex((word) => row.anywhere === true && endsOptions(word));
	const options = end < 0 ? words : words.slice(0, end);
	const found = options.find((word) => isInline(word, row));
	if (found !== undefined) return named.has(found.text) ? null : `${shown} ${beginning(found.text, 40)} ${reason}`;
	if (takesScriptFile.has(name) && takesScriptOfInput(words)) return readsFromInput(shown);
	const [only] = words;
	if (!readsInput.has(name) || (words.length === 1 && only !== undefined && asksAboutItself.test(only.text))) {
		return null;
	}
	const hasFile = words.some((word) => !isInput.test(word.text) && (/^[^-]/.test(word.text) || word.text === "-m"));
	const isNamed = options.some((word) => isInput.test(word.text)) || (end >= 0 && isInput.test(words[end]?.text ?? ""));
	return hasFile && !isNamed ? null : readsFromInput(shown);
}

function readsFromInput(program: string): string {
	return `${program} reads a program that no rule can read from its input`;
}

/** Whether an option names the input as the file with the program: `sed -f -`, `awk -f/dev/stdin`. */
function takesScriptOfInput(words: readonly Word[]): boolean {
	return words.some(({ text }, index) => {
		const attached = scriptFileOption.exec(text)?.[1];
		return attached !== undefined && isInput.test(attached === "" ? (words[index + 1]?.text ?? "") : attached);
	});
}

function isInline(word: Word, row: RiskRow): boolean {
	return (word.kind === "dynamic" && word.mayBeOption) || isRiskyWord(word, row);
}

/** A word that is certainly the file with the program: it is no option, and not the value of one. */
function isFile(word: Word, before: Word | undefined): boolean {
	const isOperand = word.kind === "literal" && !word.text.startsWith("-");
	return isOperand && (before === undefined || before.text === "--");
}
