import { errorText } from "../../base/errors.ts";
import { isNestedWithin } from "../../base/json.ts";

export type SyntaxResult =
	| { readonly ok: true; readonly value: unknown }
	| { readonly ok: false; readonly reason: string };

/** Maximum length of settings, in characters. */
export const settingsLimit = 256 * 1024;

/** Maximum nesting of tables and lists, far more than any setting needs. */
const nestingLimit = 100;

function refusal(text: string, syntax: string): SyntaxResult | null {
	if (text.length <= settingsLimit) return null;
	return { ok: false, reason: `not read as ${syntax}: it has more than ${settingsLimit} characters` };
}

function checkNesting(value: unknown): SyntaxResult {
	if (isNestedWithin(value, nestingLimit)) return { ok: true, value };
	return { ok: false, reason: `not settings: they nest more than ${nestingLimit} levels deep` };
}

function place(text: string, position: number): string {
	const before = text.slice(0, position).split("\n");
	return `line ${before.length}, column ${(before.at(-1) ?? "").length + 1}`;
}

export function parseJson(text: string): SyntaxResult {
	const refused = refusal(text, "JSON");
	if (refused !== null) return refused;
	try {
		return checkNesting(JSON.parse(text));
	} catch (error) {
		const message = errorText(error);
		const position = /at position (\d+)/.exec(message)?.[1];
		const where = position === undefined ? "" : ` at ${place(text, Number(position))}`;
		// The rest quotes the text, or is a position replaced by `where`.
		const what = message.replace(/(, (\.\.\.)?"| in JSON| \().*$/s, "").replace(/^"undefined".*/s, "empty");
		return { ok: false, reason: `not JSON${where}: ${what}` };
	}
}

/** Parses settings as TOML; the parser is loaded on first use. */
export async function parseToml(text: string): Promise<SyntaxResult> {
	const refused = refusal(text, "TOML");
	if (refused !== null) return refused;
	const { parse, TomlError } = await import("smol-toml");
	try {
		return checkNesting(parse(text));
	} catch (error) {
		if (!(error instanceof TomlError)) throw error;
		const what = (error.message.split("\n")[0] ?? "").replace(/^Invalid TOML document: /, "");
		return { ok: false, reason: `not TOML at line ${error.line}, column ${error.column}: ${what}` };
	}
}
