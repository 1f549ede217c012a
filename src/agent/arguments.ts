// The JSON arguments of a tool call: decoding what models really send, and a canonical form to compare calls by.
import { errorText } from "../base/errors.ts";
import { isRecord } from "../base/json.ts";

export type DecodedArguments =
	| { readonly ok: true; readonly value: unknown }
	| { readonly ok: false; readonly reason: string };

/** Decodes argument text: nothing means `{}`, and raw control characters inside strings are taken as meant. */
export function decodeArguments(text: string | null): DecodedArguments {
	if (text === null || text.trim() === "") return { ok: true, value: {} };
	try {
		return { ok: true, value: JSON.parse(text) };
	} catch (strict) {
		try {
			return { ok: true, value: JSON.parse(escapeControlCharacters(text)) };
		} catch {
			return { ok: false, reason: errorText(strict) };
		}
	}
}

/** Escapes the control characters inside JSON strings; those between tokens are left as white space. */
function escapeControlCharacters(text: string): string {
	let inString = false;
	let escaped = false;
	let result = "";
	for (const character of text) {
		const code = character.charCodeAt(0);
		if (inString && !escaped && code < 0x20) result += `\\u${code.toString(16).padStart(4, "0")}`;
		else result += character;
		if (escaped) escaped = false;
		else if (character === "\\" && inString) escaped = true;
		else if (character === '"') inString = !inString;
	}
	return result;
}

/** Compact JSON with sorted keys: equal for calls that mean the same. */
export function canonicalJson(value: unknown): string {
	return JSON.stringify(value, (_key, inner: unknown) =>
		isRecord(inner)
			? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)))
			: inner,
	);
}
