import type {
	ArithmeticFor,
	CommandNode,
	CompoundCommand,
	CompoundList,
	ParsedScript,
	PipelineNode,
	Statement,
} from "unbash";
import { type Budget, BudgetExceeded } from "./budget.ts";
import { CommandReader, isInput, type ParseShell } from "./command-reader.ts";
import { after, type Directory, isSame, merge, type Outcome, pathOf, stays } from "./outcome.ts";
import type { ScriptPlace, ScriptReading } from "./script.ts";
import { riskyVariable, setsRisky } from "./word-doubts.ts";

/** Controls, non-ASCII blanks, direction marks and other invisible characters, except emoji joiners. */
const oddCharacter = /(?!\n|\t| |\u200d|\ufe0e|\ufe0f)[\p{Cc}\p{Cf}\p{Cs}\p{Z}\p{Default_Ignorable_Code_Point}]/u;

export class ScriptReader {
	readonly #shell: ParseShell;
	readonly #place: ScriptPlace;
	readonly #budget: Budget;
	readonly #reader: CommandReader;

	constructor(shell: ParseShell, place: ScriptPlace, budget: Budget) {
		this.#shell = shell;
		this.#place = place;
		this.#budget = budget;
		this.#reader = new CommandReader(shell, place, budget, {
			readText: (text, start) => this.#reader.numbers.elsewhere(() => this.#readText(text, start, false)),
			readParsed: (script, source, start) => this.#readParsed(script, source, start, false),
		});
	}

	/** Call once. */
	read(text: string): ScriptReading {
		// A script that sets the home directory must not be read with the kernel's.
		if (text.replaceAll(/['"\\\n]/g, "").includes("HOME")) this.#reader.forgetHome();
		try {
			this.#readText(text, { path: this.#place.cwd }, true);
		} catch (error) {
			if (error instanceof BudgetExceeded) this.#reader.doubt(error.message, text);
			else if (error instanceof RangeError) this.#reader.doubt("the script is nested too deeply", text);
			else this.#reader.doubt("the script cannot be read", text);
		}
		return this.#reader.finish();
	}

	/** `isWhole`: not nested in another script. */
	#readText(text: string, start: Directory, isWhole: boolean): Outcome {
		return this.#budget.nested(() => {
			if (oddCharacter.test(text)) this.#reader.doubt("it has invisible characters", text);
			return this.#readParsed(this.#shell.parse(text), text, start, isWhole);
		});
	}

	#readParsed(script: ParsedScript, source: string, start: Directory, isWhole: boolean): Outcome {
		return this.#reader.within(source, () => {
			for (const { message } of script.errors ?? [])
				this.#reader.doubt(`it is not valid for a shell (${message})`, source);
			return this.#readStatements(script.commands, start, isWhole);
		});
	}

	#readStatements(statements: readonly Statement[], start: Directory, isWhole = false): Outcome {
		let outcome = stays(start);
		for (const statement of statements) {
			const from = after(outcome);
			const result = this.#readNode(statement.command, from);
			outcome = statement.background ? stays(from) : result;
			if (isWhole && statement.background !== true) this.#followNumbers(statement.command);
		}
		return outcome;
	}

	/** Records the variables assigned by a statement that always runs. */
	#followNumbers(node: Statement["command"]): void {
		const { numbers } = this.#reader;
		if (node.type === "Command" && node.name === undefined && node.suffix.length + node.redirects.length === 0) {
			for (const part of node.prefix) {
				if (part.type !== "Assignment" || part.index !== undefined || part.append === true) continue;
				if (part.value.type === "Word") numbers.hasNumber(part.name, this.#reader.slice(part.value));
			}
		} else if (node.type === "ArithmeticFor") this.#followCounter(node);
	}

	/** The first part of `for ((i=0; …))`, which is always evaluated. */
	#followCounter({ initialize }: ArithmeticFor): boolean {
		const [, name, value] =
			/^(\w+)\s*=\s*(\d+)$/.exec(initialize === undefined ? "" : this.#reader.slice(initialize)) ?? [];
		if (name === undefined || value === undefined) return false;
		this.#reader.numbers.hasNumber(name, value);
		return true;
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
				for (const [index, command] of node.commands.entries()) {
					const { count } = this.#reader;
					this.#reader.feeding(index > 0, () => this.#budget.nested(() => this.#readNode(command, start)));
					this.#reader.input = this.#reader.onlySince(count);
				}
				this.#reader.input = null;
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
				return this.#reader.readCommand(node, start);
			case "Redirected": {
				const redirects = this.#reader.readRedirects(node.redirects, start);
				if (redirects.length > 0) {
					const text = node.redirects.map((redirect) => this.#reader.slice(redirect)).join(" ");
					const nothing = { words: [], assignments: [], isFed: false, isDeclaredHere: false };
					this.#reader.push({ ...nothing, text, redirects, cwd: pathOf(start) });
				}
				// If a redirection fails, the command does not run.
				const outcome = this.#reader.feeding(node.redirects.some(isInput), () =>
					this.#readCompound(node.command, start),
				);
				return { success: outcome.success, failure: merge(outcome.failure, start) };
			}
			case "Function": {
				this.#reader.declare(node.name.value);
				const body = node.body;
				// A function runs wherever it is called.
				if (body.type === "CompoundList") this.#readList(body, "open");
				else this.#readCommandNode(body, "open");
				return stays(start);
			}
			case "Coproc":
				// Parsers disagree whether its first word is a name.
				this.#reader.doubt("it runs a coprocess", this.#reader.slice(node));
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
				if (riskyVariable(node.name.value))
					this.#reader.doubt(setsRisky(node.name.value), this.#reader.slice(node.name));
				this.#reader.numbers.loops(
					node.name.value,
					node.wordlist?.map((word) => this.#reader.decode(word)),
				);
				for (const word of node.wordlist ?? []) this.#reader.search(word, start);
				return this.#readLoop(start, () => after(this.#readList(node.body, start)));
			case "ArithmeticFor":
				return this.#reader.numbers.within(() => {
					const hasCounter = this.#followCounter(node);
					for (const part of [node.initialize, node.test, node.update]) {
						if (part === undefined) continue;
						this.#reader.search(part, start);
						if (part !== node.initialize || !hasCounter) this.#doubtComputation(this.#reader.slice(part));
					}
					return this.#readLoop(start, () => after(this.#readList(node.body, start)));
				});
			case "Subshell":
				// Bash tries arithmetic first, and rejects some input that is not.
				if (this.#reader.slice(node).startsWith("(("))
					this.#reader.doubt("it has two parentheses in a row", this.#reader.slice(node));
				this.#readList(node.body, start);
				return stays(start);
			case "BraceGroup":
				return this.#readList(node.body, start);
			case "Case": {
				this.#reader.search(node.word, start);
				let end: Directory = start;
				let from: Directory = start;
				for (const item of node.items) {
					for (const pattern of item.pattern) this.#reader.search(pattern, start);
					const result = after(this.#readList(item.body, from));
					end = merge(end, result);
					from = item.terminator === ";&" || item.terminator === ";;&" ? merge(start, result) : start;
				}
				return stays(end);
			}
			case "TestCommand":
				this.#reader.search(node.expression, start);
				return stays(start);
			case "ArithmeticCommand":
				if (node.expression !== undefined) this.#reader.search(node.expression, start);
				this.#doubtComputation(node.body);
				return stays(start);
		}
	}

	#doubtComputation(text: string): void {
		if (/[A-Za-z_$`]/.test(text)) this.#reader.compute([text], text);
	}

	/** If the body changes the directory, the next iteration starts elsewhere, so no directory in the loop is certain. */
	#readLoop(start: Directory, readOnce: () => Directory): Outcome {
		const round = this.#reader.beginRound();
		const end = readOnce();
		// `break` may end an iteration early, so each of its commands counts.
		if ((end === "never" || isSame(end, start)) && this.#reader.stays(round, pathOf(start))) return stays(start);
		this.#reader.forgetDirectories(round);
		return stays("open");
	}
}
