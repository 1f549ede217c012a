import type { SimpleCommand } from "./script.ts";
import { decodeWord } from "./word.ts";
import { riskyVariable } from "./word-doubts.ts";

export type PatternToken =
	| {
			readonly kind: "literal";
			readonly text: string;
			readonly raw: string;
	  }
	| { readonly kind: "any" };

export type CommandPattern =
	| { readonly kind: "every" }
	| {
			readonly kind: "tokens";
			/** The first token is literal. */
			readonly tokens: readonly PatternToken[];
			readonly isPrefix: boolean;
	  };

export type PatternReading =
	| { readonly ok: true; readonly pattern: CommandPattern }
	| { readonly ok: false; readonly reason: string };

export function parseCommandPattern(text: string): PatternReading {
	const trimmed = text.trim();
	if (trimmed === "") return refuse("The pattern names no command: write * for every command.");
	if (trimmed === "*" || trimmed === ":*") return { ok: true, pattern: { kind: "every" } };
	const isColon = trimmed.endsWith(":*");
	const isStar = !isColon && /\s\*$/.test(trimmed);
	const body = isColon ? trimmed.slice(0, -2).trimEnd() : isStar ? trimmed.slice(0, -1).trimEnd() : trimmed;
	const words = splitWords(body);
	if (words === null) return refuse("The pattern has a quote that does not close.");
	const tokens: PatternToken[] = [];
	for (const [index, raw] of words.entries()) {
		if (raw === "*") {
			if (index === 0) return refuse("A pattern starts with the name of a program: * there would match any of them.");
			tokens.push({ kind: "any" });
			continue;
		}
		const token = readToken(raw, words, index);
		if (!token.ok) return token;
		tokens.push({ kind: "literal", text: token.text, raw });
	}
	return { ok: true, pattern: { kind: "tokens", tokens, isPrefix: isColon || isStar } };
}

function refuse(reason: string): { readonly ok: false; readonly reason: string } {
	return { ok: false, reason };
}

function readToken(
	raw: string,
	words: readonly string[],
	index: number,
): { readonly ok: true; readonly text: string } | { readonly ok: false; readonly reason: string } {
	if (raw.includes(":*")) return refuse(`":*" means "and any further words", and only at the end of a pattern.`);
	if (/^~(?:\/[^$`*?[{'"\\;&|<>()]*)?$/.test(raw)) return { ok: true, text: raw };
	const word = decodeWord(raw, null);
	if (word.kind === "literal") {
		if (index === 0 && /^[\w.]+=/.test(word.text))
			return refuse("A pattern starts with a program, not with a variable.");
		return word.text === "" && index === 0
			? refuse("A pattern starts with the name of a program.")
			: { ok: true, text: word.text };
	}
	if (word.why === "a pattern for file names") {
		const before = words.slice(0, index);
		const stem = /^[^*?[\]]+/.exec(raw)?.[0];
		if (index === 0 && /^[\w.-]+:[\w.-]+\*$/.test(raw)) {
			const instead = `${raw.slice(0, -1).replace(":", " ")}:*`;
			return refuse(`A pattern compares whole words, so "${raw}" is not possible: write ${instead}.`);
		}
		const proposal = stem !== undefined && index === words.length - 1 ? [...before, stem] : before;
		const instead = proposal.length > 0 ? `write ${proposal.join(" ")}:*` : "name the program, as in git status:*";
		return refuse(
			`A pattern compares whole words, so "${raw}" is not possible: ${instead}, or * for exactly one word.`,
		);
	}
	return refuse(`A pattern compares words as they are, and "${raw}" has ${word.why}: name one plain command.`);
}

function splitWords(text: string): readonly string[] | null {
	const words: string[] = [];
	let word = "";
	let quote = "";
	for (let index = 0; index < text.length; index += 1) {
		const character = text.charAt(index);
		if (quote === "" && /\s/.test(character)) {
			if (word !== "") words.push(word);
			word = "";
			continue;
		}
		word += character;
		if (character === "\\" && quote !== "'") {
			index += 1;
			word += text.charAt(index);
		} else if (quote !== "") {
			if (character === quote) quote = "";
		} else if (character === "'" || character === '"') quote = character;
	}
	if (quote !== "") return null;
	return word === "" ? words : [...words, word];
}

const harmlessName =
	/^(?:NODE_ENV|CI|LANG|LC_[A-Z]+|TZ|NO_COLOR|FORCE_COLOR|COLORTERM|TERM|COLUMNS|LINES|DEBUG|VERBOSE|V|LOG_LEVEL|RUST_LOG|RUST_BACKTRACE|PORT|HOST|APP_ENV|RAILS_ENV|JOBS|FOO|BAR|BAZ|[XYZ])$/;
const switchValue = /^(?:\d{1,5}|true|false|yes|no|on|off)?$/;
/** Variables that can select a program or file even with a numeric value. */
const settingName =
	/^MAKE|OPT|FLAG|ARGS|PLUGIN|FILE|PATH|DIR|SHELL|CONFIG|RC$|HOME|WRAPPER|PRELOAD|CMD|COMMAND|PROG|PROXY/;

/** Whether the variable cannot affect what a program runs or writes. */
export function isHarmlessVariable(name: string, value: string | null): boolean {
	if (riskyVariable(name)) return false;
	if (harmlessName.test(name)) return value === null || /^[\w.:,@=*/-]*$/.test(value);
	return value !== null && switchValue.test(value) && /^[A-Z][A-Z0-9_]*$/.test(name) && !settingName.test(name);
}

/** Whether no variable set for the command affects what it does. */
export function hasHarmlessAssignments({ assignments }: SimpleCommand): boolean {
	return assignments.every(({ name, value }) => value.kind === "literal" && isHarmlessVariable(name, value.text));
}
