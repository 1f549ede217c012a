// What a rule that allows a program must name itself: options and words with which a program that is known to be harmless
// runs other programs, writes files or uses another configuration.
import type { SimpleCommand, Word } from "../script.ts";
import { gitRisk } from "./git-risks.ts";
import { inlineProgram } from "./inline-program.ts";
import { nameOf } from "./program-name.ts";
import { isRiskyWord, type RiskRow } from "./risk-row.ts";
import { isPlainSedScript, readSedOptions, sedScripts } from "./sed-script.ts";

const runs = "runs a program that its words name";
const writes = "writes a file that its words name";
const configures = "uses a configuration that may run programs";

const rows: readonly RiskRow[] = [
	{ programs: "find", options: /^-(?:exec|execdir|ok|okdir)$/, reason: runs },
	{ programs: "find", options: /^-(?:delete|fprint0?|fprintf|fls|files0-from)$/, reason: "deletes or writes files" },
	{ programs: "fd fdfind", short: "xX", long: "exec exec-batch", reason: runs },
	{ programs: "rg", short: "z", long: "pre hostname-bin search-zip", reason: runs },
	{
		programs: "sort",
		short: "oT",
		long: "output compress-program temporary-directory",
		reason: "writes files or runs a program",
	},
	{ programs: "split", long: "filter", reason: runs },
	{ programs: "uniq xxd", operands: 1, reason: writes },
	{ programs: "file", short: "Cm", long: "compile magic-file", reason: writes },
	{ programs: "base64 base32 tree", short: "o", long: "output", reason: writes },
	{ programs: "sed gsed", short: "if", long: "in-place file", reason: "changes files, or reads its commands from one" },
	{
		programs: "awk gawk mawk nawk",
		short: "fiElodpDLW",
		long: "file exec include load dump-variables pretty-print profile debug source",
		words: /^(?!-F).*(?:system|getline|[|>@])/s,
		reason: "may run programs or write files",
	},
	{
		programs: "man",
		short: "HPlCpX",
		long: "html pager preprocessor local-file config-file browser gxditview",
		reason: runs,
	},
	{ programs: "history", short: "awrncds", reason: "writes the history to a file" },
	{
		programs: "javac",
		words: /^(?:-J|@|-proc|-Xplugin|--?processor|-A|-cp$|--?class-?path|-s$|-d$|-h$)/,
		reason: runs,
	},
	{
		programs: "tar bsdtar gtar",
		short: "IF",
		long: "checkpoint-action to-command use-compress-program rmt-command rsh-command info-script new-volume-script",
		reason: runs,
	},
	{ programs: "zip", short: "T", long: "unzip-command test", reason: runs },
	{ programs: "rsync", short: "eM", long: "rsh rsync-path remote-option", reason: runs },
	{ programs: "ssh scp sftp", short: "oFSJE", words: /proxycommand|localcommand|knownhostscommand/i, reason: runs },
	{
		programs: "curl",
		short: "oOKcDJ",
		long:
			"output remote-name remote-name-all config cookie-jar dump-header output-dir trace trace-ascii stderr libcurl " +
			"etag-save hsts alt-svc engine remote-header-name ssl-sessions",
		words: /%output\{|^-[A-Za-z]*w@|^--wri[a-z-]*=@|^@/,
		reason: writes,
	},
	{ programs: "wget", short: "e", long: "execute use-askpass config", reason: runs },
	{
		programs: "less",
		short: "oOkKcC",
		words: /^\+|^-.*[+!|]/s,
		long: "log-file LOG-FILE lesskey-file lesskey-src lesskey-content cmd",
		reason: runs,
	},
	{ programs: "more most", words: /^\+/, reason: runs },
	{ programs: "date", short: "s", long: "set", words: /^\d{8}/, reason: "sets the clock" },
	{ programs: "hostname", operands: 0, reason: "sets the name of the machine" },
	{
		programs: "npm npx pnpm yarn bun",
		short: "C",
		long: "script-shell node-options prefix userconfig globalconfig cwd dir git shell editor viewer init-module",
		reason: configures,
	},
	{
		programs: "make gmake",
		short: "fCIE",
		long: "file makefile directory eval include-dir",
		words: /^[\w.-]+\s*[:+?!]*=/,
		reason: configures,
	},
	{ programs: "cargo", short: "ZC", long: "config manifest-path", words: /^\+/, reason: configures },
	{
		programs: "go",
		options:
			/^--?(?:exec|toolexec|vettool|overlay|modfile|o|C|ldflags|gcflags|asmflags|gccgoflags|compiler|pkgdir|coverprofile|cpuprofile|memprofile|blockprofile|mutexprofile|trace|outputdir)(?:=|$)/,
		reason: "runs a program or writes a file that its words name",
	},
	{
		programs: "pytest",
		short: "pco",
		long: "confcutdir rootdir config-file override-ini basetemp pdbcls junitxml junit-xml log-file debug pastebin",
		reason: configures,
	},
	{
		programs: "eslint",
		short: "cfo",
		long: "config rulesdir plugin resolve-plugins-relative-to format output-file parser",
		reason: configures,
	},
	{ programs: "kubectl helm", long: "kubeconfig post-renderer", reason: configures },
	{ programs: "gh", words: /^(?:alias|extension|extensions|ext|config)$/, reason: configures },
	{
		programs: "sqlite3",
		words: /^\s*\.|writefile|load_extension|edit\s*\(|readfile/i,
		short: "c",
		long: "cmd init",
		reason: runs,
	},
	{ programs: "yq", short: "i", long: "inplace", reason: writes },
];

const rowsOf = new Map<string, RiskRow[]>();
for (const row of rows) {
	for (const program of row.programs.split(" ")) rowsOf.set(program, [...(rowsOf.get(program) ?? []), row]);
}

/** Programs that no option makes write a file or run a program. */
const harmless = new Set(
	(
		"cat ls wc head tail nl tac rev fold echo true false : pwd basename dirname realpath readlink whoami id uname sleep " +
		"seq stat du df grep egrep fgrep cut tr cmp diff comm join paste expand unexpand md5sum sha1sum sha256sum sha512sum " +
		"cksum mkdir rmdir which type cd test ["
	).split(" "),
);

/** Programs for which `--` does not end the options. */
const withoutEnd = new Set([
	"find",
	"fd",
	"fdfind",
	"awk",
	"gawk",
	"mawk",
	"nawk",
	"javac",
	"go",
	"dd",
	"tar",
	"bsdtar",
	"gtar",
	"xargs",
	"env",
	"ssh",
]);

/**
 * Why a command does more than its program is known for, as a clause; null if it does not. Words in `named` are of no
 * concern: the rule has them itself.
 */
export function riskOf(command: SimpleCommand, named: ReadonlySet<string>): string | null {
	const [program, ...words] = command.words;
	if (program?.kind !== "literal") return "the program is not literal";
	const name = nameOf(program.text);
	if (harmless.has(name)) return null;
	const inline = inlineProgram(command, named);
	if (inline !== null) return inline;
	const end = withoutEnd.has(name) ? -1 : endOfOptions(words);
	const judged = end < 0 ? words : words.slice(0, end);
	for (const word of judged) {
		if (word.kind === "dynamic" && word.mayBeOption) return `${word.why} may become an option of ${name}`;
	}
	if (name === "git") return gitRisk(judged, named);
	for (const row of rowsOf.get(name) ?? []) {
		const found = judged.find((word) => !named.has(word.text) && isRiskyWord(word, row));
		if (found !== undefined) return `${name} ${found.text} ${row.reason}`;
		if (row.operands !== undefined && operandsOf(words).length > row.operands) return `${name} ${row.reason}`;
	}
	if (name === "sed" || name === "gsed") {
		if (readSedOptions(words).unclear !== null) return "an option of sed is not known";
		const risky = sedScripts(words).some(
			(script) => !(script.kind === "literal" && isHarmlessScript(script.text, named)),
		);
		if (risky) return "the commands of sed may run programs or write files";
	}
	return null;
}

/** Where `--` ends the options; -1 when none certainly does: after an option it may be the value of that option. */
function endOfOptions(words: readonly Word[]): number {
	return words.findIndex((word, index) => {
		const before = words[index - 1];
		const isValue = before?.text.startsWith("-") === true && !/^--.*=/s.test(before.text);
		return word.kind === "literal" && word.text === "--" && !isValue;
	});
}

function isHarmlessScript(script: string, named: ReadonlySet<string>): boolean {
	return named.has(script) || isPlainSedScript(script);
}

function operandsOf(words: readonly Word[]): readonly Word[] {
	return words.filter((word) => !(word.kind === "literal" && /^-./.test(word.text)));
}
