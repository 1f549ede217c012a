// Directory changes, declarations, evaluated words. Builtins that run commands are in wrappers.ts.
import { posix } from "node:path";
import type { ScriptPlace, SimpleCommand, Word } from "./script.ts";
import { isIdentifier, riskyVariable, setsRisky } from "./word-doubts.ts";

export interface ShellEffect {
	/** The directory after success; "never" when no command follows. */
	readonly success: { readonly path: string } | "same" | "open" | "never";
	readonly doubts: readonly string[];
	/** Names it declares; programs with these names may now be something else. */
	readonly declares: readonly string[];
}

const none: ShellEffect = { success: "same", doubts: [], declares: [] };

const doubting = (why: string | null): ShellEffect => (why === null ? none : { ...none, doubts: [why] });

/** Whether the file is input from the script itself, such as a here-document or a pipe. */
export function isOwnInput(word: Word): boolean {
	return word.kind === "literal" && /(?:^|\/)(?:dev|proc)\/.*(?:stdin|fd)/.test(posix.normalize(word.text));
}

/** A declaration evaluates a list even if it is quoted. */
function doubtOfList(word: Word): string | null {
	const start = word.text.indexOf("=(");
	const isOpen = word.kind === "literal" && start >= 0 && /[$`]/.test(word.text.slice(start));
	return isOpen ? "it declares a list with expansions" : null;
}

export function readBuiltin(command: SimpleCommand, place: ScriptPlace, cwd: string | null): ShellEffect {
	const [program, ...words] = command.words;
	if (program?.kind !== "literal") return none;
	switch (program.text) {
		case "cd":
		case "pushd":
			return { ...none, success: readMove(program.text, words, place, cwd) };
		case "popd":
			return { ...none, success: "open" };
		case "exit":
		case "logout":
			return words.every((word) => word.kind === "literal" && /^\d+$/.test(word.text)) && words.length < 2
				? { ...none, success: "never" }
				: none;
		case ".":
		case "source": {
			const isLiteral = words.every((word) => word.kind === "literal");
			const doubts = isLiteral
				? words.slice(0, 1).some(isOwnInput)
					? ["it runs the commands of its own input"]
					: []
				: ["the file whose commands it runs is not literal"];
			return { ...none, success: "open", doubts };
		}
		case "alias": {
			const set = words.filter((word) => word.kind === "dynamic" || word.text.includes("="));
			if (set.length === 0) return none;
			const declares = set.map((word) => word.text.split("=")[0] ?? "");
			return { ...none, doubts: ["it declares an alias"], declares };
		}
		case "set":
			return doubting(doubtOfSet(words));
		case "shopt":
			return doubting(doubtOfShopt(words));
		case "enable":
		case "complete":
		case "compgen":
		case "compopt":
		case "bind":
		case "fc":
			return doubting(words.length > 0 ? "it changes the shell in a way that may run commands" : null);
		case "hash":
			return doubting(
				words.some(isNotPlain(/^-[rltd]+$|^[\w.]+$/)) ? "it changes where the shell finds a program" : null,
			);
		case "jobs":
			return doubting(words.some(isNotPlain(/^-[lnprs]+$|^%?\w*$/)) ? "it may run a command" : null);
		default:
			return doubting(doubtOfNames(program.text, words));
	}
}

function readMove(
	program: string,
	words: readonly Word[],
	{ home }: ScriptPlace,
	cwd: string | null,
): ShellEffect["success"] {
	const targets = words.filter((word) => word.kind === "dynamic" || !/^-(?:L|-)$/.test(word.text));
	const [target, ...others] = targets;
	if (target === undefined) return program === "cd" ? { path: home } : "open";
	if (others.length > 0 || target.kind === "dynamic" || /^[-+]/.test(target.text) || target.text === "") return "open";
	if (posix.isAbsolute(target.text)) return { path: posix.resolve(target.text) };
	return cwd === null ? "open" : { path: posix.resolve(cwd, target.text) };
}

function isNotPlain(plain: RegExp): (word: Word) => boolean {
	return (word) => word.kind === "dynamic" || !plain.test(word.text);
}

/** Other options change how the script runs or the environment of its programs. */
function doubtOfSet(words: readonly Word[]): string | null {
	let takesName = false;
	for (const word of words) {
		if (word.kind === "dynamic") return word.mayBeOption ? "the options that it sets are not literal" : null;
		const { text } = word;
		if (takesName) {
			if (!/^(?:pipefail|errexit|nounset|xtrace|noglob|noclobber|verbose|noexec)$/.test(text)) return `it sets ${text}`;
			takesName = false;
		} else if (text === "--" || text === "-" || !/^[-+]/.test(text)) return null;
		else if (!/^[-+][euxvfhnCo]+$/.test(text)) return `it sets ${text}`;
		else takesName = text.includes("o");
	}
	return null;
}

function doubtOfShopt(words: readonly Word[]): string | null {
	const plain = /^-[supqo]+$|^(?:nullglob|dotglob|globstar|failglob|nocaseglob|inherit_errexit)$/;
	return words.some(isNotPlain(plain)) ? "it changes how the shell reads the script" : null;
}

/** Commands with words that name variables: the shell evaluates an index in such a word. */
function doubtOfNames(program: string, words: readonly Word[]): string | null {
	switch (program) {
		case "let":
			return words.every((word) => word.kind === "literal" && /^[\d\s+*/%()-]*$/.test(word.text))
				? null
				: "it computes with variables, which may run commands";
		case "test":
		case "[":
			return words.some((word) => word.kind === "literal" && /^-[vR]$/.test(word.text)) &&
				words.some((word) => word.kind === "dynamic" || word.text.includes("["))
				? "it tests an index, which may run commands"
				: null;
		case "printf": {
			const [first, name] = words;
			if (first?.kind === "dynamic") return first.mayBeOption ? "its first word is not literal" : null;
			if (!first?.text.startsWith("-v")) return null;
			const set = first.text === "-v" ? name : { kind: "literal" as const, text: first.text.slice(2) };
			return set === undefined ? null : doubtOfName(set);
		}
		case "declare":
		case "typeset":
		case "local":
			return firstOf(words, (word) => {
				if (word.kind === "literal" && /^[-+]/.test(word.text)) {
					return /^[-+][aAfFgGlprux]+$/.test(word.text) ? null : `it declares with ${word.text}`;
				}
				return doubtOfList(word) ?? doubtOfName(word);
			});
		case "export":
		case "readonly":
			return firstOf(words, (word) =>
				word.kind === "literal" && /^-/.test(word.text) ? null : (doubtOfList(word) ?? doubtOfName(word)),
			);
		case "unset":
		case "getopts":
			return firstOf(words.slice(program === "getopts" ? 1 : 0), (word) =>
				word.kind === "literal" && /^-[fvn]+$/.test(word.text) ? null : doubtOfName(word, program === "getopts"),
			);
		case "read":
		case "wait":
			return doubtOfRead(words, program === "read" ? "adinNptu" : "p", program === "read" ? "a" : "p", program);
		case "mapfile":
		case "readarray":
			return doubtOfRead(words, "dnOsuC", "", program);
		default:
			return null;
	}
}

function firstOf(words: readonly Word[], doubtOf: (word: Word) => string | null): string | null {
	for (const word of words) {
		const why = doubtOf(word);
		if (why !== null) return why;
	}
	return null;
}

/** A variable name, optionally with a value. */
function doubtOfName(word: Word, isLoose = false): string | null {
	const name = /^([A-Za-z_]\w*)(?=\+?=|$)/.exec(word.text)?.[1];
	if (isLoose && word.kind === "dynamic") return null;
	if (name === undefined) return "it sets a variable whose name is not literal";
	return riskyVariable(name) ? setsRisky(name) : null;
}

/** `valued` are the options with a value; those in `naming` take a variable name. */
function doubtOfRead(words: readonly Word[], valued: string, naming: string, program: string): string | null {
	for (let index = 0; index < words.length; index += 1) {
		const word = words[index];
		if (word === undefined) break;
		if (word.kind === "literal" && /^-./.test(word.text) && word.text !== "--") {
			const letter = [...word.text.slice(1)].find((option) => valued.includes(option));
			if (letter === undefined) continue;
			if (letter === "C") return "it runs a command for its lines";
			const isAttached = !word.text.endsWith(letter);
			if (!isAttached) index += 1;
			const value = isAttached ? undefined : words[index];
			if (naming.includes(letter)) {
				const why = value === undefined ? "the variable that it sets is not plain" : doubtOfName(value);
				if (why !== null) return why;
			}
		} else if (program !== "wait" && word.text !== "--") {
			if (word.kind === "dynamic" || !isIdentifier(word.text) || riskyVariable(word.text)) {
				return "the variable that it sets is not plain";
			}
		}
	}
	return null;
}
