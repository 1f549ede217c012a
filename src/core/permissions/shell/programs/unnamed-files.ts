// Which commands that only read may read the content of files that their words do not name: those below a directory, and
// those in a repository.
import type { SimpleCommand, Word } from "../script.ts";
import { nameOf } from "./program-name.ts";

/** By the name of the program. */
const always: ReadonlySet<string> = new Set(["rg", "diff"]);
const greps: ReadonlySet<string> = new Set(["grep", "egrep", "fgrep"]);

/** Verbs of git that print what is in files; some only with an option. */
const printing: ReadonlySet<string> = new Set(["diff", "show", "blame", "grep", "cat-file"]);
const printingWithOption: ReadonlySet<string> = new Set(["log", "stash", "status"]);
/** Options with which the second kind prints it, or says whether a text is in it. */
const contentOption =
	/^(?:-[A-Za-z]*[pucGSLWmv]|--(?:patch|verbose|unified|cc|word-diff|color-words|binary|text|function-context|pickaxe-\w+)(?:=|$))/;

/** For a command of the programs that are known to read only. */
export function readsUnnamedFiles({ words: [program, ...words] }: SimpleCommand): boolean {
	if (program?.kind !== "literal") return true;
	const name = nameOf(program.text);
	if (always.has(name)) return true;
	if (greps.has(name))
		return words.some((word) => isOption(word) && /^-[A-Za-z]*[rRd]|^--(?:rec|der|dir)/.test(word.text));
	if (name !== "git") return false;
	const verb = words.find(({ text }) => !text.startsWith("-"))?.text ?? "";
	if (printing.has(verb)) return true;
	return printingWithOption.has(verb) && words.some((word) => isOption(word) && contentOption.test(word.text));
}

/** Also a word that is not literal, which may be one. */
const isOption = (word: Word) => word.kind === "dynamic" || word.text.startsWith("-");
