import type { Form, Given } from "../form.ts";
import { rows } from "./form-rows.ts";

/** A remote name or a reference without force, deletion or renaming on the remote. */
const reference = /^(?![-+./])(?!.*\.\.)[\w./@^~{}-]+$/;
const plainSetting =
	/^(?:user\.(?:name|email)|pull\.(?:rebase|ff)|push\.default|init\.defaultbranch|core\.(?:autocrlf|eol|filemode|ignorecase|quotepath|symlinks)|color\..+|advice\..+|fetch\.prune|rebase\.auto(?:stash|squash)|rerere\.enabled)$/i;

const difference: Form = {
	reads: true,
	options:
		"-pusqzwbaRcmtDgrik -n: -S: -G: -L: -U: -W: -l: -M? -C? -B? -X? -# --stat --numstat --shortstat --dirstat --summary --patch --no-patch --raw " +
		"--name-only --name-status --cached --staged --merge-base --color --no-color --word-diff --color-words --minimal --patience " +
		"--histogram --ignore-all-space --ignore-space-change --ignore-blank-lines --check --binary --full-index --no-renames " +
		"--find-renames --find-copies --exit-code --quiet --no-ext-diff --no-textconv --text --oneline --graph --all --branches --tags " +
		"--remotes --merges --no-merges --first-parent --reverse --decorate --no-decorate --follow --abbrev-commit --no-abbrev-commit " +
		"--topo-order --date-order --author-date-order --walk-reflogs --full-history --simplify-by-decoration --show-pulls --cc " +
		"--left-right --cherry-pick --cherry-mark --boundary --parents --children --source --compact-summary --no-prefix " +
		"--function-context --unified --abbrev --relative --ignore-submodules --submodule --pickaxe-all --pickaxe-regex --use-mailmap " +
		"--no-mailmap --no-notes --notes --regexp-ignore-case --extended-regexp --fixed-strings --perl-regexp --all-match " +
		"--invert-grep --not --pretty --format --date --diff-filter --diff-algorithm --inter-hunk-context --author= --committer= " +
		"--grep= --since= --until= --after= --before= --max-count= --skip= --min-parents= --max-parents= --glob= --exclude= --encoding=",
	others: "--output=w --no-index --ext-diff --textconv",
	files: "read",
	hasRevisions: true,
};

/** Options with which commands such as `log` print or search file contents. */
const printsContent = ({ options }: Given) =>
	options.some(({ name }) =>
		/^(?:[pucGSLWmv]|patch|verbose|unified|cc|word-diff|color-words|binary|text|function-context|pickaxe-.*)$/.test(
			name,
		),
	);

/** Whether it lists: without names, or with a list option. */
const lists = ({ options, operands }: Given) =>
	operands.length === 0 || options.some(({ name }) => /^(?:l|list|contains|merged|no-merged|points-at)$/.test(name));

const listing =
	"-l -v -q -a -r -i -n? --list --verbose --all --remotes --show-current --color --no-color --column --no-column --ignore-case --format --sort= " +
	"--contains= --no-contains= --merged= --no-merged= --points-at=";

const reading: Readonly<Record<string, Form>> = {
	...rows("diff show", { ...difference, readsOthers: true }),
	...rows("log whatchanged", { ...difference, readsOthers: printsContent }),
	status: {
		reads: true,
		readsOthers: printsContent,
		options:
			"-sbvz -u? --short --branch --show-stash --porcelain --long --verbose --untracked-files --ignored --ignore-submodules --column " +
			"--no-column --ahead-behind --no-ahead-behind --renames --no-renames --find-renames",
		files: "read",
	},
	"rev-parse": {
		reads: true,
		options:
			"-q --show-toplevel --abbrev-ref --short --verify --quiet --is-inside-work-tree --is-bare-repository --git-dir " +
			"--git-common-dir --absolute-git-dir --show-prefix --show-cdup --symbolic --symbolic-full-name --all --branches --tags --remotes",
	},
	"rev-list": {
		reads: true,
		options:
			"-n: -# --count --all --branches --tags --remotes --oneline --no-merges --merges --first-parent --reverse --objects --left-right " +
			"--max-count= --since= --until= --after= --before= --author=",
	},
	"ls-files": {
		reads: true,
		options:
			"-cdmosuktvzf -x: -X:r --cached --deleted --modified --others --ignored --stage --unmerged --killed --directory " +
			"--exclude-standard --full-name --error-unmatch --exclude= --exclude-from=r",
	},
	"ls-tree": { reads: true, options: "-drtlz --name-only --name-status --full-name --full-tree --long" },
	blame: {
		reads: true,
		options:
			"-bcflnstweCMp -L: --root --porcelain --line-porcelain --incremental --show-name --show-number --show-email --show-stats " +
			"--since= --ignore-rev=",
		files: "read",
		readsOthers: true,
	},
	describe: {
		reads: true,
		options:
			"--all --tags --long --always --dirty --contains --exact-match --first-parent --abbrev --match= --exclude= --candidates=",
	},
	"cat-file": { reads: true, options: "-tsep", most: 2, files: "read", hasRevisions: true, readsOthers: true },
	"merge-base": { reads: true, options: "-a --all --octopus --is-ancestor --fork-point --independent" },
	"show-ref": { reads: true, options: "-sdq --head --heads --tags --branches --verify --hash --dereference --quiet" },
	"for-each-ref": { reads: true, options: "--format --sort= --count= --points-at= --merged= --no-merged= --contains=" },
	"check-ignore": { reads: true, options: "-qvnz --quiet --verbose --non-matching --no-index" },
	reflog: { reads: true, options: difference.options ?? "", operand: /^(?:show|HEAD.*|[\w/-]+@\{.*)$/ },
	grep: {
		reads: true,
		options:
			"-IavwihnlLcqHEGPFpWo -e: -A: -B: -C: -m: -# --cached --untracked --text --invert-match --word-regexp --ignore-case --full-name " +
			"--extended-regexp --fixed-strings --perl-regexp --line-number --files-with-matches --name-only --count --quiet " +
			"--show-function --heading --break --column --only-matching --max-depth= --max-count=",
		others: "-f:r -O? --no-index --open-files-in-pager",
		files: "read",
		skips: 1,
		instead: "e f",
		readsOthers: true,
	},
	version: { reads: true, most: 0 },
};

const changing: Readonly<Record<string, Form>> = {
	branch: {
		reads: lists,
		options: `${listing} -t --track --no-track`,
		others:
			"-d -D -m -M -c -C -f -u: --delete --move --copy --force --edit-description --set-upstream-to= --unset-upstream",
	},
	tag: {
		reads: lists,
		options: `${listing} -m: --message= --annotate`,
		others: "-d -f -s -F:r --delete --force --sign",
	},
	remote: {
		reads: true,
		options: "-v --verbose",
		verbs: {
			show: { operand: reference },
			"get-url": { reads: true, options: "--all --push", most: 1 },
			...rows("add set-url rename remove rm prune update set-head", {
				isNamed: true,
				options: "-f -t: -m: --push --add --delete --tags",
			}),
		},
	},
	stash: {
		options: "-u -a -q -k -m: --include-untracked --all --quiet --keep-index --staged",
		verbs: {
			list: { ...difference, readsOthers: printsContent },
			show: { ...difference, readsOthers: true, options: `${difference.options} --include-untracked` },
			...rows("push save", {
				options: "-u -a -q -k -m: --include-untracked --all --quiet --keep-index --staged --message=",
			}),
			...rows("pop apply branch", { options: "-q --index --quiet" }),
			...rows("drop clear", { isNamed: true, options: "-q --quiet", isExact: true }),
		},
	},
	worktree: {
		verbs: {
			list: { reads: true, options: "-vz --porcelain --verbose" },
			...rows("add remove prune move", { isNamed: true, options: "-b: -f -d -q --detach --force" }),
		},
	},
	submodule: {
		options: "-q --quiet",
		verbs: {
			...rows("status summary", { options: "--recursive --cached" }),
			...rows("update init", { isNamed: true, options: "--init --recursive --remote" }),
		},
	},
	bisect: { verbs: rows("start good bad reset log skip old new", { operand: reference }) },
	config: {
		// Newer versions have verbs without a dot, such as `edit`.
		reads: ({ options, operands }) =>
			(operands.length === 1 && operands[0]?.text.includes(".") === true) ||
			options.some(({ name }) => /^(?:get|get-all|get-regexp|list|l)$/.test(name)),
		options:
			"-lz --global --local --system --get --get-all --get-regexp --list --show-origin --show-scope --name-only --null --type= --default= --bool --int --path",
		others:
			"-e --edit -f:r --file=r --add --replace-all --unset --unset-all --rename-section --remove-section --blob= --worktree",
		judge: ({ options, operands }) => {
			const [first, second] = operands;
			const isReading = options.some(({ name }) => /^(?:get|get-all|get-regexp|list|l)$/.test(name));
			if (operands.some(({ kind }) => kind === "dynamic") && !isReading) return "git config changes what git runs";
			const isPlain =
				second === undefined ||
				isReading ||
				first?.text === "get" ||
				first?.text === "list" ||
				plainSetting.test(first?.text ?? "");
			return isPlain ? null : "git config changes what git runs";
		},
	},
	add: {
		options: "-AuvnNp --all --update --verbose --dry-run --intent-to-add --patch --renormalize --ignore-removal",
		files: "read",
	},
	commit: {
		options:
			"-aqsv -m: -F:r --message= --file=r --all --amend --no-edit --signoff --allow-empty --quiet --verbose --author= --date= --fixup= " +
			"--squash= --reset-author --dry-run --short --no-gpg-sign --only --include --no-status",
	},
	checkout: {
		options: "-qtp -b: --quiet --track --no-track --detach --ours --theirs --patch --orphan=",
		others: "-f -B: --force",
	},
	switch: {
		options: "-qtd -c: --create= --quiet --track --detach --guess",
		others: "-f -C: --force --discard-changes",
	},
	restore: { options: "-qSWp -s: --staged --worktree --source= --quiet --patch --ours --theirs" },
	push: {
		options:
			"-uvqn --set-upstream --tags --follow-tags --dry-run --quiet --verbose --progress --no-progress --porcelain --atomic --no-follow-tags",
		others:
			"-f -d --force --force-with-lease --delete --mirror --prune --all --no-verify --receive-pack= --exec= -o: --push-option= --repo=",
		operand: reference,
	},
	pull: {
		options:
			"-rqvpt --rebase --no-rebase --ff-only --ff --no-ff --prune --tags --autostash --no-edit --all --quiet --verbose --progress",
		others: "-f --force --upload-pack=",
		operand: reference,
	},
	fetch: {
		options:
			"-ptqva --all --prune --prune-tags --tags --no-tags --depth= --unshallow --quiet --verbose --dry-run --progress --deepen=",
		others: "-f --force --upload-pack=",
		operand: reference,
	},
	"ls-remote": {
		options: "-htq --heads --tags --refs --branches --quiet --get-url --symref",
		others: "--upload-pack= --exec= -o:",
		operand: reference,
	},
	merge: {
		options:
			"-nq -m: --no-ff --ff-only --ff --squash --abort --continue --quit --no-edit --no-commit --stat --quiet --no-stat --message=",
	},
	rebase: {
		options:
			"-iqv --abort --continue --skip --quit --onto= --autostash --no-autostash --autosquash --quiet --interactive --keep-base --root",
		others: "-x: --exec=",
	},
	"cherry-pick": { options: "-xn -m: --abort --continue --skip --quit --no-commit --mainline= --no-edit" },
	revert: { options: "-n -m: --no-edit --abort --continue --skip --quit --no-commit --mainline=" },
	reset: { options: "-qpN --soft --mixed --quiet --patch", others: "--hard --merge --keep" },
	apply: {
		isNamed: true,
		options: "-Rqv -p: --check --stat --numstat --summary --index --cached --reverse --3way --verbose --whitespace=",
		files: "read",
	},
	init: { options: "-q -b: --quiet --bare --initial-branch=", files: "write" },
	clone: {
		options:
			"-qvn -b: -o: --depth= --branch= --single-branch --quiet --bare --no-tags --no-checkout --filter= --origin=",
		operand: /^(?:(?:https?|ssh|git):\/\/\S+|[\w.-]+@[\w.-]+:[\w./~-]+|(?!-)[\w./-]+)$/,
		moreFiles: ({ operands: [from, to] }) => {
			const name = /([^/:]+?)(?:\/*\.git)?\/*$/.exec(from?.text ?? "")?.[1] ?? "";
			return [{ operation: "write", word: to ?? { kind: "literal", text: name } }];
		},
	},
	...rows("rm mv clean gc fsck notes", {
		isNamed: true,
		options: "-rqnfdkvx --cached --quiet --dry-run --force",
		isExact: true,
	}),
};

export const git: Form = {
	options:
		"-P --no-pager --no-optional-locks --literal-pathspecs --glob-pathspecs --noglob-pathspecs --icase-pathspecs --no-replace-objects --no-lazy-fetch --no-advice",
	others:
		"-p -C: -c: --git-dir= --work-tree= --namespace= --config-env= --super-prefix= --attr-source= --exec-path --paginate --bare --html-path",
	verbs: { ...reading, ...changing },
};
