// JSON and TOML text to plain values. Reasons for failure name a place, never the text found there.
import { errorText } from "../base/errors.ts";

export type SyntaxResult =
	| { readonly ok: true; readonly value: unknown }
	| { readonly ok: false; readonly reason: string };

function place(text: string, position: number): string {
	const before = text.slice(0, position).split("\n");
	return `line ${before.length}, column ${(before.at(-1) ?? "").length + 1}`;
}

/** Settings as JSON. */
export function parseJson(text: string): SyntaxResult {
	try {
		return { ok: true, value: JSON.parse(text) };
	} catch (error) {
		const message = errorText(error);
		const position = /at position (\d+)/.exec(message)?.[1];
		const where = position === undefined ? "" : ` at ${place(text, Number(position))}`;
		// What follows is an excerpt of the text, or the position that `where` replaces.
		const what = message.replace(/(, (\.\.\.)?"| in JSON| \().*$/s, "").replace(/^"undefined".*/s, "empty");
		return { ok: false, reason: `not JSON${where}: ${what}` };
	}
}

/** Settings as TOML; the parser is loaded when first needed. */
export async function parseToml(text: string): Promise<SyntaxResult> {
	const { parse, TomlError } = await import("smol-toml");
	try {
		return { ok: true, value: parse(text) };
	} catch (error) {
		if (!(error instanceof TomlError)) throw error;
		const what = (error.message.split("\n")[0] ?? "").replace(/^Invalid TOML document: /, "");
		return { ok: false, reason: `not TOML at line ${error.line}, column ${error.column}: ${what}` };
	}
}
