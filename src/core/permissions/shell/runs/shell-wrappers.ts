// Programs that run a text as a script: shells, and those that give a text to a shell.
import { isOwnInput } from "../builtins.ts";
import { optionTable, readOptions } from "../programs/options.ts";
import type { Word } from "../script.ts";
import { doubtOfOptions, joinLiteral, nothing, type Run, runOf, scriptOf, type Unwrapped } from "./run.ts";

export function unwrapEval(words: readonly Word[]): Unwrapped {
	const given = words[0]?.text === "--" ? words.slice(1) : words;
	const text = joinLiteral(given);
	if (text === null) return { ...nothing, doubts: ["what it evaluates is not literal"] };
	return { runs: text.trim() === "" ? [] : [scriptOf(text, true)], doubts: [], isTransparent: true };
}

/** `source FILE`: the shell looks for the file among the programs as well. */
export function unwrapFile(words: readonly Word[]): Unwrapped {
	const given = words[0]?.text === "--" ? words.slice(1) : words;
	return given[0]?.kind === "literal" ? { ...nothing, runs: [runOf(given)] } : nothing;
}

export function unwrapTrap(words: readonly Word[]): Unwrapped {
	const [action] = words[0]?.text === "--" ? words.slice(1) : words;
	if (action === undefined) return nothing;
	if (action.kind === "dynamic") return { ...nothing, doubts: ["what it runs at a signal is not literal"] };
	if (action.text === "" || /^-|^\d+$/.test(action.text)) return nothing;
	// It runs wherever the shell is by then.
	return { runs: [{ ...scriptOf(action.text), directory: "open" }], doubts: [], isTransparent: true };
}

const shellTable = optionTable(
	"-abefhiklmnpqrstuvxBCDEHPTc -oO: --login --norc --noprofile --posix --verbose --restricted --debugger --noediting --wordexp " +
		"--version --help --rcfile= --init-file= --command= --init-command=",
);

const moreThanPosix =
	/&>|[<>]&\s*[^\s\d-]|\$['"[]|\(\(|\[\[|\|&|;;?&|[<>]\(|<<<|[{}][^\s{}]*(?:,|\.\.)|[?*+@!]\(|\b(?:function|coproc|select|time)\b|\w\+?=\(|\}\s*[<>]/;

export function unwrapShell(name: string, words: readonly Word[]): Unwrapped {
	// What `+x` switches off is of no concern.
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
		// A shell looks for the file among the programs as well.
		else return { runs: [runOf(read.rest)], doubts, isTransparent: false };
		return { ...nothing, doubts };
	}
	if (first === undefined) return { ...nothing, doubts: [...doubts, "it is a shell without its command"] };
	if (first.kind === "dynamic") return { ...nothing, doubts: [...doubts, `the command of a shell is ${first.why}`] };
	// It may be a shell of less syntax than bash, which takes `p &>f` for two commands and `$"p"` for another word.
	if (name !== "bash" && moreThanPosix.test(first.text)) doubts.push("its command is written for bash, not for sh");
	const isPlain = names.every((option) => "ceux".includes(option)) && (name === "sh" || name === "bash");
	return { runs: [scriptOf(first.text)], doubts, isTransparent: isPlain && doubts.length === 0 };
}

/** A shell of another language: what is found in its command is denied, and what is not found cannot be known. */
export function unwrapForeignShell(words: readonly Word[]): Unwrapped {
	const start = words.findIndex(({ text }) => /^(?:-[A-Za-z]*c|--?co\w*)(?:=|$)/i.test(text));
	const option = words[start];
	if (option === undefined) {
		const isFile = words.some((word) => word.kind === "literal" && !word.text.startsWith("-") && !isOwnInput(word));
		const isAsked = words.some(({ text }) => /^--(?:version|help)$/.test(text));
		return isFile || isAsked ? nothing : { ...nothing, doubts: ["it is a shell that reads commands from its input"] };
	}
	const attached = /=(.+)$/s.exec(option.text)?.[1];
	const given = attached === undefined ? words.slice(start + 1) : [];
	const scripts = [attached, given[0]?.text, joinLiteral(given)].filter(
		(text) => typeof text === "string" && text !== "",
	);
	const runs = [...new Set(scripts)].map((text) => scriptOf(text ?? ""));
	return { runs, doubts: ["its command is written for another shell than bash"], isTransparent: false };
}

/** What follows its options is for a shell. */
export function unwrapCapabilityShell(words: readonly Word[]): Unwrapped {
	const start = words.findIndex(({ text }) => text === "--" || text === "==");
	const doubts = words.some((word) => word.kind === "dynamic") ? ["an option of capsh is not literal"] : [];
	return start < 0 ? { ...nothing, doubts } : { ...unwrapShell("bash", words.slice(start + 1)), isTransparent: false };
}

/** `sg GROUP -c COMMAND`. */
export function unwrapGroup(words: readonly Word[]): Unwrapped {
	const [, ...rest] = words[0]?.text === "-" || words[0]?.text === "-l" ? words.slice(1) : words;
	const given = rest[0]?.text === "-c" ? rest.slice(1) : rest;
	const [command] = given;
	if (command === undefined) return { ...nothing, doubts: ["it starts a shell that reads commands from its input"] };
	if (command.kind === "dynamic") return { ...nothing, doubts: ["the command of a shell is not literal"] };
	return { runs: [scriptOf(command.text)], doubts: [], isTransparent: false };
}

/** Words between which options are looked for. */
export const mostOperands = 64;
export const tooManyOperands = "it has so many words that its options cannot be told";

const userTable = optionTable(
	"-flmpPTh -cCgGsuw: --fast --login --preserve-environment --pty --no-pty --help --version --command= --session-command= --group= " +
		"--supp-group= --shell= --user= --whitelist-environment=",
);

export function unwrapUser(words: readonly Word[]): Unwrapped {
	const doubts: string[] = [];
	const runs: Run[] = [];
	let rest: readonly Word[] = words;
	let hasUser = false;
	// Options may follow the name of the user.
	for (let round = 0; rest.length > 0; round += 1) {
		if (round > mostOperands) {
			doubts.push(tooManyOperands);
			break;
		}
		const read = readOptions(rest, userTable);
		doubts.push(...doubtOfOptions(read));
		for (const { name, value } of read.options) {
			if (name === "user" || name === "u") hasUser = true;
			if (!["c", "C", "command", "session-command"].includes(name)) continue;
			if (value?.kind === "literal") runs.push(scriptOf(value.text));
			else doubts.push("the command of a shell is not literal");
		}
		if (hasUser && read.rest.length > 0) {
			runs.push(runOf(read.rest));
			break;
		}
		rest = read.rest.slice(1);
	}
	if (runs.length === 0) doubts.push("it starts a shell that reads commands from its input");
	return { runs: runs.map((run) => ({ ...run, directory: "open" })), doubts, isTransparent: false };
}

const watchTable = optionTable(
	"-bcCegrtwxhvf -nqs: -d? --differences --beep --color --no-color --errexit --chgexit --precise --no-rerun --no-title --no-wrap " +
		"--exec --help --version --follow --interval= --equexit= --shotsdir=",
);

export function unwrapWatch(words: readonly Word[]): Unwrapped {
	const read = readOptions(words, watchTable);
	const doubts = doubtOfOptions(read);
	if (read.rest.length === 0) return { ...nothing, doubts };
	const text = joinLiteral(read.rest);
	const isDirect = read.options.some(({ name }) => name === "x" || name === "exec");
	if (isDirect) return { runs: [runOf(read.rest)], doubts, isTransparent: false };
	if (text !== null) return { runs: [scriptOf(text)], doubts, isTransparent: false };
	return {
		runs: [runOf(read.rest)],
		doubts: [...doubts, "the command of a shell is not literal"],
		isTransparent: false,
	};
}

const flockTable = optionTable(
	"-sxeunoFvhV -wE: --shared --exclusive --unlock --nonblock --nb --close --no-fork --verbose --help --version --wait= --timeout= " +
		"--conflict-exit-code=",
);

export function unwrapFlock(words: readonly Word[]): Unwrapped {
	const read = readOptions(words, flockTable);
	const doubts = doubtOfOptions(read);
	const [file, ...rest] = read.rest;
	if (file?.kind === "dynamic" && file.mayBeOption) doubts.push(`a word before the program is ${file.why}`);
	const [first, second] = rest;
	if (first === undefined) return { ...nothing, doubts };
	if (!/^(?:-c|--c\w*)$/.test(first.text)) return { runs: [runOf(rest)], doubts, isTransparent: false };
	if (second?.kind !== "literal") return { ...nothing, doubts: [...doubts, "the command of a shell is not literal"] };
	return { runs: [scriptOf(second.text)], doubts, isTransparent: false };
}

const typescriptTable = optionTable(
	"-aefqhV -cEIOBTmo: -t? --append --return --flush --force --quiet --timing --help --version --command= --echo= --log-in= " +
		"--log-out= --log-io= --log-timing= --logging-format= --output-limit=",
);

/** `script`, which records a terminal. */
export function unwrapTypescript(words: readonly Word[]): Unwrapped {
	const doubts: string[] = [];
	const runs: Run[] = [];
	let rest: readonly Word[] = words;
	// On other systems, the words after the file are the program.
	const program = readOptions(words, typescriptTable).rest.slice(1);
	if (program.length > 0) runs.push(runOf(program));
	for (let round = 0; rest.length > 0; round += 1) {
		if (round > mostOperands) {
			doubts.push(tooManyOperands);
			break;
		}
		const read = readOptions(rest, typescriptTable);
		doubts.push(...doubtOfOptions(read));
		for (const { name, value } of read.options) {
			if (name !== "c" && name !== "command") continue;
			if (value?.kind === "literal") runs.push(scriptOf(value.text));
			else doubts.push("the command of a shell is not literal");
		}
		const direct = rest.findIndex((word) => word.text === "--");
		if (direct >= 0 && direct + 1 < rest.length) {
			runs.push(runOf(rest.slice(direct + 1)));
			break;
		}
		rest = read.rest.slice(1);
	}
	if (runs.length === 0) doubts.push("it starts a shell that reads commands from its input");
	return { runs, doubts, isTransparent: false };
}
