import { namedSet, type PatternSyntax, propertyName, spellCodePoint } from "./character-sets.ts";
import { Refusal } from "./refusal.ts";

export interface Member {
	readonly text: string;
	readonly isSet: boolean;
	readonly end: number;
}

const controls: Readonly<Record<string, number>> = { n: 0x0a, r: 0x0d, t: 0x09, f: 0x0c, v: 0x0b };

export function readBrackets(pattern: string, start: number, syntax: PatternSyntax): Omit<Member, "isSet"> {
	const isNegated = pattern.charAt(start + 1) === "^";
	const first = start + (isNegated ? 2 : 1);
	let position = first;
	let inside = "";
	let wasSet = false;
	while (pattern.charAt(position) !== "]" || (syntax === "python" && position === first)) {
		if (position >= pattern.length) throw new Refusal('a "[" is not closed');
		if (pattern.charAt(position) === "-") {
			// Next to a set, a hyphen does not form a range.
			const isPlain = wasSet || /^\\[dDwWsSpP]/.test(pattern.slice(position + 1, position + 3));
			inside += isPlain ? "\\-" : "-";
			position += 1;
			wasSet = false;
			continue;
		}
		const member =
			pattern.charAt(position) === "\\" ? readEscape(pattern, position, syntax, true) : readSign(pattern, position);
		inside += member.text;
		position = member.end;
		wasSet = member.isSet;
	}
	const empty = isNegated ? "[\\x{0}-\\x{10ffff}]" : "[^\\x{0}-\\x{10ffff}]";
	return { text: inside === "" ? empty : `[${isNegated ? "^" : ""}${inside}]`, end: position + 1 };
}

function readSign(pattern: string, position: number): Member {
	const codePoint = pattern.codePointAt(position) ?? 0;
	return single(codePoint, position + String.fromCodePoint(codePoint).length);
}

const single = (codePoint: number, end: number): Member => {
	if (codePoint > 0x10ffff) throw new Refusal(`there is no character ${codePoint.toString(16)}`);
	return { text: spellCodePoint(codePoint), isSet: false, end };
};

export function readEscape(pattern: string, start: number, syntax: PatternSyntax, isInBrackets: boolean): Member {
	const letter = pattern.charAt(start + 1);
	const position = start + 2;
	const isPython = syntax === "python";
	if (letter === "") throw new Refusal("it ends with a backslash");
	const set = namedSet(letter, syntax);
	if (set !== null) return { text: set, isSet: true, end: position };
	const control = controls[letter];
	if (control !== undefined) return single(control, position);
	if (letter === "p" || letter === "P") return readProperty(pattern, start, letter);
	if (letter === "b" && isInBrackets) return single(0x08, position);
	if (letter === "a" && isPython) return single(0x07, position);
	if (letter === "0") return readOctal(pattern, position, syntax);
	if (letter === "x") return readHexadecimal(pattern, position, 2);
	if (letter === "U" && isPython) return readHexadecimal(pattern, position, 8);
	if (letter === "u") return readUnicode(pattern, position);
	if (letter === "c" && /[A-Za-z]/.test(pattern.charAt(position))) {
		return single(pattern.charCodeAt(position) % 32, position + 1);
	}
	if (/[0-9A-Za-z]/.test(letter))
		throw new Refusal(`"\\${letter}" has no meaning${isInBrackets ? " in brackets" : ""}`);
	return readSign(pattern, start + 1);
}

function readProperty(pattern: string, start: number, letter: string): Member {
	const [whole = "", name] = /^\\[pP]\{([^{}]{1,60})\}/.exec(pattern.slice(start, start + 64)) ?? [];
	if (name === undefined) throw new Refusal(`"\\${letter}" is not followed by a name in braces`);
	return { text: `\\${letter}{${propertyName(name)}}`, isSet: true, end: start + whole.length };
}

function readOctal(pattern: string, position: number, syntax: PatternSyntax): Member {
	const digits = /^[0-7]{0,2}/.exec(pattern.slice(position, position + 2))?.[0] ?? "";
	if (digits !== "" && syntax === "ecmascript") throw new Refusal(`"\\0${digits}" has no meaning`);
	return single(Number.parseInt(`0${digits}`, 8), position + digits.length);
}

function readHexadecimal(pattern: string, position: number, length: number): Member {
	const digits = pattern.slice(position, position + length);
	if (digits.length < length || !/^[0-9a-fA-F]+$/.test(digits)) {
		throw new Refusal(`an escape needs ${length} hexadecimal digits`);
	}
	return single(Number.parseInt(digits, 16), position + length);
}

/** `XXXX`, a surrogate pair of two, or `{X}`. */
function readUnicode(pattern: string, position: number): Member {
	const rest = pattern.slice(position, position + 12);
	const [braced = "", digits] = /^\{([0-9a-fA-F]{1,8})\}/.exec(rest) ?? [];
	if (digits !== undefined) return single(Number.parseInt(digits, 16), position + braced.length);
	const [pair = "", high, low] = /^([dD][89abAB][0-9a-fA-F]{2})\\u([dD][c-fC-F][0-9a-fA-F]{2})/.exec(rest) ?? [];
	if (high === undefined || low === undefined) return readHexadecimal(pattern, position, 4);
	const codePoint = 0x10000 + (Number.parseInt(high, 16) - 0xd800) * 0x400 + (Number.parseInt(low, 16) - 0xdc00);
	return single(codePoint, position + pair.length);
}
