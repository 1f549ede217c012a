// A set like `[slug]` also matches literally. Unsupported syntax is refused, so it does not look like "no such file".
import { type PatternStep, parseGlobPattern } from "../../patterns/glob-pattern.ts";

export type GlobAlternatives =
	| { readonly ok: true; readonly alternatives: readonly (readonly PatternStep[])[] }
	| { readonly ok: false; readonly reason: string };

const longestPattern = 1000;
const mostAlternatives = 200;

/** Placeholders (noncharacters) for signs escaped with a backslash. */
const escapedSigns = "[*?{},";
const standInStart = 0xf000;

const standInOf = (sign: string): string => String.fromCharCode(standInStart + escapedSigns.indexOf(sign));

export function parseGlobAlternatives(pattern: string): GlobAlternatives {
	const refuse = (reason: string): GlobAlternatives => ({ ok: false, reason });
	if (pattern.length > longestPattern) return refuse(`The pattern is longer than ${longestPattern} characters.`);
	const reason = refusalOf(pattern);
	if (reason !== null) return refuse(reason);
	const protectedPattern = pattern
		.replaceAll(/\\([[*?{},])/g, (_, sign: string) => standInOf(sign))
		.replaceAll(/\\([\]()!@+])/g, "$1");
	const expanded = expandBraces(protectedPattern);
	if (expanded === null) return refuse(`The braces of the pattern stand for more than ${mostAlternatives} patterns.`);
	const alternatives: (readonly PatternStep[])[] = [];
	for (const each of expanded) {
		const whole = each.replaceAll(/\/+/g, "/");
		const strict = parseGlobPattern(withSets(whole));
		if (!strict.ok) {
			// A choice such as in `{,src/}` can be empty.
			if (whole === "" && expanded.length > 1) continue;
			return strict;
		}
		const literal = parseGlobPattern(withSets(whole.replaceAll("[", "[[]")));
		alternatives.push(literal.ok && whole.includes("[") ? merge(strict.steps, literal.steps) : strict.steps);
	}
	return { ok: true, alternatives };
}

function refusalOf(pattern: string): string | null {
	const separated = /\\(?![[\]{}(),*?!@+])(.?)/.exec(pattern);
	if (separated !== null) {
		return `The pattern has a backslash before \`${separated[1] ?? ""}\`. Separate names with \`/\`; a backslash only makes \`[\`, \`{\`, \`*\` and \`?\` literal.`;
	}
	if (pattern.startsWith("!")) return "A pattern cannot exclude files with `!`. Leave out what is found too much.";
	const extended = /[@!+?*]\([^()/]*\|[^()]*\)|!\([^()/]*\)/.exec(pattern);
	if (extended !== null) {
		return `Glob does not know \`${extended[0]}\`. List the choices in braces, as in \`{a,b}\`.`;
	}
	const range = /(?<!\\)\{[^{},/]*\.\.[^{},/]*\}/.exec(pattern);
	if (range !== null) return `Glob does not know the range \`${range[0]}\`. List its members, as in \`{1,2,3}\`.`;
	const glued = pattern.split("/").find((segment) => segment.includes("**") && !/^(\*\*|\{.*|.*\})$/.test(segment));
	if (glued !== undefined) {
		return `\`**\` in \`${glued}\` does not stand alone between slashes. For all directories write \`${pattern.replace(glued, `**/${glued.replaceAll(/\*+/g, "*")}`)}\`.`;
	}
	return null;
}

/** Expands comma braces in order; null for too many patterns. Other braces are literal. */
function expandBraces(pattern: string): readonly string[] | null {
	const done: string[] = [];
	const open = [pattern];
	for (let next = open.pop(); next !== undefined; next = open.pop()) {
		if (open.length + done.length >= mostAlternatives) return null;
		const group = firstGroup(next);
		if (group === null) {
			if (!done.includes(next)) done.push(next);
			continue;
		}
		const { start, end, choices } = group;
		for (const choice of choices.toReversed()) open.push(next.slice(0, start) + choice + next.slice(end + 1));
	}
	return done;
}

interface Group {
	readonly start: number;
	readonly end: number;
	readonly choices: readonly string[];
}

function firstGroup(pattern: string): Group | null {
	for (let start = pattern.indexOf("{"); start !== -1; start = pattern.indexOf("{", start + 1)) {
		let depth = 0;
		let from = start + 1;
		const choices: string[] = [];
		for (let at = start; at < pattern.length; at += 1) {
			const sign = pattern.charAt(at);
			if (sign === "{") depth += 1;
			else if (sign === "," && depth === 1) {
				choices.push(pattern.slice(from, at));
				from = at + 1;
			} else if (sign === "}") {
				depth -= 1;
				if (depth > 0) continue;
				if (choices.length > 0) return { start, end: at, choices: [...choices, pattern.slice(from, at)] };
				break;
			}
		}
	}
	return null;
}

/** Restores the escaped signs, wildcards as single-character sets. */
function withSets(pattern: string): string {
	return pattern.replaceAll(/[\uf000-\uf005]/g, (standIn) => {
		const sign = escapedSigns.charAt(standIn.charCodeAt(0) - standInStart);
		return "[*?".includes(sign) ? `[${sign}]` : sign;
	});
}

/** Steps that match either variant. */
function merge(strict: readonly PatternStep[], literal: readonly PatternStep[]): readonly PatternStep[] {
	return strict.map((step, index) => {
		const other = literal[index];
		if (step.kind !== "match" || other?.kind !== "match") return step;
		return { kind: "match", matches: (name) => step.matches(name) || other.matches(name) };
	});
}
