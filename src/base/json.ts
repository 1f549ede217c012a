// JSON as values: types, a guard, and the one way JSON goes out on a line.

export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

export function isRecord(value: unknown): value is Record<string, unknown> {
	return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Whether a parsed value nests at most `depth` levels: deeper ones overflow the stack of whoever writes them again. */
export function isNestedWithin(value: unknown, depth: number): boolean {
	if (typeof value !== "object" || value === null) return true;
	return depth > 0 && Object.values(value).every((inner) => isNestedWithin(inner, depth - 1));
}

const lineSeparators = /[\u2028\u2029]/g;

/**
 * Compact JSON safe inside a line: U+2028 and U+2029, which some readers take for line ends, are escaped.
 * Lone surrogates are escaped by JSON.stringify itself.
 */
export function toJsonLine(value: unknown): string {
	const text = JSON.stringify(value);
	return text.includes("\u2028") || text.includes("\u2029")
		? text.replace(lineSeparators, (separator) => (separator === "\u2028" ? "\\u2028" : "\\u2029"))
		: text;
}
