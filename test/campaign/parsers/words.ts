// Random words of shell scripts: quoting of every kind, expansions, substitutions, patterns, braces, odd characters.
import type { Random } from "../random.ts";

/** What a script may have in it: each script gets some of these, so that rare combinations come up often. */
export const features = [
	"quotes",
	"ANSI-C quotes",
	"locale quotes",
	"escapes",
	"line continuations",
	"parameters",
	"parameter operands",
	"command substitutions",
	"backticks",
	"process substitutions",
	"arithmetic",
	"old arithmetic",
	"braces",
	"patterns",
	"extended patterns",
	"tildes",
	"arrays",
	"assignments",
	"redirections",
	"here-documents",
	"here-strings",
	"comments",
	"reserved words",
	"lists",
	"pipelines",
	"compound commands",
	"cases",
	"functions",
	"tests",
	"loops",
	"time and negation",
	"coprocesses",
	"carriage returns",
	"odd blanks",
	"variables as programs",
	"unterminated",
] as const;

export type Feature = (typeof features)[number];

/** What the words of one script are written with. */
export interface WordContext {
	readonly random: Random;
	has(feature: Feature): boolean;
	/** The commands within a substitution, or a short text when it is nested deep enough. */
	nested(): string;
	/** Whether one more level of nesting is allowed. */
	readonly isShallow: boolean;
}

const programs = [
	"p1",
	"p2",
	"p3",
	"p4",
	"p5",
	"p6",
	"p7",
	"p8",
	"p9",
	"rm",
	"git",
	"curl",
	"echo",
	"ls",
	"cat",
] as const;
const reserved = [
	"if",
	"then",
	"else",
	"fi",
	"for",
	"in",
	"do",
	"done",
	"while",
	"case",
	"esac",
	"function",
	"select",
	"{",
	"}",
	"!",
	"time",
	"[[",
	"]]",
	"coproc",
] as const;
const plain = [
	"a",
	"b=c",
	"-f",
	"--all",
	"x/y",
	"1",
	"a.b",
	"+",
	"%",
	":",
	"@",
	"a,b",
	"-",
	"--",
	"x=1",
	"a#b",
	"^",
] as const;
const parameters = [
	"$x",
	`\${x}`,
	"$1",
	"$@",
	'"$@"',
	"$?",
	"$$",
	"$!",
	"$#",
	"$*",
	`\${#x}`,
	`\${x[0]}`,
	`\${!x}`,
	"$_",
] as const;
const operators = [
	":-",
	"-",
	":=",
	"=",
	":?",
	"?",
	":+",
	"+",
	"#",
	"##",
	"%",
	"%%",
	"/",
	"//",
	"^",
	",,",
	":",
	"@",
] as const;
const patterns = ["*", "?", "[ab]", "*.c", "[!a]", "[[:alpha:]]", "a*b"] as const;
const braces = ["{a,b}", "{1..3}", "x{,y}", "{a}", "{}", "{a,{b,c}}", "{ ,a}", "{a,b"] as const;
const blanks = ["\u00a0", "\u2003", "\u3000", "\u2028", "\u0085", "\u200b", "\ufeff", "\v", "\f"] as const;

/** A name to run, written in one of the ways in which quote removal gives it back. */
export function writeProgram(context: WordContext): string {
	const { random, has } = context;
	const name = random.pick(programs);
	if (has("variables as programs") && random.chance(15)) return writeWord(context);
	if (has("reserved words") && random.chance(10)) return random.pick(reserved);
	if (random.chance(has("quotes") ? 50 : 85)) return name;
	return spell(context, name);
}

/** The same text, each of its characters quoted in a random way. */
function spell({ random, has }: WordContext, name: string): string {
	let text = "";
	for (let at = 0; at < name.length; ) {
		const size = 1 + random.below(name.length - at);
		const piece = name.slice(at, at + size);
		at += size;
		const ways = [piece, piece];
		if (has("quotes")) ways.push(`'${piece}'`, `"${piece}"`, `''${piece}`, `${piece}""`);
		if (has("escapes")) ways.push([...piece].map((character) => `\\${character}`).join(""));
		if (has("line continuations")) ways.push(`${piece}\\\n`, `"\\\n${piece}"`);
		if (has("ANSI-C quotes")) {
			const code = piece.charCodeAt(0);
			const rest = piece.slice(1);
			ways.push(
				`$'${piece}'`,
				`$'\\x${code.toString(16)}'${rest}`,
				`$'\\${code.toString(8).padStart(3, "0")}${rest}'`,
				`$'\\u${code.toString(16).padStart(4, "0")}${rest}'`,
			);
		}
		if (has("locale quotes")) ways.push(`$"${piece}"`);
		text += random.pick([piece, ...ways]);
	}
	return text;
}

/** A word that is no program. */
export function writeWord(context: WordContext): string {
	const { random } = context;
	const count = random.chance(70) ? 1 : 1 + random.below(3);
	let text = "";
	for (let index = 0; index < count; index += 1) text += writePiece(context);
	return text;
}

function writePiece(context: WordContext): string {
	const { random, has } = context;
	const ways: (() => string)[] = [() => random.pick(plain), () => random.pick(plain)];
	if (has("quotes"))
		ways.push(
			() => writeSingle(random),
			() => writeDouble(context),
		);
	if (has("ANSI-C quotes")) ways.push(() => writeAnsi(random));
	if (has("locale quotes")) ways.push(() => `$${writeDouble(context)}`);
	if (has("escapes"))
		ways.push(() => `\\${random.pick([..."abn$`\"'\\;&|<>(){}# *?[]~!\n"] as [string, ...string[]])}`);
	if (has("line continuations")) ways.push(() => "\\\n");
	if (has("braces")) ways.push(() => random.pick(braces));
	if (has("patterns")) ways.push(() => random.pick(patterns));
	if (has("extended patterns"))
		ways.push(() => `${random.pick([..."?*+@!"] as [string, ...string[]])}(a|${random.pick(plain)})`);
	if (has("tildes")) ways.push(() => random.pick(["~", "~/a", "~root", "~+", "a:~"]));
	if (has("odd blanks")) ways.push(() => random.pick(blanks));
	if (has("carriage returns")) ways.push(() => "\r");
	if (has("reserved words")) ways.push(() => random.pick(reserved));
	return random.chance(25) ? writeExpansion(context) : random.pick(ways as [() => string, ...(() => string)[]])();
}

/** Something that begins with `$`, a backtick or `<(`, as far as the script has such things. */
function writeExpansion(context: WordContext): string {
	const { random, has, isShallow } = context;
	const ways: (() => string)[] = [() => random.pick(plain)];
	if (has("parameters")) ways.push(() => random.pick(parameters));
	if (has("parameter operands") && isShallow) {
		ways.push(() => `\${x${random.pick(operators)}${random.chance(80) ? writeWord(context) : ""}}`);
		ways.push(
			() =>
				`\${x${random.pick(["/", "//", "/#", ":", "[", "@", "!"])}${writeWord(context)}${random.pick(["/", ":", "]"])}${writeWord(context)}}`,
		);
	}
	if (has("command substitutions") && isShallow) {
		ways.push(
			() => `$(${random.pick(["", " ", "\n"])}${context.nested()}${random.pick(["", " ", "\n"])})`,
			() => `$(${context.nested()})`,
		);
	}
	if (has("backticks") && isShallow) ways.push(() => writeBackticks(context));
	if (has("process substitutions") && isShallow) ways.push(() => `${random.pick(["<", ">"])}(${context.nested()})`);
	if (has("arithmetic") && isShallow) ways.push(() => `$((${writeArithmetic(context)}))`);
	if (has("old arithmetic") && isShallow) ways.push(() => `$[${writeArithmetic(context)}]`);
	return random.pick(ways as [() => string, ...(() => string)[]])();
}

/** What is within backticks gets one more level of backslashes. */
function writeBackticks(context: WordContext): string {
	const inside = context.nested();
	return `\`${context.random.chance(85) ? inside.replaceAll(/[\\`]/g, "\\$&") : inside}\``;
}

export function writeArithmetic(context: WordContext): string {
	const { random, has, isShallow } = context;
	const operand = (): string => {
		const ways: (() => string)[] = [() => "1", () => "x", () => "(1)", () => "x[1]", () => "16#ff", () => "x++"];
		if (has("parameters")) ways.push(() => random.pick(parameters));
		if (isShallow && has("command substitutions")) ways.push(() => `$(${context.nested()})`);
		if (isShallow && has("backticks")) ways.push(() => writeBackticks(context));
		if (isShallow && has("command substitutions")) ways.push(() => `x[$(${context.nested()})]`);
		if (has("quotes")) ways.push(() => '"1"');
		return random.pick(ways as [() => string, ...(() => string)[]])();
	};
	let text = operand();
	while (random.chance(40)) {
		text += `${random.pick([" + ", "*", "<<", " >> ", "<", "&&", "|", "==", "=", " ? 1 : ", ",", "#"])}${operand()}`;
	}
	return text;
}

function writeSingle(random: Random): string {
	return `'${random.pick(["", "a", " ", "a b", '"', "$x", "$(p1)", "`p1`", "\\", "#", ";", "\n", "a\\\nb", "(", "é"])}'`;
}

function writeDouble(context: WordContext): string {
	const { random } = context;
	let text = "";
	while (random.chance(65)) {
		text += random.chance(50)
			? random.pick([
					"a",
					" ",
					"'",
					"\\$",
					'\\"',
					"\\\\",
					"\\`",
					"\\a",
					"\\\n",
					"$",
					"#",
					";",
					"\n",
					"(",
					")",
					"é",
					"!",
				])
			: writeExpansion(context);
	}
	return `"${text}"`;
}

function writeAnsi(random: Random): string {
	return `$'${random.pick(["", "a", "\\'", '\\"', "\\n", "\\x41", "\\101", "\\u00e9", "\\cA", "\\\\", "\\q", "$(p1)", '"', "\\x", "\\0", "a\\\nb"])}'`;
}
