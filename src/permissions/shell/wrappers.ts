// Programs that run other programs which their words name: what they run, as words or as a script.
import { isOwnInput } from "./builtins.ts";
import { readEnvironment } from "./environment-wrapper.ts";
import { type ReadOptions, readOptions } from "./programs/options.ts";
import { type WrapperOptions, wrapperTable } from "./programs/wrapper-table.ts";
import type { Assignment, SimpleCommand, Word } from "./script.ts";

interface RunPlace {
	/** Where it runs: where the wrapper does, or anywhere. */
	readonly directory: "same" | "open";
	/** Whether it can move the shell that runs the wrapper. */
	readonly isInThisShell: boolean;
}

export type Run = RunPlace &
	(
		| {
				readonly kind: "command";
				readonly words: readonly Word[];
				readonly assignments: readonly Assignment[];
				/** The words as far as they are literal, for people. */
				readonly text: string;
		  }
		| { readonly kind: "script"; readonly text: string }
	);

export interface Unwrapped {
	readonly runs: readonly Run[];
	/** Clauses without full stop. */
	readonly doubts: readonly string[];
	/** Whether what allows all runs allows the wrapper. */
	readonly isTransparent: boolean;
}

const nothing: Unwrapped = { runs: [], doubts: [], isTransparent: false };

/** What a command runs in turn; no runs for a program that runs no other. */
export function unwrap(command: SimpleCommand): Unwrapped {
	const [program, ...words] = command.words;
	if (program?.kind !== "literal") return nothing;
	const path = program.text;
	const name = path.slice(path.lastIndexOf("/") + 1);
	// Another program may have the name of a wrapper.
	const isTrusted = path === name || path === `/bin/${name}` || path === `/usr/bin/${name}`;
	const unwrapped = unwrapProgram(name, words);
	return isTrusted ? unwrapped : { ...unwrapped, isTransparent: false };
}

function unwrapProgram(name: string, words: readonly Word[]): Unwrapped {
	const options = wrapperTable[name];
	if (options !== undefined && Object.hasOwn(wrapperTable, name)) return unwrapByTable(words, options);
	switch (name) {
		case "env":
			return unwrapEnvironment(words);
		case "eval":
			return unwrapEval(words);
		case "trap":
			return unwrapTrap(words);
		case "sh":
		case "bash":
		case "zsh":
		case "dash":
		case "ksh":
		case "ash":
		case "rbash":
		case "mksh":
		case "fish":
			return unwrapShell(name, words);
		case "su":
		case "runuser":
			return unwrapUser(words);
		case "xargs":
			return unwrapXargs(words);
		case "find":
		case "fd":
		case "fdfind":
			return unwrapFind(name, words);
		case "watch":
			return unwrapWatch(words);
		case "flock":
			return unwrapFlock(words);
		case "script":
			return unwrapTypescript(words);
		case "gdb":
			return unwrapDebugger(words);
		case "parallel":
			return unwrapParallel(words);
		default:
			return looseWrappers.has(name) ? { ...nothing, runs: suffixes(words) } : nothing;
	}
}

/** Wrappers whose options are not known here: what they run is one of the suffixes of their words. */
const looseWrappers = new Set(
	(
		"taskset chrt numactl prlimit choom unbuffer eatmydata fakeroot setpriv gosu su-exec setarch linux32 linux64 " +
		"i386 x86_64 daemon daemonize rlwrap xvfb-run dbus-run-session dbus-launch caffeinate torsocks torify proxychains " +
		"proxychains4 noglob nocorrect firejail bwrap proot entr ld.so cgexec capsh start-stop-daemon catchsegv valgrind " +
		"ltrace perf rr direnv mise asdf"
	).split(" "),
);

function suffixes(words: readonly Word[]): Run[] {
	// A command with very many words would be read very many times.
	return words.slice(0, 12).flatMap((word, index) => {
		const isProgram = word.kind === "literal" && /^[\w./]/.test(word.text);
		return isProgram ? [runOf(words.slice(index))] : [];
	});
}

function runOf(words: readonly Word[], place: Partial<RunPlace> & { assignments?: readonly Assignment[] } = {}): Run {
	const text = words.map((word) => word.text).join(" ");
	return { kind: "command", words, text, assignments: [], directory: "same", isInThisShell: false, ...place };
}

function scriptOf(text: string, isInThisShell = false): Run {
	return { kind: "script", text, directory: "same", isInThisShell };
}

function doubtOfOptions({ unclear }: ReadOptions): string[] {
	if (unclear === null) return [];
	return [unclear.kind === "dynamic" ? `an option is ${unclear.why}` : `the option ${unclear.text} is not known`];
}

function unwrapByTable(words: readonly Word[], table: WrapperOptions): Unwrapped {
	const read = readOptions(words, table);
	const doubts = doubtOfOptions(read);
	const has = (names: readonly string[] = []) => read.options.some(({ name }) => names.includes(name));
	if (has(table.endsWithout)) return { ...nothing, doubts };
	let rest = read.rest;
	for (let left = table.positionals ?? 0; left > 0; left -= 1) {
		// Several words, or none, may come of one that is dynamic.
		if (rest[0]?.kind === "dynamic") doubts.push(`a word before the program is ${rest[0].why}`);
		rest = rest.slice(1);
	}
	const assignments: Assignment[] = [];
	if (table.takesAssignments) rest = takeAssignments(rest, assignments);
	const opensDirectory = has(table.moves) || table.alwaysMoves === true;
	if (rest.length === 0) {
		if (table.withoutProgram === "shell") doubts.push("it starts a shell that reads commands from its input");
		return { ...nothing, doubts };
	}
	const isTransparent =
		table.isTransparent === true && read.options.every(({ name }) => table.harmless?.includes(name));
	const run = runOf(rest, {
		assignments,
		directory: opensDirectory ? "open" : "same",
		isInThisShell: table.isInThisShell === true,
	});
	return { runs: [run], doubts, isTransparent };
}

/** Moves the assignments at the start of `words` to `assignments`; returns the other words. */
function takeAssignments(words: readonly Word[], assignments: Assignment[]): readonly Word[] {
	let index = 0;
	for (; index < words.length; index += 1) {
		const word = words[index];
		const found = word === undefined ? null : /^([^=\s'"$`]+)=(.*)$/s.exec(word.text);
		if (word === undefined || found === null) break;
		const [, name = "", value = ""] = found;
		assignments.push({
			name,
			value: word.kind === "literal" ? { kind: "literal", text: value } : { ...word, text: value },
		});
	}
	return words.slice(index);
}

function unwrapEnvironment(words: readonly Word[]): Unwrapped {
	const { rest, doubts, moves } = readEnvironment(words);
	const assignments: Assignment[] = [];
	const left = takeAssignments(rest, assignments);
	if (left.length === 0) return { ...nothing, doubts };
	return { runs: [runOf(left, { assignments, directory: moves ? "open" : "same" })], doubts, isTransparent: false };
}

function unwrapEval(words: readonly Word[]): Unwrapped {
	const given = words[0]?.text === "--" ? words.slice(1) : words;
	const text = joinLiteral(given);
	if (text === null) return { ...nothing, doubts: ["what it evaluates is not literal"] };
	return { runs: text.trim() === "" ? [] : [scriptOf(text, true)], doubts: [], isTransparent: true };
}

function joinLiteral(words: readonly Word[]): string | null {
	return words.every((word) => word.kind === "literal") ? words.map((word) => word.text).join(" ") : null;
}

function unwrapTrap(words: readonly Word[]): Unwrapped {
	const [action] = words[0]?.text === "--" ? words.slice(1) : words;
	if (action === undefined) return nothing;
	if (action.kind === "dynamic") return { ...nothing, doubts: ["what it runs at a signal is not literal"] };
	if (action.text === "" || /^-|^\d+$/.test(action.text)) return nothing;
	// It runs wherever the shell is by then.
	return { runs: [{ ...scriptOf(action.text), directory: "open" }], doubts: [], isTransparent: true };
}

const shellTable = {
	flags: "abefhiklmnpqrstuvxBCDEHPTc",
	valued: "oO",
	longFlags: [
		"login",
		"norc",
		"noprofile",
		"posix",
		"verbose",
		"restricted",
		"debugger",
		"noediting",
		"wordexp",
		"version",
		"help",
	],
	longValued: ["rcfile", "init-file", "command", "init-command"],
};

const moreThanPosix =
	/&>|[<>]&\s*[^\s\d-]|\$['"[]|\(\(|\[\[|\|&|;;?&|[<>]\(|<<<|[{}][^\s{}]*(?:,|\.\.)|[?*+@!]\(|\b(?:function|coproc|select|time)\b|\w\+?=\(|\}\s*[<>]/;

function unwrapShell(name: string, words: readonly Word[]): Unwrapped {
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
		return { ...nothing, doubts };
	}
	if (first === undefined) return { ...nothing, doubts: [...doubts, "it is a shell without its command"] };
	if (first.kind === "dynamic") return { ...nothing, doubts: [...doubts, `the command of a shell is ${first.why}`] };
	// It may be a shell of less syntax than bash, which takes `p &>f` for two commands and `$"p"` for another word.
	if (name !== "bash" && moreThanPosix.test(first.text)) doubts.push("its command is written for bash, not for sh");
	const isPlain = names.every((option) => "ceux".includes(option)) && (name === "sh" || name === "bash");
	return { runs: [scriptOf(first.text)], doubts, isTransparent: isPlain && doubts.length === 0 };
}

const userTable = {
	flags: "flmpPTh",
	valued: "cCgGsuw",
	longFlags: ["fast", "login", "preserve-environment", "pty", "no-pty", "help", "version"],
	longValued: ["command", "session-command", "group", "supp-group", "shell", "user", "whitelist-environment"],
};

function unwrapUser(words: readonly Word[]): Unwrapped {
	const doubts: string[] = [];
	const runs: Run[] = [];
	let rest: readonly Word[] = words;
	let hasUser = false;
	// Options may follow the name of the user.
	while (rest.length > 0) {
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

const xargsTable = {
	flags: "0prtxo",
	valued: "adEILnPs",
	attached: "eil",
	longFlags:
		"null eof replace max-lines interactive no-run-if-empty verbose exit show-limits open-tty help version".split(" "),
	longValued: ["arg-file", "delimiter", "max-args", "max-procs", "max-chars", "process-slot-var"],
};

const fromInput: Word = { kind: "dynamic", text: "…", why: "what xargs reads", mayBeOption: true };

function unwrapXargs(words: readonly Word[]): Unwrapped {
	const read = readOptions(words, xargsTable);
	const doubts = doubtOfOptions(read);
	if (read.rest.length === 0) return { ...nothing, doubts };
	const replaced = read.options.flatMap(({ name, value }) => {
		if (name === "I") return [value?.text ?? "{}"];
		return name === "i" || name === "replace" ? [value === null || value.text === "" ? "{}" : value.text] : [];
	});
	const isReplaced = (word: Word) => replaced.some((text) => word.text.includes(text));
	const inner = read.rest.map(
		(word): Word => (isReplaced(word) && !isScript(word) ? { ...fromInput, text: word.text } : word),
	);
	if (read.rest.some((word) => isReplaced(word) && isScript(word)))
		doubts.push("what xargs reads becomes a part of a script");
	return { runs: [runOf(replaced.length > 0 ? inner : [...inner, fromInput])], doubts, isTransparent: false };
}

/** Whether a word may be a script for a shell: then its commands count, although something is put into it. */
function isScript(word: Word): boolean {
	return word.kind === "literal" && /\s/.test(word.text);
}

/** `find -exec … ;`, and `fd -x …`. */
function unwrapFind(name: string, words: readonly Word[]): Unwrapped {
	const starts = name === "find" ? /^-(?:exec|execdir|ok|okdir)$/ : /^(?:-[xX]|--exec|--exec-batch)$/;
	const runs: Run[] = [];
	const doubts: string[] = [];
	for (let index = 0; index < words.length; index += 1) {
		const word = words[index];
		if (word?.kind !== "literal" || !starts.test(word.text)) continue;
		const end = words.findIndex((other, at) => at > index && (other.text === ";" || isBatchEnd(words, at, name)));
		const inner = words.slice(index + 1, end < 0 ? words.length : end);
		if (inner.length === 0) continue;
		const filled = inner.map((part): Word => {
			const isFound = part.kind === "literal" && part.text.includes("{}");
			if (isFound && isScript(part)) doubts.push("the name of a file becomes a part of a script");
			return isFound && !isScript(part)
				? { kind: "dynamic", text: part.text, why: "a file that it finds", mayBeOption: false }
				: part;
		});
		runs.push(runOf(filled, { directory: word.text.endsWith("dir") ? "open" : "same" }));
		if (end < 0) break;
		index = end;
	}
	return { runs, doubts, isTransparent: false };
}

function isBatchEnd(words: readonly Word[], at: number, name: string): boolean {
	return name === "find" && words[at]?.text === "+" && words[at - 1]?.text === "{}";
}

const watchTable = {
	flags: "bcCegrtwxhvf",
	valued: "nqs",
	attached: "d",
	longFlags:
		"differences beep color no-color errexit chgexit precise no-rerun no-title no-wrap exec help version follow".split(
			" ",
		),
	longValued: ["interval", "equexit", "shotsdir"],
};

function unwrapWatch(words: readonly Word[]): Unwrapped {
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

const flockTable = {
	flags: "sxeunoFvhV",
	valued: "wE",
	longFlags: "shared exclusive unlock nonblock nb close no-fork verbose help version".split(" "),
	longValued: ["wait", "timeout", "conflict-exit-code"],
};

function unwrapFlock(words: readonly Word[]): Unwrapped {
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

const typescriptTable = {
	flags: "aefqhV",
	valued: "cEIOBTmo",
	attached: "t",
	longFlags: "append return flush force quiet timing help version".split(" "),
	longValued: ["command", "echo", "log-in", "log-out", "log-io", "log-timing", "logging-format", "output-limit"],
};

/** `script`, which records a terminal. */
function unwrapTypescript(words: readonly Word[]): Unwrapped {
	const doubts: string[] = [];
	const runs: Run[] = [];
	let rest: readonly Word[] = words;
	while (rest.length > 0) {
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

function unwrapDebugger(words: readonly Word[]): Unwrapped {
	const start = words.findIndex((word) => /^--?args$/.test(word.text));
	const rest = start < 0 ? [] : words.slice(start + 1);
	return rest.length === 0 ? nothing : { runs: [runOf(rest)], doubts: [], isTransparent: false };
}

/** Its options are many, and its words are joined and given to a shell. */
function unwrapParallel(words: readonly Word[]): Unwrapped {
	const end = words.findIndex((word) => /^:::/.test(word.text));
	const given = end < 0 ? words : words.slice(0, end);
	const doubts = ["what it runs is put together from its words and its input"];
	return { runs: [...suffixes(given)], doubts, isTransparent: false };
}
