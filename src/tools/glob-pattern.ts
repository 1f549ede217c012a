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

function escaped(text: string): string {
	return text.replace(/[\\^$.|?*+()[\]{}/]/g, "\\$&");
}

function escapedMember(text: string): string {
	return text.replace(/[\\^\-[\]]/g, "\\$&");
}

/** The end of the set that opens at `start` (the index of its `]`), or -1: a `]` in the first place belongs to the set. */
function setEnd(segment: string, start: number): number {
	const first = segment[start + 1] === "!" ? start + 2 : start + 1;
	return segment.indexOf("]", first + 1);
}

/** The members of a set as pieces of a regular expression; ranges that run backwards are empty. */
function setExpression(content: string): string {
	const isNegated = content.startsWith("!");
	const members = [...(isNegated ? content.slice(1) : content)];
	let inside = "";
	for (let index = 0; index < members.length; index += 1) {
		const [from, dash, to] = members.slice(index, index + 3);
		if (from === undefined) break;
		if (dash !== "-" || to === undefined) {
			inside += escapedMember(from);
			continue;
		}
		if (from <= to) inside += `${escapedMember(from)}-${escapedMember(to)}`;
		index += 2;
	}
	if (inside === "") return isNegated ? "." : "(?!)";
	return `[${isNegated ? "^" : ""}${inside}]`;
}

function toExpression(segment: string): RegExp {
	let source = "";
	for (let index = 0; index < segment.length; index += 1) {
		const character = segment.charAt(index);
		const end = character === "[" ? setEnd(segment, index) : -1;
		if (end !== -1) {
			source += setExpression(segment.slice(index + 1, end));
			index = end;
		} else if (character === "*") {
			// Several in a row mean the same as one, and would only make matching slow.
			if (segment[index - 1] !== "*") source += ".*";
		} else {
			source += character === "?" ? "." : escaped(character);
		}
	}
	return new RegExp(`^${source}$`, "su");
}

function toStep(segment: string): PatternStep {
	if (segment === "**") return { kind: "any-depth" };
	if (!/[*?[]/.test(segment)) return { kind: "name", name: segment };
	const expression = toExpression(segment);
	return { kind: "match", matches: (name) => expression.test(name) };
}

/** The pattern in steps, one per name; a reason when it is empty, absolute or leads upwards. */
export function parseGlobPattern(pattern: string): PatternResult {
	if (pattern.startsWith("/")) return { ok: false, reason: "The pattern must be relative to the directory." };
	const segments = pattern.split("/").filter((segment) => segment !== "" && segment !== ".");
	if (segments.length === 0) return { ok: false, reason: "The pattern is empty." };
	if (segments.includes(".."))
		return { ok: false, reason: "The pattern must not lead out of the directory with `..`." };
	return { ok: true, steps: segments.map(toStep) };
}
