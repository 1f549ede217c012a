// Python pathlib syntax: `*`, `?`, `[...]` within a name, `**` for any directories. Other characters are literal.

export type PatternStep =
	| { readonly kind: "name"; readonly name: string }
	| { readonly kind: "match"; readonly matches: (name: string) => boolean }
	| { readonly kind: "any-depth" };

export type PatternResult =
	| { readonly ok: true; readonly steps: readonly PatternStep[] }
	| { readonly ok: false; readonly reason: string };

/** Maximum pattern length in characters: matching takes time proportional to the product of pattern and name length. */
const longestPattern = 1000;

type Part =
	| { readonly kind: "sign"; readonly sign: string }
	| { readonly kind: "any" }
	| { readonly kind: "set"; readonly ranges: readonly Range[]; readonly isNegated: boolean }
	/** Zero or more characters. */
	| { readonly kind: "many" };

interface Range {
	readonly first: string;
	readonly last: string;
}

/** The index of the `]` that closes the set at `start`, or -1. A `]` right after the opening bracket belongs to the set. */
function setEnd(signs: readonly string[], start: number): number {
	const first = signs[start + 1] === "!" ? start + 2 : start + 1;
	return signs.indexOf("]", first + 1);
}

/** Reversed ranges are empty. */
function toSet(content: readonly string[]): Part {
	const isNegated = content[0] === "!";
	const members = isNegated ? content.slice(1) : content;
	const ranges: Range[] = [];
	for (let index = 0; index < members.length; index += 1) {
		const [first, dash, last] = members.slice(index, index + 3);
		if (first === undefined) break;
		const isRange = dash === "-" && last !== undefined;
		ranges.push({ first, last: isRange ? last : first });
		if (isRange) index += 2;
	}
	return { kind: "set", ranges, isNegated };
}

function toParts(segment: string): Part[] {
	const signs = [...segment];
	const parts: Part[] = [];
	// Searched once, so that a pattern of brackets takes linear time.
	const lastEnd = signs.lastIndexOf("]");
	for (let index = 0; index < signs.length; index += 1) {
		const sign = signs[index] ?? "";
		const end = sign === "[" && index < lastEnd ? setEnd(signs, index) : -1;
		if (end !== -1) {
			parts.push(toSet(signs.slice(index + 1, end)));
			index = end;
		} else if (sign === "*") {
			// Consecutive stars are equivalent to one.
			if (parts.at(-1)?.kind !== "many") parts.push({ kind: "many" });
		} else {
			parts.push(sign === "?" ? { kind: "any" } : { kind: "sign", sign });
		}
	}
	return parts;
}

function fits(part: Part, sign: string): boolean {
	switch (part.kind) {
		case "sign":
			return part.sign === sign;
		case "set":
			return part.ranges.some((range) => isWithin(range, sign)) !== part.isNegated;
		case "any":
		case "many":
			return true;
	}
}

function isWithin({ first, last }: Range, sign: string): boolean {
	const point = sign.codePointAt(0) ?? 0;
	return point >= (first.codePointAt(0) ?? 0) && point <= (last.codePointAt(0) ?? 0);
}

/** Only the last `*` is extended, because it can match everything an earlier one could. */
function matchParts(parts: readonly Part[], name: string): boolean {
	const signs = [...name];
	let part = 0;
	let sign = 0;
	/** The last `*`, and where its continuation was last tried. */
	let star = -1;
	let tried = 0;
	while (sign < signs.length) {
		const current = parts[part];
		if (current?.kind === "many") {
			star = part;
			tried = sign;
			part += 1;
		} else if (current !== undefined && fits(current, signs[sign] ?? "")) {
			part += 1;
			sign += 1;
		} else if (star !== -1) {
			tried += 1;
			sign = tried;
			part = star + 1;
		} else return false;
	}
	return parts.slice(part).every(({ kind }) => kind === "many");
}

function toStep(segment: string): PatternStep {
	if (segment === "**") return { kind: "any-depth" };
	if (!/[*?[]/.test(segment)) return { kind: "name", name: segment };
	const parts = toParts(segment);
	return { kind: "match", matches: (name) => matchParts(parts, name) };
}

/** Splits the pattern into steps, one per name. Refuses empty, absolute, overlong and upward patterns with a reason. */
export function parseGlobPattern(pattern: string): PatternResult {
	if (pattern.length > longestPattern) {
		return { ok: false, reason: `The pattern is longer than ${longestPattern} characters.` };
	}
	if (pattern.startsWith("/")) return { ok: false, reason: "The pattern must be relative to the directory." };
	const segments = pattern
		.split("/")
		.filter((segment) => segment !== "" && segment !== ".")
		// Consecutive `**` are equivalent to one.
		.filter((segment, index, all) => segment !== "**" || all[index - 1] !== "**");
	if (segments.length === 0) return { ok: false, reason: "The pattern is empty." };
	if (segments.includes(".."))
		return { ok: false, reason: "The pattern must not lead out of the directory with `..`." };
	return { ok: true, steps: segments.map(toStep) };
}
