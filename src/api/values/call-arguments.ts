// Decodes the JSON arguments of tool calls as models send them, and gives a canonical form for comparing calls.
import { errorText } from "../../base/errors.ts";
import { endOfJsonString, isRecord, isTextNestedWithin } from "../../base/json.ts";
import { toWellFormed } from "../../base/text/well-formed.ts";

export type DecodedArguments =
	/** `isStrict`: any JSON parser reads the text as this value. */
	| { readonly ok: true; readonly value: unknown; readonly isStrict: boolean }
	| { readonly ok: false; readonly reason: string };

/** Maximum nesting depth: deeper values cannot be serialized again. */
const argumentsDepth = 1000;

/**
 * Decodes argument text. Empty text means `{}`; raw control characters inside strings are accepted. A lone surrogate becomes
 * U+FFFD, since providers and strict clients reject JSON that contains one.
 */
export function decodeArguments(text: string | null): DecodedArguments {
	if (text === null || text.trim() === "") return { ok: true, value: {}, isStrict: false };
	if (!isTextNestedWithin(text, argumentsDepth)) {
		return { ok: false, reason: `They nest more than ${argumentsDepth} levels deep.` };
	}
	try {
		return { ok: true, value: parse(text), isStrict: !halves.test(text) };
	} catch (strict) {
		try {
			return { ok: true, value: parse(escapeControlCharacters(text)), isStrict: false };
		} catch {
			return { ok: false, reason: errorText(strict) };
		}
	}
}

/** Text that may contain a lone surrogate, escaped or not. */
const halves = /\\u[dD][89a-fA-F]|\p{Surrogate}/u;

function parse(text: string): unknown {
	if (!halves.test(text)) return JSON.parse(text);
	return JSON.parse(text, (_key, inner: unknown) => (typeof inner === "string" ? toWellFormed(inner) : inner));
}

/** Matches escapes too, so that the character after a backslash stays as it is. */
const escapable = /\\[\s\S]|\p{Cc}/gu;
const escapes = Array.from({ length: 0x20 }, (_, code) => `\\u${code.toString(16).padStart(4, "0")}`);

/** Escapes control characters inside JSON strings; between tokens they remain white space. */
function escapeControlCharacters(text: string): string {
	const pieces: string[] = [];
	let start = 0;
	while (start < text.length) {
		const begin = text.indexOf('"', start);
		const end = begin === -1 ? text.length : Math.min(text.length, endOfJsonString(text, begin) + 1);
		pieces.push(
			text.slice(start, begin === -1 ? end : begin),
			begin === -1 ? "" : text.slice(begin, end).replace(escapable, (found) => escapes[found.charCodeAt(0)] ?? found),
		);
		start = end;
	}
	return pieces.join("");
}

/** Compact JSON with sorted keys: equal for equivalent calls. */
export function canonicalJson(value: unknown): string {
	return JSON.stringify(value, (_key, inner: unknown) =>
		isRecord(inner)
			? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)))
			: inner,
	);
}
