// Glob patterns as Python's pathlib reads them: `*`, `?` and `[...]` within a name, `**` for any directories.
// Everything else (braces, parentheses, backslashes) stands for itself. Reads no directories.

export type PatternStep =
	/** A name without wildcards. */
	| { readonly kind: "name"; readonly name: string }
	| { readonly kind: "match"; readonly matches: (name: string) => boolean }
	/** Any number of directories, none included. */
	| { readonly kind: "any-depth" };

export type PatternResult =
	| { readonly ok: true; readonly steps: readonly PatternStep[] }
	| { readonly ok: false; readonly reason: string };

/** Characters: matching a name takes as many steps as both have characters, multiplied. */
const longestPattern = 1000;

/** What one place of a pattern stands for. */
type Part =
	| { readonly kind: "sign"; readonly sign: string }
	| { readonly kind: "any" }
	| { readonly kind: "set"; readonly ranges: readonly Range[]; readonly isNegated: boolean }
	/** Any signs, none included. */
	| { readonly kind: "many" };

interface Range {
	readonly first: string;
	readonly last: string;
}

/** The end of the set that opens at `start` (the index of its `]`), or -1: a `]` in the first place belongs to the set. */
function setEnd(signs: readonly string[], start: number): number {
	const first = signs[start + 1] === "!" ? start + 2 : start + 1;
	return signs.indexOf("]", first + 1);
}

/** Ranges that run backwards are empty. */
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
	// Looked for once: a pattern of nothing but brackets is not to be gone through for each of them.
	const lastEnd = signs.lastIndexOf("]");
	for (let index = 0; index < signs.length; index += 1) {
		const sign = signs[index] ?? "";
		const end = sign === "[" && index < lastEnd ? setEnd(signs, index) : -1;
		if (end !== -1) {
			parts.push(toSet(signs.slice(index + 1, end)));
			index = end;
		} else if (sign === "*") {
			// Several in a row mean the same as one.
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

/**
 * Whether the parts make up the whole name. Only the last `*` is ever given more: whatever an earlier one could take as
 * well, the last one can.
 */
function matchParts(parts: readonly Part[], name: string): boolean {
	const signs = [...name];
	let part = 0;
	let sign = 0;
	/** Where the last `*` is, and where what follows it was last tried. */
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

/** The pattern in steps, one per name; a reason when it is empty, absolute, too long or leads upwards. */
export function parseGlobPattern(pattern: string): PatternResult {
	if (pattern.length > longestPattern) {
		return { ok: false, reason: `The pattern is longer than ${longestPattern} characters.` };
	}
	if (pattern.startsWith("/")) return { ok: false, reason: "The pattern must be relative to the directory." };
	const segments = pattern
		.split("/")
		.filter((segment) => segment !== "" && segment !== ".")
		// Any directories below any directories are any directories.
		.filter((segment, index, all) => segment !== "**" || all[index - 1] !== "**");
	if (segments.length === 0) return { ok: false, reason: "The pattern is empty." };
	if (segments.includes(".."))
		return { ok: false, reason: "The pattern must not lead out of the directory with `..`." };
	return { ok: true, steps: segments.map(toStep) };
}
