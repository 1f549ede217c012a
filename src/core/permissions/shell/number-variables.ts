// Variables that certainly hold a number. Where the shell computes, it evaluates the value of a variable as an expression,
// in which an index may run a command: `x='a[$(rm x)]'; echo $((x))`. Only a variable that nothing in the script can give
// another value than a number, and that has one from the script itself, is safe.
import type { Doubt, Word } from "./script.ts";

/** Names of other forms may be variables of the shell, which get values of their own. */
const ownName = /^[a-z][a-z0-9_]*$/;
const literalNumber = /^-?\d+$/;
const numberRange = /^\{-?\d+\.\.-?\d+(?:\.\.-?\d+)?\}$/;
/** Numbers, plain variables and operators: no index, no quotes, no substitution. */
const plainExpression =
	/^(?:\d[0-9a-zA-Z]*#?|[A-Za-z_]\w*|\$[A-Za-z_]\w*|\$\{[A-Za-z_]\w*\}|[\s+\-*/%<>=!&|^~?:,()])*$/;

/** The variables of an expression; null when it has more than these. */
function variablesOf(expression: string): readonly string[] | null {
	if (!plainExpression.test(expression)) return null;
	return expression.match(/(?<![0-9A-Za-z_])[A-Za-z_]\w*/g) ?? [];
}

/** The text of an expression that is all of `word`; null for another word. */
function expressionOf(word: string): string | null {
	return /^\$\(\((.*)\)\)$/s.exec(word)?.[1] ?? /^\$\[(.*)\]$/s.exec(word)?.[1] ?? null;
}

export class NumberVariables {
	/** Those with a number wherever the script is by now. */
	#assigned: ReadonlySet<string> = new Set();
	/** Those that may have another value at some time. */
	readonly #others = new Set<string>();
	#areAllOthers = false;
	/** Those that something else than a loop sets. */
	readonly #given = new Set<string>();
	readonly #loops = new Map<string, readonly Word[] | null>();
	readonly #uses: { readonly names: readonly string[]; readonly doubt: Doubt }[] = [];

	/** A value, as written, that a variable gets. */
	sets(name: string, value: string): void {
		this.#given.add(name);
		const expression = expressionOf(value);
		const isNumber = literalNumber.test(value) || (expression !== null && variablesOf(expression) !== null);
		if (!isNumber) this.#others.add(name);
	}

	/** The words that the variable of a loop gets. */
	loops(name: string, words: readonly Word[] | undefined): void {
		if (words?.every(({ text }) => literalNumber.test(text) || numberRange.test(text)) !== true) this.#others.add(name);
		const known = this.#loops.get(name);
		this.#loops.set(name, known === null || words === undefined ? null : [...(known ?? []), ...words]);
	}

	/** The words that variables stand for which only loops set. */
	values(): ReadonlyMap<string, readonly Word[]> {
		const found = new Map<string, readonly Word[]>();
		for (const [name, words] of this.#loops) {
			if (words !== null && !this.#areAllOthers && !this.#given.has(name)) found.set(name, words);
		}
		return found;
	}

	/** Every variable that is named in a word may have any value. */
	names(word: string): void {
		// What follows the letter of an option may be a name.
		if (/^-../.test(word)) this.#areAllOthers = true;
		for (const name of word.match(/[A-Za-z_]\w*/g) ?? []) {
			this.#others.add(name);
			this.#given.add(name);
		}
	}

	/** Every variable may have any value. */
	open(): void {
		this.#areAllOthers = true;
	}

	/** From now on the script has given the variable a number, in each way that leads here. */
	hasNumber(name: string, value: string): void {
		if (literalNumber.test(value) && ownName.test(name)) this.#assigned = new Set([...this.#assigned, name]);
	}

	/** What is assigned within does not count after it. */
	within<T>(read: () => T): T {
		const outer = this.#assigned;
		const result = read();
		this.#assigned = outer;
		return result;
	}

	/** Runs in another shell, which has variables of its own. */
	elsewhere<T>(read: () => T): T {
		return this.within(() => {
			this.#assigned = new Set();
			return read();
		});
	}

	/** Whether an expression computes with numbers only, as far as is known yet; if not, `doubts` will have the doubt. */
	computes(expression: string, doubt: Doubt): boolean {
		const names = variablesOf(expressionOf(expression) ?? expression);
		if (names === null || !names.every((name) => this.#assigned.has(name))) return false;
		this.#uses.push({ names, doubt });
		return true;
	}

	/** The doubts about uses of variables that may have other values after all. */
	doubts(): readonly Doubt[] {
		return this.#uses.flatMap(({ names, doubt }) =>
			names.length > 0 && (this.#areAllOthers || names.some((name) => this.#others.has(name))) ? [doubt] : [],
		);
	}
}
