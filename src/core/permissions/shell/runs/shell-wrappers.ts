// Programs that run text as a script: shells, and programs that pass text to a shell.
import { isOwnInput } from "../builtins.ts";
import { type OptionTable, optionTable, type ReadOptions, readOptions } from "../programs/options.ts";
import type { Word } from "../script.ts";
import { doubtOfOptions, joinLiteral, nothing, type Run, runOf, scriptOf, type Unwrapped } from "./run.ts";

const notLiteral = "the command of a shell is not literal";
const readsInput = "it starts a shell that reads commands from its input";

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

/** A shell with another language: matching deny rules apply, the rest is unknown. */
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

/** The words after its options go to a shell. */
export function unwrapCapabilityShell(words: readonly Word[]): Unwrapped {
	const start = words.findIndex(({ text }) => text === "--" || text === "==");
	const doubts = words.some((word) => word.kind === "dynamic") ? ["an option of capsh is not literal"] : [];
	return start < 0 ? { ...nothing, doubts } : { ...unwrapShell(words.slice(start + 1), "bash"), isTransparent: false };
}

/** `sg GROUP -c COMMAND`. */
export function unwrapGroup(words: readonly Word[]): Unwrapped {
	const [, ...rest] = words[0]?.text === "-" || words[0]?.text === "-l" ? words.slice(1) : words;
	const given = rest[0]?.text === "-c" ? rest.slice(1) : rest;
	const [command] = given;
	if (command === undefined) return { ...nothing, doubts: [readsInput] };
	if (command.kind === "dynamic") return { ...nothing, doubts: [notLiteral] };
	return { runs: [scriptOf(command.text)], doubts: [], isTransparent: false };
}

/** Maximum number of words between which options are read. */
const mostOperands = 64;

const userTable = optionTable(
	"-flmpPTh -cCgGsuw: --fast --login --preserve-environment --pty --no-pty --help --version --command= --session-command= --group= " +
		"--supp-group= --shell= --user= --whitelist-environment=",
);

/** Reads the options after each operand; `take` returns whether they have ended. */
function readAmong(words: readonly Word[], table: OptionTable, doubts: string[], take: (read: ReadOptions) => boolean) {
	let rest = words;
	for (let round = 0; rest.length > 0; round += 1) {
		if (round > mostOperands) {
			doubts.push("it has so many words that its options cannot be told");
			return;
		}
		const read = readOptions(rest, table);
		doubts.push(...doubtOfOptions(read));
		if (take(read)) return;
		rest = read.rest.slice(1);
	}
}

/** The scripts in the options with these names. */
function scriptsOf({ options }: ReadOptions, names: string, doubts: string[]): Run[] {
	const values = options.filter(({ name }) => names.split(" ").includes(name)).map(({ value }) => value);
	if (values.some((value) => value?.kind !== "literal")) doubts.push(notLiteral);
	return values.flatMap((value) => (value?.kind === "literal" ? [scriptOf(value.text)] : []));
}

export function unwrapUser(words: readonly Word[]): Unwrapped {
	const doubts: string[] = [];
	const runs: Run[] = [];
	let hasUser = false;
	// Options may follow the user name.
	readAmong(words, userTable, doubts, (read) => {
		runs.push(...scriptsOf(read, "c C command session-command", doubts));
		hasUser ||= read.options.some(({ name }) => name === "user" || name === "u");
		if (hasUser && read.rest.length > 0) runs.push(runOf(read.rest));
		return hasUser && read.rest.length > 0;
	});
	if (runs.length === 0) doubts.push(readsInput);
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
		doubts: [...doubts, notLiteral],
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
	if (second?.kind !== "literal") return { ...nothing, doubts: [...doubts, notLiteral] };
	return { runs: [scriptOf(second.text)], doubts, isTransparent: false };
}

const typescriptTable = optionTable(
	"-aefqhV -cEIOBTmo: -t? --append --return --flush --force --quiet --timing --help --version --command= --echo= --log-in= " +
		"--log-out= --log-io= --log-timing= --logging-format= --output-limit=",
);

/** `script`, the terminal recorder. */
export function unwrapTypescript(words: readonly Word[]): Unwrapped {
	const doubts: string[] = [];
	// On other systems, the program follows the file.
	const program = readOptions(words, typescriptTable).rest.slice(1);
	const direct = words.slice(words.findIndex(({ text }) => text === "--") + 1);
	const runs = program.length > 0 ? [runOf(program)] : [];
	readAmong(words, typescriptTable, doubts, (read) => {
		runs.push(...scriptsOf(read, "c command", doubts));
		const isDirect = direct.length > 0 && direct.length < words.length;
		if (isDirect) runs.push(runOf(direct));
		return isDirect;
	});
	if (runs.length === 0) doubts.push(readsInput);
	return { runs, doubts, isTransparent: false };
}
