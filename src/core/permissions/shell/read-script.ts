import { createBudget, readingTime } from "./budget.ts";
import type { ParseShell } from "./command-reader.ts";
import { type Doubt, type ScriptPlace, type ScriptReading, shownPiece } from "./script.ts";
import { ScriptReader } from "./script-reader.ts";

const longestScript = 16_384;

/** Loaded lazily: the parser is slow to load, and most sessions never need it. */
let loaded: Promise<ParseShell> | undefined;

/** Reads a script for `bash`. Unreadable parts become doubts next to the commands found. Never throws. */
export async function readScript(text: string, place: ScriptPlace): Promise<ScriptReading> {
	const tooLong: Doubt = { why: "the script is too long to be read", text: shownPiece(text) };
	if (text.length > longestScript) return { commands: [], doubts: [tooLong], values: new Map() };
	loaded ??= import("unbash");
	let shell: ParseShell;
	try {
		shell = await loaded;
	} catch {
		const doubt: Doubt = { why: "the parser for scripts cannot be loaded", text: shownPiece(text) };
		return { commands: [], doubts: [doubt], values: new Map() };
	}
	return new ScriptReader(shell, place, createBudget(readingTime)).read(text);
}
