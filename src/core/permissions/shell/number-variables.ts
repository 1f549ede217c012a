// Shell arithmetic evaluates a variable's value, whose index may run a command: `x='a[$(rm x)]'; echo $((x))`.
import type { Doubt, Word } from "./script.ts";

/** Other names may be shell variables with special values. */
const ownName = /^[a-z][a-z0-9_]*$/;
const literalNumber = /^-?\d+$/;
const numberRange = /^\{-?\d+\.\.-?\d+(?:\.\.-?\d+)?\}$/;
/** Numbers, plain variables and operators; no index, quotes or substitution. */
const plainExpression =
	/^(?:\d[0-9a-zA-Z]*#?|[A-Za-z_]\w*|\$[A-Za-z_]\w*|\$\{[A-Za-z_]\w*\}|[\s+\-*/%<>=!&|^~?:,()])*$/;

/** The variables of an expression; null if it is not a plain expression. */
function variablesOf(expression: string): readonly string[] | null {
	if (!plainExpression.test(expression)) return null;
	return expression.match(/(?<![0-9A-Za-z_])[A-Za-z_]\w*/g) ?? [];
}

function expressionOf(word: string): string | null {
	return /^\$\(\((.*)\)\)$/s.exec(word)?.[1] ?? /^\$\[(.*)\]$/s.exec(word)?.[1] ?? null;
}

export class NumberVariables {
	/** Variables that hold a number at this point. */
	#assigned: ReadonlySet<string> = new Set();
	/** Variables that may hold another value at some point. */
	readonly #others = new Set<string>();
	#areAllOthers = false;
	/** Variables set outside of loops. */
	readonly #given = new Set<string>();
	readonly #loops = new Map<string, readonly Word[] | null>();
	readonly #uses: { readonly names: readonly string[]; readonly doubt: Doubt }[] = [];

	/** Records an assignment; `value` is as written. */
	sets(name: string, value: string): void {
		this.#given.add(name);
		const expression = expressionOf(value);
		const isNumber = literalNumber.test(value) || (expression !== null && variablesOf(expression) !== null);
		if (!isNumber) this.#others.add(name);
	}

	loops(name: string, words: readonly Word[] | undefined): void {
		if (words?.every(({ text }) => literalNumber.test(text) || numberRange.test(text)) !== true) this.#others.add(name);
		const known = this.#loops.get(name);
		this.#loops.set(name, known === null || words === undefined ? null : [...(known ?? []), ...words]);
	}

	values(): ReadonlyMap<string, readonly Word[]> {
		const found = new Map<string, readonly Word[]>();
		for (const [name, words] of this.#loops) {
			if (words !== null && !this.#areAllOthers && !this.#given.has(name)) found.set(name, words);
		}
		return found;
	}

	/** Marks every variable named in the word as unknown. */
	names(word: string): void {
		// The text after an option letter may be a name.
		if (/^-../.test(word)) this.#areAllOthers = true;
		for (const name of word.match(/[A-Za-z_]\w*/g) ?? []) {
			this.#others.add(name);
			this.#given.add(name);
		}
	}

	open(): void {
		this.#areAllOthers = true;
	}

	/** Records that every path to this point assigned a number. */
	hasNumber(name: string, value: string): void {
		if (literalNumber.test(value) && ownName.test(name)) this.#assigned = new Set([...this.#assigned, name]);
	}

	/** Assignments within `read` do not count afterwards. */
	within<T>(read: () => T): T {
		const outer = this.#assigned;
		const result = read();
		this.#assigned = outer;
		return result;
	}

	/** Runs `read` in a subshell with its own variables. */
	elsewhere<T>(read: () => T): T {
		return this.within(() => {
			this.#assigned = new Set();
			return read();
		});
	}

	/** Whether an expression is numeric so far; if that changes, `doubts` returns `doubt`. */
	computes(expression: string, doubt: Doubt): boolean {
		const names = variablesOf(expressionOf(expression) ?? expression);
		if (names === null || !names.every((name) => this.#assigned.has(name))) return false;
		this.#uses.push({ names, doubt });
		return true;
	}

	/** The doubts about variables that may hold other values after all. */
	doubts(): readonly Doubt[] {
		return this.#uses.flatMap(({ names, doubt }) =>
			names.length > 0 && (this.#areAllOthers || names.some((name) => this.#others.has(name))) ? [doubt] : [],
		);
	}
}
