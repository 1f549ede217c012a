// Reads numeric ids exactly: numbers beyond 2^53 lose digits when JSON is parsed, so they are read from the text.
import { endOfJsonString } from "../../base/json.ts";

/** The ids that fit a 64-bit integer. */
const lowest = -(2n ** 63n);
const highest = 2n ** 63n - 1n;

/**
 * The numeric `id` of a JSON object as it is written; null when it is not spelled as an integer or is out of bounds.
 */
export function exactId(text: string): number | bigint | null {
	const written = writtenId(text);
	// More digits are out of bounds, and a million of them would take a BigInt a quarter of a second.
	if (written === null || !/^(?:0|-?[1-9]\d{0,18})$/.test(written)) return null;
	const value = BigInt(written);
	if (value < lowest || value > highest) return null;
	const number = Number(written);
	return Number.isSafeInteger(number) ? number : value;
}

/** The number after the last `"id"` on the first level of a text that is a valid JSON object. */
function writtenId(text: string): string | null {
	const number = /\s*:\s*(-?\d[\d.eE+-]*)/y;
	let depth = 0;
	let found: string | null = null;
	for (let at = 0; at < text.length; at += 1) {
		const character = text[at];
		if (character === "{" || character === "[") depth += 1;
		else if (character === "}" || character === "]") depth -= 1;
		else if (character === '"') {
			const end = endOfJsonString(text, at);
			number.lastIndex = end + 1;
			// No colon follows a value, so only keys are found.
			if (depth === 1 && isId(text.slice(at, Math.min(end + 1, at + longestSpelling)))) {
				found = number.exec(text)?.[1] ?? found;
			}
			at = end;
		}
	}
	return found;
}

/** Characters of `"id"` with both letters escaped, and one more. */
const longestSpelling = 15;

function isId(literal: string): boolean {
	if (literal === '"id"') return true;
	return literal.includes("\\u") && /^"(?:i|\\u0069)(?:d|\\u0064)"$/i.test(literal);
}
