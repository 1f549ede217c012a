import { isOwnInput } from "../builtins.ts";
import { optionTable, readOptions } from "../programs/options.ts";
import type { Word } from "../script.ts";
import { doubtOfOptions, joinLiteral, nothing, runOf, scriptOf, type Unwrapped } from "./run.ts";

export function unwrapEval(words: readonly Word[]): Unwrapped {
	const given = words[0]?.text === "--" ? words.slice(1) : words;
	const text = joinLiteral(given);
	if (text === null) return { ...nothing, doubts: ["what it evaluates is not literal"] };
	return { runs: text.trim() === "" ? [] : [scriptOf(text, true)], doubts: [], isTransparent: true };
}

/** `source FILE`: the shell also searches the PATH for the file. */
export function unwrapFile(words: readonly Word[]): Unwrapped {
	const given = words[0]?.text === "--" ? words.slice(1) : words;
	return given[0]?.kind === "literal" ? { ...nothing, runs: [runOf(given)] } : nothing;
}

export function unwrapTrap(words: readonly Word[]): Unwrapped {
	const [action] = words[0]?.text === "--" ? words.slice(1) : words;
	if (action === undefined) return nothing;
	if (action.kind === "dynamic") return { ...nothing, doubts: ["what it runs at a signal is not literal"] };
	if (action.text === "" || /^-|^\d+$/.test(action.text)) return nothing;
	// It runs in the shell's directory at that time.
	return { runs: [{ ...scriptOf(action.text), directory: "open" }], doubts: [], isTransparent: true };
}

const shellTable = optionTable(
	"-abefhiklmnpqrstuvxBCDEHPTc -oO: --login --norc --noprofile --posix --verbose --restricted --debugger --noediting --wordexp " +
		"--version --help --rcfile= --init-file= --command= --init-command=",
);

const moreThanPosix =
	/&>|[<>]&\s*[^\s\d-]|\$['"[]|\(\(|\[\[|\|&|;;?&|[<>]\(|<<<|[{}][^\s{}]*(?:,|\.\.)|[?*+@!]\(|\b(?:function|coproc|select|time)\b|\w\+?=\(|\}\s*[<>]/;

export function unwrapShell(words: readonly Word[], name: string): Unwrapped {
	// Options switched off with `+x` do not matter.
	const given = words.filter((word) => !(word.kind === "literal" && /^\+[a-zA-Z]$/.test(word.text)));
	const read = readOptions(given, shellTable);
	const doubts = doubtOfOptions(read);
	const names = read.options.map((option) => option.name);
	const isCommand = names.includes("c") || names.includes("command");
	const [first] = read.rest;
	if (!isCommand) {
		const isAsked = names.includes("version") || names.includes("help");
		if (first === undefined || first.text === "-" || names.includes("s") || isOwnInput(first)) {
			if (!isAsked) doubts.push("it is a shell that reads commands from its input");
		} else if (first.kind === "dynamic") doubts.push(`the script that it runs is ${first.why}`);
		// A shell also searches the PATH for the file.
		else return { runs: [runOf(read.rest)], doubts, isTransparent: false };
		return { ...nothing, doubts };
	}
	if (first === undefined) return { ...nothing, doubts: [...doubts, "it is a shell without its command"] };
	if (first.kind === "dynamic") return { ...nothing, doubts: [...doubts, `the command of a shell is ${first.why}`] };
	// A POSIX shell parses `p &>f` as two commands and `$"p"` as another word.
	if (name !== "bash" && moreThanPosix.test(first.text)) doubts.push("its command is written for bash, not for sh");
	const isPlain = names.every((option) => "ceux".includes(option)) && (name === "sh" || name === "bash");
	return { runs: [scriptOf(first.text)], doubts, isTransparent: isPlain && doubts.length === 0 };
}
