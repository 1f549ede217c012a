// Named regular expression character sets in the engine's syntax (pattern.ts).

/** The dialect of a pattern: ECMAScript (JSON Schema) or Python (hook matchers). */
export type PatternSyntax = "ecmascript" | "python";

type Ranges = readonly (readonly [first: number, last: number])[];

const lastCodePoint = 0x10ffff;

const unicodeSpaces: Ranges = [
	[0xa0, 0xa0],
	[0x1680, 0x1680],
	[0x2000, 0x200a],
	[0x2028, 0x2029],
	[0x202f, 0x202f],
	[0x205f, 0x205f],
	[0x3000, 0x3000],
];

const spaces: Readonly<Record<PatternSyntax, Ranges>> = {
	ecmascript: [[0x09, 0x0d], [0x20, 0x20], ...unicodeSpaces, [0xfeff, 0xfeff]],
	python: [[0x09, 0x0d], [0x1c, 0x20], [0x85, 0x85], ...unicodeSpaces],
};

/** A code point in the engine's syntax, inside and outside of brackets. */
export const spellCodePoint = (codePoint: number): string => `\\x{${codePoint.toString(16)}}`;

const spell = (ranges: Ranges): string =>
	ranges.map(([first, last]) => `${spellCodePoint(first)}-${spellCodePoint(last)}`).join("");

function complement(ranges: Ranges): Ranges {
	const rest: [number, number][] = [];
	let next = 0;
	for (const [first, last] of ranges) {
		if (first > next) rest.push([next, first - 1]);
		next = last + 1;
	}
	return next > lastCodePoint ? rest : [...rest, [next, lastCodePoint]];
}

/** Python word characters include all languages; its `\W` within brackets complements the ASCII ones only. */
export function namedSet(letter: string, syntax: PatternSyntax): string | null {
	const isPython = syntax === "python";
	switch (letter) {
		case "d":
			return isPython ? "\\p{Nd}" : "0-9";
		case "D":
			return isPython ? "\\P{Nd}" : "\\D";
		case "w":
			return isPython ? "\\p{L}\\p{N}_" : "0-9A-Za-z_";
		case "W":
			return "\\W";
		case "s":
			return spell(spaces[syntax]);
		case "S":
			return spell(complement(spaces[syntax]));
		default:
			return null;
	}
}

/** Long names of common categories; the engine only knows the short names. */
const categories: ReadonlyMap<string, string> = new Map([
	["Letter", "L"],
	["Uppercase_Letter", "Lu"],
	["Lowercase_Letter", "Ll"],
	["Titlecase_Letter", "Lt"],
	["Modifier_Letter", "Lm"],
	["Other_Letter", "Lo"],
	["Mark", "M"],
	["Number", "N"],
	["Decimal_Number", "Nd"],
	["Punctuation", "P"],
	["Symbol", "S"],
	["Separator", "Z"],
	["Space_Separator", "Zs"],
	["Other", "C"],
	["Control", "Cc"],
]);

/** Minimum size of a wide range, in characters. */
const wideRange = 1000;

/** Whether a set is slow to parse: the engine may visit every character of a range to add its other case. */
export function isWide(text: string): boolean {
	if (/\\[pPWD]/.test(text)) return true;
	for (const [, first = "", last = ""] of text.matchAll(/\\x\{(\w+)\}-\\x\{(\w+)\}/g)) {
		if (Number.parseInt(last, 16) - Number.parseInt(first, 16) > wideRange) return true;
	}
	return false;
}

/** The engine's name for a property such as `Letter`, `gc=L` or `Script=Greek`. */
export function propertyName(written: string): string {
	const [, name = written] = /^(?:General_Category|gc|Script|sc)=(.*)$/.exec(written) ?? [];
	return categories.get(name) ?? name;
}
