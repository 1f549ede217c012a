// Keeps the pattern's meaning or reports why it cannot; never passes on syntax that the engine reads differently.
import { isWide, type PatternSyntax } from "./character-sets.ts";
import { readBrackets, readEscape } from "./members.ts";
import { Refusal } from "./refusal.ts";

/** An expression that a text must match, or must not match. */
export interface Expression {
	readonly source: string;
	readonly isForbidden: boolean;
}

export type Translation =
	| { readonly ok: true; readonly expressions: readonly Expression[] }
	/** A clause without a full stop. */
	| { readonly ok: false; readonly reason: string };

const maximumLength = 4096;
/** Maximum number of characters and sets, each multiplied by its repetitions: `[a-z]{20}` counts 20. */
const maximumSize = 5000;
/** Maximum number of very large sets such as `\p{L}`, multiplied by their repetitions. */
const maximumWideSets = 100;
/** maximumWideSets for case-insensitive patterns, where the engine adds the other case of every character. */
const maximumFoldedSets = 5;
/** The engine's limit; longer repetitions are composed of several. */
const longestRepetition = 1000;

/** Leading flags except the multiline flag. */
const beginning = /^((?:\(\?[is]+\))?)\^/;

/** Lookaheads right after a leading `^` become additional patterns that must or must not match. */
export function translatePattern(pattern: string, syntax: PatternSyntax): Translation {
	try {
		if (pattern.length > maximumLength) throw new Refusal(`it is longer than ${maximumLength} characters`);
		return { ok: true, expressions: translate(pattern, syntax) };
	} catch (thrown) {
		if (thrown instanceof Refusal) return { ok: false, reason: thrown.message };
		throw thrown;
	}
}

function translate(pattern: string, syntax: PatternSyntax): Expression[] {
	const [start = "", flags = ""] = beginning.exec(pattern) ?? [];
	const conditions: Expression[] = [];
	let position = start.length;
	while (start !== "" && /^\(\?[=!]/.test(pattern.slice(position, position + 3))) {
		const end = groupEnd(pattern, position);
		const inside = new Translator(pattern.slice(position + 3, end), syntax).read();
		conditions.push({ source: `${flags}^(?:${inside.source})`, isForbidden: pattern[position + 2] === "!" });
		position = end + 1;
	}
	if (conditions.length === 0) {
		return [{ source: new Translator(pattern, syntax).read().source, isForbidden: false }];
	}
	const rest = new Translator(pattern.slice(position), syntax).read();
	if (rest.hasAlternatives) {
		throw new Refusal(`of its alternatives only one has the condition "(?${pattern.charAt(start.length + 2)}"`);
	}
	return [...conditions, { source: `${flags}^${rest.source}`, isForbidden: false }];
}

function groupEnd(pattern: string, start: number): number {
	let depth = 0;
	let isInBrackets = false;
	for (let index = start; index < pattern.length; index += 1) {
		const sign = pattern.charAt(index);
		if (sign === "\\") index += 1;
		else if (isInBrackets) isInBrackets = sign !== "]";
		else if (sign === "[") isInBrackets = true;
		else if (sign === "(") depth += 1;
		else if (sign === ")") {
			depth -= 1;
			if (depth === 0) return index;
		}
	}
	throw new Refusal('a "(" is not closed');
}

/** Starts a group that already contains all cases, so that the engine need not add them. */
const unfolded = "(?-i:";

interface OpenGroup {
	readonly start: number;
	size: number;
}

const quantifier = /\{(\d*)(,?)(\d*)\}/y;
const flagGroup = /\(\?([a-zA-Z]*)(?:-([a-zA-Z]+))?([:)])/y;
const nameGroup = /\(\?P?<([^>=!]+)>/y;
/** Prefixes of unsupported groups, and the error messages. */
const unsupported: readonly (readonly [beginning: string, reason: string])[] = [
	["(?<=", 'it has a condition on what comes before ("(?<="), which is not supported'],
	["(?<!", 'it has a condition on what comes before ("(?<!"), which is not supported'],
	["(?=", 'it has a condition on what follows ("(?=") elsewhere than right after a "^" at its beginning'],
	["(?!", 'it has a condition on what follows ("(?!") elsewhere than right after a "^" at its beginning'],
	["(?P=", 'it refers back to a group with "(?P="'],
	["(?>", 'it has a group of the kind "(?>", which is not supported'],
];

class Translator {
	readonly #pattern: string;
	readonly #syntax: PatternSyntax;
	readonly #isMultiline: boolean;
	readonly #isDotAll: boolean;
	readonly #isFolded: boolean;
	#position = 0;
	#written = "";
	#hasAlternatives = false;
	#wideSets = 0;
	#foldedSets = 0;
	readonly #open: OpenGroup[] = [{ start: 0, size: 0 }];
	/** The start and size of the part that a quantifier would repeat; null if none. */
	#atom: { readonly start: number; readonly size: number } | null = null;

	constructor(pattern: string, syntax: PatternSyntax) {
		this.#pattern = pattern;
		this.#syntax = syntax;
		this.#isMultiline = /\(\?[a-z]*m/.test(pattern);
		this.#isFolded = /\(\?[a-z]*i/.test(pattern);
		this.#isDotAll = /\(\?[a-z]*s/.test(pattern);
	}

	read(): { readonly source: string; readonly hasAlternatives: boolean } {
		while (this.#position < this.#pattern.length) this.#readNext();
		if (this.#open.length > 1) throw new Refusal('a "(" is not closed');
		return { source: this.#written, hasAlternatives: this.#hasAlternatives };
	}

	#readNext(): void {
		const sign = String.fromCodePoint(this.#pattern.codePointAt(this.#position) ?? 0);
		const isPython = this.#syntax === "python";
		if (sign === "\\") this.#readEscape();
		else if (sign === "[") {
			const { text, end } = readBrackets(this.#pattern, this.#position, this.#syntax);
			this.#add(text, end - this.#position);
		} else if (sign === "(") this.#openGroup();
		else if (sign === ")") this.#closeGroup();
		else if (sign === "{") this.#readCount();
		else if (sign === "*" || sign === "+" || sign === "?") this.#repeat((atom) => atom + sign, 1, 1);
		else if (sign === "|") {
			if (this.#open.length === 1) this.#hasAlternatives = true;
			this.#place("|", 1);
		} else if (sign === "^") this.#place("^", 1);
		// Python's `$` also matches before a final newline.
		else if (sign === "$") this.#place(isPython && !this.#isMultiline ? "(?:\\n?\\z)" : "$", 1);
		else if (sign === ".") this.#add(isPython || this.#isDotAll ? "." : "[^\\n\\r\\x{2028}\\x{2029}]", 1);
		else this.#add(sign === "]" || sign === "}" ? `\\${sign}` : sign, sign.length);
	}

	/** Adds a part that can be quantified. */
	#add(text: string, length: number): void {
		if (text.length > 1 && isWide(text)) this.#countWide(text);
		this.#atom = { start: this.#written.length, size: 1 };
		this.#written += text;
		this.#position += length;
		this.#grow(1);
	}

	#countWide(text: string): void {
		this.#wideSets += 1;
		if (this.#isFolded && !text.startsWith(unfolded)) this.#foldedSets += 1;
		if (this.#wideSets <= maximumWideSets && this.#foldedSets <= maximumFoldedSets) return;
		const [most, condition] =
			this.#wideSets > maximumWideSets ? [maximumWideSets, ""] : [maximumFoldedSets, " and ignores case"];
		throw new Refusal(`it has more than ${most} sets of very many characters, such as "[\\W_]"${condition}`);
	}

	/** Adds a part that cannot be quantified. */
	#place(text: string, length: number): void {
		this.#atom = null;
		this.#written += text;
		this.#position += length;
		this.#grow(1);
	}

	#grow(size: number): void {
		const group = this.#open.at(-1);
		if (group === undefined) return;
		group.size += size;
		if (group.size > maximumSize) throw new Refusal(`with its repetitions it has more than ${maximumSize} parts`);
	}

	#openGroup(): void {
		const ahead = this.#pattern.slice(this.#position, this.#position + 4);
		const [, reason] = unsupported.find(([text]) => ahead.startsWith(text)) ?? [];
		if (reason !== undefined) throw new Refusal(reason);
		if (ahead.startsWith("(?#")) {
			const end = this.#pattern.indexOf(")", this.#position);
			if (end === -1) throw new Refusal('a "(" is not closed');
			this.#position = end + 1;
			return;
		}
		const name = this.#find(nameGroup);
		if (name !== null || !ahead.startsWith("(?")) this.#begin("(?:", name?.[0].length ?? 1);
		else this.#readFlags(ahead);
	}

	#readFlags(ahead: string): void {
		const [whole, on = "", off = "", end] = this.#find(flagGroup) ?? [];
		if (whole === undefined) throw new Refusal(`it has "${ahead}", which is not supported`);
		const strange = /[^imsu]/.exec(on + off)?.[0];
		if (strange !== undefined) throw new Refusal(`it has the flag "${strange}", which is not supported`);
		// Texts are always Unicode.
		const flags = on.replaceAll("u", "") + (off === "" ? "" : `-${off.replaceAll("u", "")}`);
		if (end === ":") this.#begin(`(?${flags}:`, whole.length);
		else this.#place(flags === "" ? "" : `(?${flags})`, whole.length);
	}

	#begin(text: string, length: number): void {
		this.#open.push({ start: this.#written.length, size: 0 });
		this.#atom = null;
		this.#written += text;
		this.#position += length;
	}

	#closeGroup(): void {
		const group = this.#open.pop();
		if (group === undefined || this.#open.length === 0) throw new Refusal('a ")" closes nothing');
		this.#written += ")";
		this.#position += 1;
		this.#atom = { start: group.start, size: group.size + 1 };
		this.#grow(group.size + 1);
	}

	#readCount(): void {
		const [whole = "", from = "", comma, to = ""] = this.#find(quantifier) ?? [];
		const isCount = from !== "" || (this.#syntax === "python" && comma === "," && to !== "");
		if (isCount) {
			const least = Number(from);
			const most = comma === "" ? least : to === "" ? null : Number(to);
			if (most !== null && most < least) throw new Refusal(`its repetition "${whole}" runs backwards`);
			this.#repeat((atom) => spellCount(atom, least, most), whole.length, most ?? least + 1);
		} else this.#add("\\{", 1);
	}

	/** Repeats the previous part. `spell` writes the repetition; `count` is its maximum, or the minimum plus one if unbounded. */
	#repeat(spell: (atom: string) => string, length: number, count: number): void {
		const atom = this.#atom;
		if (atom === null) {
			throw new Refusal(`there is nothing before "${this.#pattern.charAt(this.#position)}" that it could repeat`);
		}
		if (count > 1) this.#grow(atom.size * (count - 1));
		this.#written = this.#written.slice(0, atom.start) + spell(this.#written.slice(atom.start));
		this.#position += length;
		this.#atom = null;
		const next = this.#pattern.charAt(this.#position);
		// Greediness does not affect whether a pattern matches.
		if (next === "?") this.#position += 1;
		if (next === "+" && this.#syntax === "python") {
			throw new Refusal('it has a "+" after a repetition, which is not supported');
		}
	}

	/** The match at the current position, or null; does not advance. */
	#find(expression: RegExp): RegExpExecArray | null {
		expression.lastIndex = this.#position;
		return expression.exec(this.#pattern);
	}

	#readEscape(): void {
		const letter = this.#pattern.charAt(this.#position + 1);
		const isPython = this.#syntax === "python";
		if (letter === "k" || /[1-9]/.test(letter)) throw new Refusal(`it refers back to a group with "\\${letter}"`);
		if (letter === "b" || letter === "B") this.#place(`\\${letter}`, 2);
		else if (isPython && letter === "A") this.#place("\\A", 2);
		else if (isPython && /[Zz]/.test(letter)) this.#place("\\z", 2);
		else if (isPython && letter === "W") this.#add("[^\\p{L}\\p{N}_]", 2);
		else {
			const { text, isSet, end } = readEscape(this.#pattern, this.#position, this.#syntax, false);
			const set = this.#isFolded && /[dDwWsS]/.test(letter) ? `${unfolded}[${text}])` : `[${text}]`;
			this.#add(isSet ? set : text, end - this.#position);
		}
	}
}

/** Writes a repetition in as many pieces as the engine requires. */
function spellCount(text: string, least: number, most: number | null): string {
	const pieces: string[] = [];
	let due = least;
	for (; due > longestRepetition; due -= longestRepetition) pieces.push(`${text}{${longestRepetition}}`);
	if (most === null) return [...pieces, `${text}{${due},}`].join("");
	let optional = most - least;
	while (due + optional > longestRepetition) {
		const count = Math.min(optional, longestRepetition);
		pieces.push(`${text}{0,${count}}`);
		optional -= count;
	}
	return [...pieces, `${text}{${due},${due + optional}}`].join("");
}
