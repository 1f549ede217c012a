// Walks the syntax tree of a script: collects its simple commands, and follows the directory that each would run in.
import type {
	Command,
	CommandNode,
	CompoundCommand,
	CompoundList,
	forEachChild,
	ParsedScript,
	PipelineNode,
	parse,
	Redirection,
	Statement,
	SyntaxNode,
} from "unbash";
import { type Budget, BudgetExceeded } from "./budget.ts";
import { readBuiltin } from "./builtins.ts";
import { after, type Directory, isSame, merge, type Outcome, pathOf, stays } from "./outcome.ts";
import type {
	Assignment,
	CommandReading,
	Doubt,
	Redirect,
	ScriptPlace,
	ScriptReading,
	SimpleCommand,
	Word,
} from "./script.ts";
import { decodeWord } from "./word.ts";
import { doubtOfPart, riskyVariable, setsRisky } from "./word-doubts.ts";
import { type Run, unwrap } from "./wrappers.ts";

export interface ParseShell {
	readonly parse: typeof parse;
	readonly forEachChild: typeof forEachChild;
}

/**
 * Controls other than line feed and tab, blanks outside of ASCII, marks of direction and whatever else is not seen. Those
 * that emoji are made of are no blanks for a shell.
 */
const oddCharacter = /(?!\n|\t| |\u200d|\ufe0e|\ufe0f)[\p{Cc}\p{Cf}\p{Cs}\p{Z}\p{Default_Ignorable_Code_Point}]/u;

const reserved: ReadonlySet<string> = new Set(
	"! { } [[ ]] case coproc do done elif else esac fi for function if in select then time until while".split(" "),
);

/** The parser ignores what no shell accepts there. */
const followingParenthesis = /(?:[ \t]|\\\n)*\(/y;

interface MutableReading {
	command: SimpleCommand;
	inner: { commands: MutableReading[]; isTransparent: boolean } | null;
}

export class ScriptReader {
	readonly #shell: ParseShell;
	readonly #place: ScriptPlace;
	readonly #budget: Budget;
	readonly #doubts: Doubt[] = [];
	readonly #declared = new Set<string>();
	/** Where commands that are found go: the script's, or a wrapper's. */
	#commands: MutableReading[] = [];
	/** What positions in the syntax tree index. */
	#source = "";
	#home: string | null;

	constructor(shell: ParseShell, place: ScriptPlace, budget: Budget) {
		this.#shell = shell;
		this.#place = place;
		this.#budget = budget;
		this.#home = place.home;
	}

	/** To be called once. */
	read(text: string): ScriptReading {
		// A script that sets the home directory, in whatever way, must not be read with that of the kernel.
		if (text.replaceAll(/['"\\\n]/g, "").includes("HOME")) this.#home = null;
		try {
			this.#readText(text, { path: this.#place.cwd });
		} catch (error) {
			if (error instanceof BudgetExceeded) this.#doubt(error.message, text);
			else if (error instanceof RangeError) this.#doubt("the script is nested too deeply", text);
			else this.#doubt("the script cannot be read", text);
		}
		return { commands: this.#commands.map((reading) => this.#finish(reading)), doubts: this.#doubts };
	}

	#doubt(why: string, text: string): void {
		this.#doubts.push({ why, text: text.slice(0, 200) });
	}

	#readText(text: string, start: Directory): Outcome {
		return this.#budget.nested(() => {
			if (oddCharacter.test(text)) this.#doubt("it has characters that nobody sees", text);
			return this.#readParsed(this.#shell.parse(text), text, start);
		});
	}

	#readParsed(script: ParsedScript, source: string, start: Directory): Outcome {
		const outer = this.#source;
		this.#source = source;
		for (const { message } of script.errors ?? []) this.#doubt(`it is not valid for a shell (${message})`, source);
		const end = this.#readStatements(script.commands, start);
		this.#source = outer;
		return end;
	}

	#readStatements(statements: readonly Statement[], start: Directory): Outcome {
		let outcome = stays(start);
		for (const statement of statements) {
			const from = after(outcome);
			const result = this.#readNode(statement.command, from);
			outcome = statement.background ? stays(from) : result;
		}
		return outcome;
	}

	#readList(list: CompoundList, start: Directory): Outcome {
		return this.#readStatements(list.commands, start);
	}

	#readNode(node: PipelineNode | Statement["command"], start: Directory): Outcome {
		this.#budget.visit();
		switch (node.type) {
			case "AndOr":
				return this.#readAndOr(node.commands, node.operators, start);
			case "Pipeline": {
				const [first, ...others] = node.commands;
				if (first !== undefined && others.length === 0) {
					const outcome = this.#budget.nested(() => this.#readNode(first, start));
					const isNegated = node.prefixes.filter((prefix) => prefix.type === "Negation").length % 2 === 1;
					return isNegated ? { success: outcome.failure, failure: outcome.success } : outcome;
				}
				for (const command of node.commands) this.#budget.nested(() => this.#readNode(command, start));
				return stays(start);
			}
			default:
				return this.#budget.nested(() => this.#readCommandNode(node, start));
		}
	}

	#readAndOr(nodes: readonly PipelineNode[], operators: readonly ("&&" | "||")[], start: Directory): Outcome {
		let outcome = stays(start);
		nodes.forEach((node, index) => {
			const operator = index === 0 ? undefined : operators[index - 1];
			const { success, failure } = outcome;
			if (operator === undefined) outcome = this.#readNode(node, start);
			else if (operator === "&&") {
				const next = this.#readNode(node, success);
				outcome = { success: next.success, failure: merge(failure, next.failure) };
			} else {
				const next = this.#readNode(node, failure);
				outcome = { success: merge(success, next.success), failure: next.failure };
			}
		});
		return outcome;
	}

	#readCommandNode(node: CommandNode, start: Directory): Outcome {
		switch (node.type) {
			case "Command":
				return this.#readCommand(node, start);
			case "Redirected": {
				const redirects = this.#readRedirects(node.redirects, start);
				if (redirects.length > 0) {
					const text = node.redirects.map((redirect) => this.#slice(redirect)).join(" ");
					this.#push({ text, words: [], assignments: [], redirects, cwd: pathOf(start), isDeclaredHere: false });
				}
				// Where a redirection fails, the command does not run.
				const outcome = this.#readCompound(node.command, start);
				return { success: outcome.success, failure: merge(outcome.failure, start) };
			}
			case "Function": {
				this.#declared.add(node.name.value);
				const body = node.body;
				// It runs wherever it is called.
				if (body.type === "CompoundList") this.#readList(body, "open");
				else this.#readCommandNode(body, "open");
				return stays(start);
			}
			case "Coproc":
				// Whether its first word is a name depends on what follows, and parsers differ.
				this.#doubt("it runs a coprocess", this.#slice(node));
				if (node.body.type === "CompoundList") this.#readList(node.body, start);
				else this.#readCommandNode(node.body, start);
				return stays(start);
			default:
				return this.#readCompound(node, start);
		}
	}

	#readCompound(node: CompoundCommand, start: Directory): Outcome {
		switch (node.type) {
			case "If": {
				const ways: Directory[] = [];
				let last = this.#readList(node.clause, start);
				ways.push(after(this.#readList(node.then, last.success)));
				for (const branch of node.elif) {
					last = this.#readList(branch.clause, last.failure);
					ways.push(after(this.#readList(branch.then, last.success)));
				}
				ways.push(node.else === undefined ? last.failure : after(this.#readList(node.else, last.failure)));
				return stays(ways.reduce(merge));
			}
			case "While":
				return this.#readLoop(start, () => {
					const clause = this.#readList(node.clause, start);
					const isWhile = node.kind === "while";
					const body = after(this.#readList(node.body, isWhile ? clause.success : clause.failure));
					return merge(body, isWhile ? clause.failure : clause.success);
				});
			case "For":
			case "Select":
				if (riskyVariable(node.name.value)) this.#doubt(setsRisky(node.name.value), this.#slice(node.name));
				for (const word of node.wordlist ?? []) this.#search(word, start);
				return this.#readLoop(start, () => after(this.#readList(node.body, start)));
			case "ArithmeticFor":
				for (const part of [node.initialize, node.test, node.update]) {
					if (part === undefined) continue;
					this.#search(part, start);
					this.#doubtComputation(this.#slice(part));
				}
				return this.#readLoop(start, () => after(this.#readList(node.body, start)));
			case "Subshell":
				// Bash looks for arithmetic first, and refuses some of what then is none.
				if (this.#slice(node).startsWith("((")) this.#doubt("it has two parentheses in a row", this.#slice(node));
				this.#readList(node.body, start);
				return stays(start);
			case "BraceGroup":
				return this.#readList(node.body, start);
			case "Case": {
				this.#search(node.word, start);
				let end: Directory = start;
				let from: Directory = start;
				for (const item of node.items) {
					for (const pattern of item.pattern) this.#search(pattern, start);
					const result = after(this.#readList(item.body, from));
					end = merge(end, result);
					from = item.terminator === ";&" || item.terminator === ";;&" ? merge(start, result) : start;
				}
				return stays(end);
			}
			case "TestCommand":
				this.#search(node.expression, start);
				return stays(start);
			case "ArithmeticCommand":
				if (node.expression !== undefined) this.#search(node.expression, start);
				this.#doubtComputation(node.body);
				return stays(start);
		}
	}

	#doubtComputation(text: string): void {
		if (/[A-Za-z_$`]/.test(text)) this.#doubt("it computes with variables, which may run commands", text);
	}

	/** After a body that moves, its next round starts elsewhere: then no directory within the loop is certain. */
	#readLoop(start: Directory, readOnce: () => Directory): Outcome {
		const first = this.#commands.length;
		const declared = this.#declared.size;
		const end = readOnce();
		// A round may end in the middle, with `break`, so each of its commands counts.
		const moves = this.#commands.slice(first).some(({ command }) => command.cwd !== pathOf(start));
		if ((end === "never" || isSame(end, start)) && !moves && this.#declared.size === declared) return stays(start);
		for (const reading of this.#commands.slice(first)) forgetDirectory(reading);
		return stays("open");
	}

	#readCommand(node: Command, start: Directory): Outcome {
		const parts = [...(node.name === undefined ? [] : [node.name]), ...node.suffix];
		const words: Word[] = [];
		for (const part of parts) {
			if (part.type !== "Word" && part.type !== "Assignment") continue;
			this.#search(part, start);
			const raw = this.#slice(part);
			// After a redirection, these are programs to one parser and words of the grammar to another.
			if (words.length === 0 && reserved.has(raw)) this.#doubt("the program is a reserved word", raw);
			// In front of a redirection it is a descriptor, whose index is evaluated.
			if (/^\{\w+\[/.test(raw)) this.#doubt("a descriptor is an expression", raw);
			words.push(this.#decode(part, words.length === 0));
		}
		const assignments: Assignment[] = [];
		for (const part of node.prefix) {
			if (part.type !== "Assignment") continue;
			this.#search(part, start);
			assignments.push(this.#readAssignment(part, words.length > 0));
		}
		this.#checkGaps(node);
		const redirects = this.#readRedirects(node.redirects, start);
		const command: SimpleCommand = {
			text: this.#slice(node),
			words,
			assignments,
			redirects,
			cwd: pathOf(start),
			isDeclaredHere: false,
		};
		return this.#runCommand(command, start, this.#push(command));
	}

	/** The parser is tolerant: what it left out between the parts of a command may be something for a shell. */
	#checkGaps({ pos, end, name, prefix, suffix }: Command): void {
		const parts = [...prefix, ...(name === undefined ? [] : [name]), ...suffix];
		let last = pos;
		let lastType = "";
		followingParenthesis.lastIndex = end;
		if (followingParenthesis.test(this.#source)) this.#doubt("it is not valid for a shell", this.#source.slice(pos));
		for (const part of [...parts, { pos: end, end }]) {
			const type = "type" in part ? part.type : "";
			const isSplit = part.pos === last && type === "Word" && lastType === "Word";
			if (isSplit || !/^(?:[ \t]|\\\n)*$/.test(this.#source.slice(last, part.pos))) {
				this.#doubt("it is not valid for a shell", this.#source.slice(pos, end));
				return;
			}
			last = part.end;
			lastType = type;
		}
	}

	#decode(node: { readonly type: "Word" | "Assignment"; pos: number; end: number }, isProgram: boolean): Word {
		const raw = this.#slice(node);
		const word = decodeWord(raw, isProgram ? null : this.#home);
		if (word.kind === "dynamic" || node.type === "Assignment" || !("value" in node)) return word;
		const isAgreed = raw.startsWith("~") || node.value === word.text;
		return isAgreed ? word : { kind: "dynamic", text: raw, why: "quoted in an unusual way", mayBeOption: true };
	}

	#readAssignment(node: Extract<SyntaxNode, { type: "Assignment" }>, hasProgram: boolean): Assignment {
		const { name, value, index } = node;
		if (!hasProgram && riskyVariable(name)) this.#doubt(setsRisky(name), node.text);
		if (value.type === "ArrayValue" || index !== undefined) {
			return { name, value: { kind: "dynamic", text: node.text, why: "a list", mayBeOption: true } };
		}
		return { name, value: this.#decode(value, false) };
	}

	#push(command: SimpleCommand): MutableReading {
		const reading: MutableReading = { command, inner: null };
		this.#commands.push(reading);
		return reading;
	}

	/** Reads what the program does with its words: to the shell itself, or to the programs that it runs. */
	#runCommand(command: SimpleCommand, start: Directory, reading: MutableReading): Outcome {
		const [program] = command.words;
		if (program === undefined) return stays(start);
		if (program.kind === "dynamic") {
			this.#doubt(`the program is ${program.why}`, command.text);
			return stays(start);
		}
		const effect = readBuiltin(command, this.#place, pathOf(start));
		for (const why of effect.doubts) this.#doubt(why, command.text);
		for (const name of effect.declares) this.#declared.add(name);
		const { runs, doubts, isTransparent } = unwrap(command);
		for (const why of doubts) this.#doubt(why, command.text);
		let outcome: Outcome = {
			success: effect.success === "same" ? start : effect.success,
			failure: effect.success === "never" ? "never" : start,
		};
		if (this.#declared.has(program.text)) outcome = stays("open");
		if (runs.length === 0) return outcome;
		const outer = this.#commands;
		const commands: MutableReading[] = [];
		reading.inner = { commands, isTransparent };
		this.#commands = commands;
		try {
			for (const run of runs) {
				const from = run.directory === "same" ? start : "open";
				const result = this.#budget.nested(() => this.#readRun(run, command, from));
				if (run.isInThisShell) outcome = result;
			}
		} finally {
			this.#commands = outer;
		}
		return outcome;
	}

	#readRun(run: Run, { text }: SimpleCommand, start: Directory): Outcome {
		this.#budget.visit();
		if (run.kind === "script") return this.#readText(run.text, start);
		const { words, assignments } = run;
		const inner: SimpleCommand = {
			text: text.endsWith(run.text) ? run.text : words.map((word) => word.text).join(" "),
			words,
			assignments,
			redirects: [],
			cwd: pathOf(start),
			isDeclaredHere: false,
		};
		return this.#runCommand(inner, start, this.#push(inner));
	}

	#readRedirects(redirections: readonly Redirection[], start: Directory): Redirect[] {
		const redirects: Redirect[] = [];
		for (const redirection of redirections) {
			this.#search(redirection, start);
			if (redirection.descriptor?.type === "FileDescriptorVariable") {
				const { name } = redirection.descriptor;
				if (/\W/.test(name)) this.#doubt("a descriptor is an expression", this.#slice(redirection));
				if (riskyVariable(name)) this.#doubt(setsRisky(name), this.#slice(redirection));
			}
			if (redirection.type === "HereDoc" && redirection.closing === undefined) {
				this.#doubt("a here-document does not end", this.#slice(redirection));
			}
			if (redirection.type !== "Redirect") continue;
			const { operator } = redirection;
			if (redirection.target === undefined) {
				this.#doubt("a redirection has no target", this.#slice(redirection));
				continue;
			}
			// The shell ends the redirection after `>&-`: what follows is a word of its own, and may be the program.
			if (operator.endsWith("&") && /^-./s.test(this.#slice(redirection.target))) {
				this.#doubt("a word follows a closed descriptor without a blank", this.#slice(redirection));
			}
			const target = this.#decode(redirection.target, false);
			if (operator.endsWith("&") && target.kind === "literal" && /^(?:\d+-?|-)$/.test(target.text)) continue;
			if (target.kind === "literal" && /^\/dev\/(?:tcp|udp)\//.test(target.text)) {
				this.#doubt("a redirection opens a connection", this.#slice(redirection));
			}
			if (operator.startsWith("<")) redirects.push({ operation: "read", target });
			if (operator !== "<" && operator !== "<&") redirects.push({ operation: "write", target });
		}
		return redirects;
	}

	/** Reads the scripts within a word, an expression or a redirection. They run in a shell of their own. */
	#search(node: SyntaxNode, start: Directory): void {
		this.#budget.visit();
		switch (node.type) {
			case "CommandExpansion":
			case "ProcessSubstitution":
			case "ArithmeticCommandExpansion": {
				const { script } = node;
				const source = this.#source;
				// The parser may end one too early, where its text has a character that means something around it.
				const isWhole = /(?:\)|\$\{.*\}|`)$/s.test(this.#slice(node)) || node.type === "ArithmeticCommandExpansion";
				if (script === undefined || !isWhole) this.#doubt("a substitution cannot be read", node.text);
				if (script !== undefined) {
					this.#budget.nested(() => this.#readParsed(script, script.source ?? source, start));
				}
				return;
			}
			default: {
				const why = doubtOfPart(node);
				if (why !== null) this.#doubt(why, this.#slice(node));
				this.#budget.nested(() => this.#shell.forEachChild(node, (child) => this.#search(child, start)));
			}
		}
	}

	#slice({ pos, end }: { readonly pos: number; readonly end: number }): string {
		return this.#source.slice(pos, end);
	}

	#finish({ command, inner }: MutableReading): CommandReading {
		const [program] = command.words;
		const isDeclaredHere = program?.kind === "literal" && this.#declared.has(program.text);
		return {
			command: isDeclaredHere ? { ...command, isDeclaredHere } : command,
			inner:
				inner === null
					? null
					: { isTransparent: inner.isTransparent, commands: inner.commands.map((reading) => this.#finish(reading)) },
		};
	}
}

function forgetDirectory(reading: MutableReading): void {
	reading.command = { ...reading.command, cwd: null };
	for (const inner of reading.inner?.commands ?? []) forgetDirectory(inner);
}
