import type { Word } from "../../script.ts";
import type { Form } from "../form.ts";
import { rows } from "./form-rows.ts";
import { pythonModules, runnerArguments } from "./tool-forms.ts";

/** The program file comes first; the other words belong to that program. */
function interpreter(options: string, more: Form = {}): Form {
	return {
		options,
		optionsFirst: true,
		files: "run",
		judge: ({ options, operands: [file] }) =>
			options.some(({ name }) => isText.test(name)) ? null : doubtOfFile(file),
		...more,
	};
}

/** Inline program options; a rule must name them. */
const isText = /^(?:[ceEmpr]|eval|print|V|v|version)$/;

function doubtOfFile(file: Word | undefined): string | null {
	if (file === undefined) return "it reads a program that no rule can read from its input";
	// `node inspect` is a debugger.
	const isFile =
		file.kind === "dynamic"
			? !/[<(]/.test(file.text)
			: !/^(?:-|inspect)$/.test(file.text) && !/^\/(?:dev|proc)\//.test(file.text) && !/^\w+:/.test(file.text);
	return isFile ? null : "it reads a program that no rule can read from its input";
}

const plainPython = /^-[uBEsISOvqb]+$/;

/** `python3 -m pytest` is pytest. */
function moduleOf(words: readonly Word[]): { readonly form: Form; readonly words: readonly Word[] } | null {
	const at = words.findIndex(({ kind, text }) => kind === "dynamic" || !plainPython.test(text));
	const module = words[at + 1];
	if (words[at]?.kind !== "literal" || words[at]?.text !== "-m" || module?.kind !== "literal") return null;
	const form = Object.hasOwn(pythonModules, module.text) ? pythonModules[module.text] : undefined;
	return form === undefined ? null : { form, words: words.slice(at + 2) };
}

const testing: Form = { ...runnerArguments, options: "--test --watch --test-only --test-name-pattern=" };

export const interpreterForms: Readonly<Record<string, Form>> = {
	...rows(
		"python3 python pypy pypy3",
		interpreter("-uBEsISOvqb -V --version", { others: "-c: -m: -i -W: -X:", delegate: moduleOf }),
	),
	...rows("node nodejs", {
		...interpreter(
			"-c -v --check --version --no-warnings --trace-warnings --enable-source-maps --trace-uncaught --stack-trace-limit=",
			{
				others: "-e: -p: -r: -i --eval= --print= --require= --import= --loader=",
				delegate: (words) =>
					words[0]?.kind === "literal" && words[0].text === "--test" ? { form: testing, words } : null,
			},
		),
	}),
	ruby: interpreter("-wcv", { others: "-e: -r: -I:" }),
	perl: interpreter("-w", { others: "-e: -E: -M: -I:" }),
	php: interpreter("-lv", { others: "-r: -d: -f:" }),
	...rows("ts-node tsx", interpreter("", { others: "-e: -p: -r: -I:" })),
	...rows("bash sh dash zsh ksh", interpreter("-eux -o:", { others: "-c -i -l -s", value: /^pipefail$/ })),
	...rows("source .", interpreter("")),
};

/** Programs that execute text. Unreadable text may be a denied command. */
export const textRunners: ReadonlySet<string> = new Set(
	(
		"perl python pypy python3 pypy3 ruby node nodejs bun deno php lua luajit rscript julia elixir osascript tclsh wish expect ghc ghci groovy scala " +
		"emacs vim vi nvim ex view vimdiff awk gawk mawk nawk sed gsed less more man r guile racket sbcl erl octave gnuplot sqlite3 psql mysql " +
		"mariadb dc rg split zip scp sftp strace make gmake tcpdump nc ncat socat hyperfine fzf bat ag rpm go sort install ed jshell irb pry " +
		"redis-cli mongosh mongo ftp lftp telnet bc gdb lldb ipython xonsh ts-node tsx clojure clj swift kotlin ocaml dotnet-script m4 tex latex pdflatex " +
		"at batch crontab gcc g++ cc clang clang++ apt apt-get gh hg svn"
	).split(" "),
);
