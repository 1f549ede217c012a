import type {
	Assignment as AssignmentNode,
	Command,
	forEachChild,
	HereDoc,
	ParsedScript,
	parse,
	Redirection,
	SyntaxNode,
	Word as WordNode,
} from "unbash";
import type { Budget } from "./budget.ts";
import { readBuiltin } from "./builtins.ts";
import { NumberVariables } from "./number-variables.ts";
import { type Directory, type Outcome, pathOf, stays } from "./outcome.ts";
import type { Run } from "./runs/run.ts";
import { unwrap } from "./runs/wrappers.ts";
import {
	type Assignment,
	type CommandReading,
	type Doubt,
	type Redirect,
	type ScriptPlace,
	type ScriptReading,
	type SimpleCommand,
	shownPiece,
	type Word,
} from "./script.ts";
import { decodeWord } from "./word.ts";
import { computes, doubtOfPart, nestsDeeply, riskyVariable, setsRisky } from "./word-doubts.ts";

export interface ParseShell {
	readonly parse: typeof parse;
	readonly forEachChild: typeof forEachChild;
}

export interface NestedScripts {
	readText(text: string, start: Directory): Outcome;
	readParsed(script: ParsedScript, source: string, start: Directory): Outcome;
}

const reserved: ReadonlySet<string> = new Set(
	"! { } [[ ]] case coproc do done elif else esac fi for function if in select then time until while".split(" "),
);

/** Builtins with words that name variables. */
const setters: ReadonlySet<string> = new Set(
	"read mapfile readarray printf getopts declare typeset local export readonly unset wait let".split(" "),
);

/** The parser accepts a parenthesis here that no shell accepts. */
const followingParenthesis = /(?:[ \t]|\\\n)*\(/y;

interface MutableReading {
	command: SimpleCommand;
	inner: { commands: MutableReading[]; isTransparent: boolean; isFollowed: boolean } | null;
}

interface Round {
	readonly commands: number;
	readonly declared: number;
}

export class CommandReader {
	readonly #shell: ParseShell;
	readonly #place: ScriptPlace;
	readonly #budget: Budget;
	readonly #scripts: NestedScripts;
	readonly #doubts: Doubt[] = [];
	readonly #declared = new Set<string>();
	readonly numbers = new NumberVariables();
	input: SimpleCommand | null = null;
	#isFed = false;
	#commands: MutableReading[] = [];
	#source = "";
	#home: string | null;

	constructor(shell: ParseShell, place: ScriptPlace, budget: Budget, scripts: NestedScripts) {
		this.#shell = shell;
		this.#place = place;
		this.#budget = budget;
		this.#scripts = scripts;
		this.#home = place.home;
	}

	finish(): ScriptReading {
		const doubts = [...this.#doubts, ...this.numbers.doubts()];
		return { commands: this.#commands.map((reading) => this.#finish(reading)), doubts, values: this.numbers.values() };
	}

	forgetHome(): void {
		this.#home = null;
	}

	/** Marks a name as redeclared: it no longer means the program. */
	declare(name: string): void {
		this.#declared.add(name);
	}

	/** Reads a script whose nodes refer to `source`. */
	within(source: string, read: () => Outcome): Outcome {
		const outer = this.#source;
		this.#source = source;
		const end = read();
		this.#source = outer;
		return end;
	}

	/** Reads with input from the script, or with the input of the enclosing part. */
	feeding<T>(isFed: boolean, read: () => T): T {
		const outer = this.#isFed;
		this.#isFed ||= isFed;
		const result = read();
		if (isFed) this.#isFed = outer;
		return result;
	}

	onlySince(count: number): SimpleCommand | null {
		return this.#commands.length === count + 1 ? (this.#commands[count]?.command ?? null) : null;
	}

	get count(): number {
		return this.#commands.length;
	}

	beginRound(): Round {
		return { commands: this.#commands.length, declared: this.#declared.size };
	}

	/** Whether all commands since then run in `directory` and declare no names. */
	stays(round: Round, directory: string | null): boolean {
		this.#budget.visit(1 + Math.ceil((this.#commands.length - round.commands) / 16));
		const moves = this.#commands.slice(round.commands).some(({ command }) => command.cwd !== directory);
		return !moves && this.#declared.size === round.declared;
	}

	forgetDirectories(round: Round): void {
		for (const reading of this.#commands.slice(round.commands)) forgetDirectory(reading);
	}

	doubt(why: string, text: string): void {
		this.#doubts.push(doubtOf(why, text));
	}

	/** Records an arithmetic expression, which is a doubt unless all its variables are numbers. */
	compute(expressions: readonly string[], text: string): void {
		const doubt = doubtOf(computes, text);
		if (!expressions.every((expression) => this.numbers.computes(expression, doubt))) this.#doubts.push(doubt);
	}

	readCommand(node: Command, start: Directory): Outcome {
		const parts = [...(node.name === undefined ? [] : [node.name]), ...node.suffix];
		const words: Word[] = [];
		for (const part of parts) {
			if (part.type !== "Word" && part.type !== "Assignment") continue;
			this.search(part, start);
			const raw = this.slice(part);
			// After a redirection, parsers disagree whether these are programs or reserved words.
			if (words.length === 0 && reserved.has(raw)) this.doubt("the program is a reserved word", raw);
			// `time` skips one more `--` than the parser does.
			if (words.length === 0 && raw === "--") this.doubt("the program is an end of options", raw);
			// Before a redirection this is a descriptor, whose index is evaluated.
			if (/^\{\w+\[/.test(raw)) this.doubt("a descriptor is an expression", raw);
			words.push(this.decode(part, words.length === 0));
		}
		const assignments: Assignment[] = [];
		for (const part of node.prefix) {
			if (part.type !== "Assignment") continue;
			this.search(part, start);
			assignments.push(this.#readAssignment(part, words.length > 0));
		}
		this.#checkGaps(node);
		const redirects = this.readRedirects(node.redirects, start);
		const command: SimpleCommand = {
			text: this.slice(node),
			words,
			assignments,
			redirects,
			cwd: pathOf(start),
			isFed: this.#isFed || node.redirects.some(isInput),
			isDeclaredHere: false,
		};
		if (words[0]?.text === "exec" && words.length === 1) this.#isFed = command.isFed;
		return this.feeding(command.isFed, () => this.#runCommand(command, start, this.push(command)));
	}

	/** The parser is tolerant: text it skips between parts of a command may be significant to a shell. */
	#checkGaps({ pos, end, name, prefix, suffix }: Command): void {
		const parts = [...prefix, ...(name === undefined ? [] : [name]), ...suffix];
		let last = pos;
		let lastType = "";
		followingParenthesis.lastIndex = end;
		if (followingParenthesis.test(this.#source)) this.doubt("it is not valid for a shell", this.#source.slice(pos));
		for (const part of [...parts, { pos: end, end }]) {
			const type = "type" in part ? part.type : "";
			const isSplit = part.pos === last && type === "Word" && lastType === "Word";
			if (isSplit || !/^(?:[ \t]|\\\n)*$/.test(this.#source.slice(last, part.pos))) {
				this.doubt("it is not valid for a shell", this.#source.slice(pos, end));
				return;
			}
			last = part.end;
			lastType = type;
		}
	}

	decode(node: WordNode | AssignmentNode, isProgram = false): Word {
		const raw = this.slice(node);
		const word = decodeWord(raw, isProgram ? null : this.#home);
		if (
			word.kind === "dynamic" &&
			node.type === "Word" &&
			node.parts?.length === 1 &&
			node.parts[0]?.type === "ProcessSubstitution"
		)
			return { ...word, mayBeOption: false, isOne: true };
		if (word.kind === "dynamic") return isQuoted(node) ? { ...word, isOne: true } : word;
		if (node.type === "Assignment" || !("value" in node)) return word;
		const isAgreed = raw.startsWith("~") || node.value === word.text;
		return isAgreed ? word : { kind: "dynamic", text: raw, why: "quoted in an unusual way", mayBeOption: true };
	}

	#readAssignment(node: Extract<SyntaxNode, { type: "Assignment" }>, hasProgram: boolean): Assignment {
		const { name, value, index } = node;
		if (!hasProgram && riskyVariable(name)) this.doubt(setsRisky(name), node.text);
		const isList = value.type === "ArrayValue" || index !== undefined;
		this.numbers.sets(name, isList ? node.text : this.slice(value));
		if (isList) {
			return { name, value: { kind: "dynamic", text: node.text, why: "a list", mayBeOption: true } };
		}
		return { name, value: this.decode(value, false) };
	}

	push(command: SimpleCommand): MutableReading {
		const reading: MutableReading = { command, inner: null };
		this.#commands.push(reading);
		return reading;
	}

	/** Records the effect of the program: on the shell itself, or through the programs it runs. */
	#runCommand(command: SimpleCommand, start: Directory, reading: MutableReading, isOneOfAll = false): Outcome {
		const [program] = command.words;
		if (program === undefined) return stays(start);
		if (program.kind === "dynamic") {
			this.doubt(`the program is ${program.why}`, command.text);
			return stays(start);
		}
		const effect = readBuiltin(command, this.#place, pathOf(start));
		for (const why of effect.doubts) this.doubt(why, command.text);
		for (const name of effect.declares) this.#declared.add(name);
		this.#followVariables(program.text, command.words.slice(1));
		const {
			runs,
			doubts,
			isTransparent,
			isFollowed = isTransparent,
		} = unwrap(command, isOneOfAll, command.redirects.length === 0 ? this.input : null);
		for (const why of doubts) this.doubt(why, command.text);
		let outcome: Outcome = {
			success: effect.success === "same" ? start : effect.success,
			failure: effect.success === "never" ? "never" : start,
		};
		if (this.#declared.has(program.text)) outcome = stays("open");
		if (runs.length === 0) return outcome;
		const outer = this.#commands;
		const commands: MutableReading[] = [];
		reading.inner = { commands, isTransparent, isFollowed };
		this.#commands = commands;
		try {
			for (const run of runs) {
				const from = run.directory === "same" ? start : "open";
				// If all ends of the outer words are checked, a nested run is one of them.
				const inner = { ...run, isOneOfAll: run.isOneOfAll || isOneOfAll };
				const result = this.#budget.nested(() => this.#readRun(inner, command, from));
				if (run.isInThisShell) outcome = result;
			}
		} finally {
			this.#commands = outer;
		}
		return outcome;
	}

	#followVariables(program: string, words: readonly Word[]): void {
		if (program === "." || program === "source") this.numbers.open();
		if (setters.has(program)) for (const { text } of words) this.numbers.names(text);
	}

	#readRun(run: Run, { text }: SimpleCommand, start: Directory): Outcome {
		// Nested wrappers repeat the same words.
		this.#budget.visit(run.kind === "script" ? 1 + Math.ceil(run.text.length / 16) : 1 + run.words.length);
		if (run.kind === "script") return this.#scripts.readText(run.text, start);
		const { words, assignments, isOneOfAll } = run;
		const inner: SimpleCommand = {
			text: text.endsWith(run.text) ? run.text : words.map((word) => word.text).join(" "),
			words,
			assignments,
			redirects: [],
			cwd: pathOf(start),
			isFed: this.#isFed,
			isDeclaredHere: false,
		};
		return this.#runCommand(inner, start, this.push(inner), isOneOfAll);
	}

	readRedirects(redirections: readonly Redirection[], start: Directory): Redirect[] {
		const redirects: Redirect[] = [];
		for (const redirection of redirections) {
			this.search(redirection, start);
			if (redirection.descriptor?.type === "FileDescriptorVariable") {
				const { name } = redirection.descriptor;
				if (/\W/.test(name)) this.doubt("a descriptor is an expression", this.slice(redirection));
				if (riskyVariable(name)) this.doubt(setsRisky(name), this.slice(redirection));
			}
			if (redirection.type === "HereDoc") {
				if (redirection.closing === undefined) this.doubt("a here-document does not end", this.slice(redirection));
				this.#readJoined(redirection, start);
			}
			if (redirection.type !== "HereDoc" && redirection.target !== undefined && this.#runsOn(redirection.target)) {
				this.doubt("a word follows a process substitution without a blank", this.slice(redirection));
			}
			if (redirection.type !== "Redirect") continue;
			const { operator } = redirection;
			if (redirection.target === undefined) {
				this.doubt("a redirection has no target", this.slice(redirection));
				continue;
			}
			// The shell ends the redirection after `>&-`: the next text is a separate word and may be the program.
			if (operator.endsWith("&") && /^-./s.test(this.slice(redirection.target))) {
				this.doubt("a word follows a closed descriptor without a blank", this.slice(redirection));
			}
			const target = this.decode(redirection.target, false);
			if (operator.endsWith("&") && target.kind === "literal" && /^(?:\d+-?|-)$/.test(target.text)) continue;
			if (target.kind === "literal" && /^\/dev\/(?:tcp|udp)\//.test(target.text)) {
				this.doubt("a redirection opens a connection", this.slice(redirection));
			}
			if (operator.startsWith("<")) redirects.push({ operation: "read", target });
			if (operator !== "<" && operator !== "<&") redirects.push({ operation: "write", target });
		}
		return redirects;
	}

	/** The shell joins the lines of a here-document before it looks for substitutions and quotes; the parser does not. */
	#readJoined({ operator, delimiter, body }: HereDoc, start: Directory): void {
		if (delimiter?.quoted === true) return;
		const text = this.slice(body);
		const joined = text.replaceAll(/\\[\s\S]/g, (pair) => (pair === "\\\n" ? "" : pair));
		if (joined === text || !/`|\$[({[]/.test(joined)) return;
		this.doubt("a line of a here-document goes on in the next", text);
		const lines = operator === "<<-" ? joined.replaceAll(/^\t+/gm, "") : joined;
		let mark = "END";
		while (lines.includes(mark)) mark += "_";
		this.#scripts.readText(`<<${mark}\n${lines}\n${mark}\n`, start);
	}

	/** Whether the shell continues the word after a process substitution where the parser ends it. */
	#runsOn({ end }: SyntaxNode): boolean {
		return this.#source.charAt(end - 1) === ")" && /[^\s;&|()<>]/.test(this.#source.charAt(end));
	}

	/** Reads the scripts within a word, expression or redirection. They run in a subshell. */
	search(node: SyntaxNode, start: Directory): void {
		this.#budget.visit();
		switch (node.type) {
			case "CommandExpansion":
			case "ProcessSubstitution":
			case "ArithmeticCommandExpansion": {
				const { script } = node;
				const source = this.#source;
				// The parser may end a substitution too early at a character that is significant outside of it.
				const isWhole = /(?:\)|\$\{.*\}|`)$/s.test(this.slice(node)) || node.type === "ArithmeticCommandExpansion";
				if (script === undefined || !isWhole) this.doubt("a substitution cannot be read", node.text);
				// The shell joins these lines before it looks for quotes and comments.
				if (this.slice(node).startsWith("`") && this.slice(node).includes("\\\n")) {
					this.doubt("a line within backticks goes on in the next", node.text);
					if (script !== undefined)
						this.#scripts.readText((script.source ?? this.slice(node).slice(1, -1)).replaceAll("\\\n", ""), start);
				}
				if (script !== undefined) {
					this.#budget.nested(() => this.#scripts.readParsed(script, script.source ?? source, start));
				}
				return;
			}
			default: {
				if (nestsDeeply(this.#source, node)) {
					this.doubt("a word is nested too deeply", this.slice(node));
					return;
				}
				const why = doubtOfPart(node);
				if (why === computes) this.compute(expressionsOf(node), this.slice(node));
				else if (why !== null) this.doubt(why, this.slice(node));
				if (node.type === "ParameterExpansion" && node.operation !== undefined) this.numbers.names(node.parameter);
				this.#budget.nested(() => this.#shell.forEachChild(node, (child) => this.search(child, start)));
			}
		}
	}

	slice({ pos, end }: { readonly pos: number; readonly end: number }): string {
		return this.#source.slice(pos, end);
	}

	#finish({ command, inner }: MutableReading): CommandReading {
		const [program] = command.words;
		const isDeclaredHere = program?.kind === "literal" && this.#declared.has(program.text);
		return {
			command: isDeclaredHere ? { ...command, isDeclaredHere } : command,
			inner: inner === null ? null : { ...inner, commands: inner.commands.map((reading) => this.#finish(reading)) },
		};
	}
}

export function isInput({ operator }: Redirection): boolean {
	return operator.startsWith("<");
}

function expressionsOf(node: SyntaxNode): readonly string[] {
	return node.type === "TestBinary"
		? [node.left.text, node.right.text]
		: [node.type === "ArithmeticExpansion" ? node.text : "`"];
}

/** Whether a word is entirely within double quotes and so stays one word after expansion. */
function isQuoted(node: WordNode | AssignmentNode): boolean {
	if (node.type !== "Word" || node.parts?.length !== 1) return false;
	const [part] = node.parts;
	return part?.type === "DoubleQuoted" && !/[@*]/.test(part.parts.map(nameOfExpansion).join(""));
}

/** `"$@"` and `"${list[@]}"` expand to any number of words. */
function nameOfExpansion(part: { readonly type: string; readonly text: string }): string {
	return part.type === "SimpleExpansion" || part.type === "ParameterExpansion" ? part.text : "";
}

function doubtOf(why: string, text: string): Doubt {
	return { why, text: shownPiece(text) };
}

function forgetDirectory(reading: MutableReading): void {
	reading.command = { ...reading.command, cwd: null };
	for (const inner of reading.inner?.commands ?? []) forgetDirectory(inner);
}
