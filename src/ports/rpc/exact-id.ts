// Reads numeric ids exactly from the text: JSON parsing loses digits beyond 2^53.
import { endOfJsonString } from "../../base/json.ts";

/** Range of 64-bit integer ids. */
const lowest = -(2n ** 63n);
const highest = 2n ** 63n - 1n;

/** The numeric `id` of a JSON object as written; null if not an integer literal or out of range. */
export function exactId(text: string): number | bigint | null {
	const written = writtenId(text);
	// More digits are out of range, and a BigInt of a million digits takes a quarter of a second.
	if (written === null || !/^(?:0|-?[1-9]\d{0,18})$/.test(written)) return null;
	const value = BigInt(written);
	if (value < lowest || value > highest) return null;
	const number = Number(written);
	return Number.isSafeInteger(number) ? number : value;
}

/** The number after the last top-level `"id"` in a valid JSON object. */
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
			// A colon never follows a value, so this finds only keys.
			if (depth === 1 && isId(text.slice(at, Math.min(end + 1, at + longestSpelling)))) {
				found = number.exec(text)?.[1] ?? found;
			}
			at = end;
		}
	}
	return found;
}

/** Length of `"id"` with both letters escaped, plus one. */
const longestSpelling = 15;

function isId(literal: string): boolean {
	if (literal === '"id"') return true;
	return literal.includes("\\u") && /^"(?:i|\\u0069)(?:d|\\u0064)"$/i.test(literal);
}
