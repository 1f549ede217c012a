// What a rule that allows `git` must name itself. Many of its options name programs, and some verbs that are known to
// read can write.
import type { Word } from "../script.ts";
import { isRiskyWord } from "./risk-row.ts";

/** Options before the verb that change neither the repository nor the programs that git runs. */
const plainGlobal = new Set(
	(
		"--no-pager -P --no-optional-locks --version -v --help -h --literal-pathspecs --glob-pathspecs --noglob-pathspecs " +
		"--icase-pathspecs --no-replace-objects --no-lazy-fetch --no-advice"
	).split(" "),
);

const verbs = new Set(
	(
		"add am annotate apply archive bisect blame branch bundle cat-file check-attr check-ignore check-mailmap checkout " +
		"checkout-index cherry cherry-pick clean clone column commit commit-graph commit-tree config count-objects describe " +
		"diff diff-files diff-index diff-tree fast-export fetch fetch-pack fmt-merge-msg for-each-ref format-patch fsck gc " +
		"get-tar-commit-id grep hash-object help index-pack init interpret-trailers log ls-files ls-remote ls-tree " +
		"maintenance merge merge-base merge-file merge-index merge-tree mktag mktree mv name-rev notes pack-objects pack-refs " +
		"patch-id prune prune-packed pull push range-diff read-tree rebase reflog remote repack replace replay request-pull " +
		"rerere reset restore rev-list rev-parse revert rm send-pack shortlog show show-branch show-index show-ref " +
		"sparse-checkout stash status stripspace submodule switch symbolic-ref tag unpack-file unpack-objects update-index " +
		"update-ref update-server-info var verify-commit verify-pack verify-tag version whatchanged worktree write-tree"
	).split(" "),
);

const everyVerb = {
	long:
		"output ext-diff textconv upload-pack receive-pack exec open-files-in-pager exec-path git-dir work-tree config-env " +
		"template edit-description extcmd output-directory upload-archive",
};

interface VerbRow {
	readonly short?: string;
	readonly long?: string;
	readonly words?: RegExp;
}

/** Sections of a configuration that can name a program, a repository or a file. */
const programKey =
	/^(?:alias|core|pager|diff|difftool|merge|mergetool|filter|credential|gpg|include|includeif|sequence|sendemail|url|remote|init|uploadpack|protocol|submodule|browser|man|web|interactive|http|https|trailer|receive|instaweb|guitool|gui|tar|ssh|transfer|uploadarchive|blame|fsmonitor|hook|extensions|safe)\./i;

const byVerb: Readonly<Record<string, VerbRow>> = {
	apply: { long: "unsafe-paths build-fake-ancestor" },
	archive: { short: "o", long: "remote" },
	bisect: { words: /^(?:run|visualize|view)$/ },
	bundle: { words: /^create$/ },
	branch: { short: "dDmMcCuf", long: "delete move copy force edit-description set-upstream-to unset-upstream" },
	"checkout-index": { long: "prefix" },
	"fast-export": { long: "export-marks" },
	"format-patch": { short: "o" },
	clone: { short: "cu", long: "config", words: /^ext::/ },
	config: { words: programKey, short: "e", long: "edit file" },
	fetch: { words: /^\+|^ext::/ },
	grep: { short: "O" },
	help: { short: "w", long: "web" },
	"interpret-trailers": { long: "in-place" },
	"ls-remote": { short: "u", words: /^ext::/ },
	maintenance: { words: /^(?:start|register|run)$/ },
	"merge-index": { words: /./ },
	push: { short: "fd", long: "force force-with-lease delete mirror prune", words: /^[+:].|^ext::/ },
	pull: { words: /^\+|^ext::/ },
	"read-tree": { long: "index-output" },
	rebase: { short: "x", long: "exec" },
	remote: { words: /^(?:set-url|add|rename|remove|rm)$/ },
	submodule: { words: /^(?:foreach|add|set-url)$/ },
	tag: { short: "df", long: "delete force" },
};

/** As riskOf, for the words after `git`. */
export function gitRisk(words: readonly Word[], named: ReadonlySet<string>): string | null {
	const start = words.findIndex((word) => word.kind === "dynamic" || !word.text.startsWith("-"));
	const global = start < 0 ? words : words.slice(0, start);
	const odd = global.find(({ text }) => !plainGlobal.has(text) && !named.has(text));
	if (odd !== undefined) return `git ${odd.text} changes which programs git runs, or in which repository`;
	const verb = start < 0 ? undefined : words[start];
	if (verb === undefined) return null;
	if (verb.kind === "dynamic") return `the verb of git is ${verb.why}`;
	if (!verbs.has(verb.text) && !named.has(verb.text)) return `git ${verb.text} may be an alias for any command`;
	const row = Object.hasOwn(byVerb, verb.text) ? byVerb[verb.text] : undefined;
	if (verb.text === "config" && !named.has("config")) return "git config changes which programs git runs";
	const found = words.slice(start + 1).find((word) => {
		if (named.has(word.text)) return false;
		return isRiskyWord(word, everyVerb) || (row !== undefined && isRiskyWord(word, row));
	});
	return found === undefined ? null : `git ${verb.text} ${found.text} writes, or runs a program that its words name`;
}
