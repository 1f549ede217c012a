// Programs that run what an option's value says: `tar --to-command='…'`, `rsync -e '…'`, `gdb -ex 'shell …'`.
import { spreadOlderOptions } from "../programs/tar-options.ts";
import type { Word } from "../script.ts";
import { nothing, type Run, scriptOf, type Unwrapped } from "./run.ts";

interface OptionTable {
	/** Letters of short options with a value that is run. */
	readonly short: string;
	/** Names of long options with a value that is run. */
	readonly long: readonly string[];
	/** The script that a value stands for; null when it runs nothing. */
	toScript(value: string): string | null;
}

const asItIs = (value: string) => value;

/** What follows `exec=` in an action of a checkpoint. */
const afterExec = (value: string) => /^exec=(.*)$/s.exec(value)?.[1] ?? null;

const tables: Readonly<Record<string, readonly OptionTable[]>> = {
	tar: [
		{
			short: "IF",
			long: ["to-command", "use-compress-program", "info-script", "new-volume-script", "rsh-command", "rmt-command"],
			toScript: asItIs,
		},
		{ short: "", long: ["checkpoint-action"], toScript: afterExec },
	],
	// It is given a host and the command there.
	rsync: [
		{ short: "e", long: ["rsh"], toScript: (value) => `${value} host true` },
		{ short: "", long: ["rsync-path"], toScript: asItIs },
	],
	nodemon: [{ short: "x", long: ["exec"], toScript: asItIs }],
	gdb: [
		{
			short: "",
			long: ["ex", "eval-command", "iex", "init-eval-command"],
			toScript: (value) => /^\s*(?:shell\b|!|pipe\b[^|]*\||\|[^|]*\|)\s*(.*)$/s.exec(value)?.[1] ?? null,
		},
	],
};

/** Nothing for a program without such options, or where no value of one is literal. */
export function unwrapOptionScripts(given: readonly Word[], name: string): Unwrapped {
	const known = name === "gtar" || name === "bsdtar" ? "tar" : name;
	const own = Object.hasOwn(tables, known) ? tables[known] : undefined;
	if (own === undefined) return nothing;
	const words = known === "tar" ? spreadOlderOptions(given) : given;
	const runs: Run[] = [];
	const doubts: string[] = [];
	for (const [index, word] of words.entries()) {
		if (word.kind !== "literal") continue;
		for (const table of own) {
			const value = givenTo(word.text, words[index + 1], table);
			if (value === null) continue;
			if (value.kind === "dynamic") doubts.push(`the program that ${name} runs is ${value.why}`);
			const script = value.kind === "literal" ? table.toScript(value.text) : null;
			if (script !== null) runs.push(scriptOf(script));
		}
	}
	return { runs, doubts, isTransparent: false };
}

/** The value of an option of the table, in the same word or the next one; null for any other word. */
function givenTo(text: string, next: Word | undefined, { short, long }: OptionTable): Word | null {
	const [, name = "", attached] = /^--?([a-z][a-z-]*)(?:=(.*))?$/s.exec(text) ?? [];
	// Long names may be shortened.
	const isLong = name.length > 1 && long.some((each) => each === name || (name.length > 3 && each.startsWith(name)));
	if (isLong) return attached === undefined ? (next ?? null) : { kind: "literal", text: attached };
	if (short === "" || text.startsWith("--") || !text.startsWith("-")) return null;
	const at = [...text].findIndex((letter, index) => index > 0 && short.includes(letter));
	if (at < 0 || !/^-[A-Za-z0-9]*$/.test(text.slice(0, at + 1))) return null;
	const rest = text.slice(at + 1);
	return rest === "" ? (next ?? null) : { kind: "literal", text: rest };
}
