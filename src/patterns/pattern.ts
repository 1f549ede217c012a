// Regular expressions of foreign origin, run by an engine with linear time in pattern and text. The platform's own
// engine backtracks and can take exponential time.
import { errorText } from "../base/errors.ts";
import type { PatternSyntax } from "./character-sets.ts";
import { translatePattern } from "./translation.ts";

export interface Pattern {
	/** Whether the pattern matches anywhere in the text. Takes at most as long as `costIn` says. */
	test(text: string): boolean;
	/** The most nanoseconds that a search in a text of this length may take; usually it takes fewer. */
	costIn(length: number): number;
	/** Instructions of the compiled program. */
	readonly size: number;
}

export type CompiledPattern =
	| { readonly ok: true; readonly pattern: Pattern }
	/** A clause without full stop that can follow "cannot be used:". */
	| { readonly ok: false; readonly reason: string };

let engine: Promise<typeof import("re2js")> | null = null;

/** Compiles a pattern for searching: it need not match the whole text. */
export type CompilePattern = (source: string, syntax: PatternSyntax) => CompiledPattern;

/** Loads the engine. */
export async function loadPatternCompiler(): Promise<CompilePattern> {
	engine ??= import("re2js");
	const { RE2JS } = await engine;
	return (source, syntax) => {
		const translated = translatePattern(source, syntax);
		if (!translated.ok) return translated;
		try {
			const parts = translated.expressions.map(({ source: text, isForbidden }) => ({
				compiled: RE2JS.compile(text),
				isForbidden,
			}));
			const size = parts.reduce((sum, { compiled }) => sum + compiled.programSize(), 0);
			return {
				ok: true,
				pattern: {
					test: (text) => parts.every(({ compiled, isForbidden }) => compiled.test(text) !== isForbidden),
					size,
					costIn: (length) => costOfSearch + length * costPerCharacter(source, size),
				},
			};
		} catch (thrown) {
			return { ok: false, reason: errorText(thrown).replace(/^error parsing regexp: /, "") };
		}
	};
}

/** Words and choices between them: the engine keeps few states apart, whatever the text is. */
const wordList = /^(?:\(\?i\)|\(\?:|[\w\s"'`#%&,:;<=>@~!/|()^$-]|\\[\W_bB])*$/;

/** Nanoseconds for the shortest text. */
const costOfSearch = 1000;

/** Steps of a program whose states, all of them, fit into the engine's memory. */
const smallProgram = 16;

/**
 * Nanoseconds for a character: the slowest that was measured, on two cores shared with others. The engine remembers states
 * that it was in; where there are too many of them it follows each step of the program again at every character.
 */
function costPerCharacter(source: string, size: number): number {
	if (wordList.test(source)) return 200 + 2.5 * size;
	return size <= smallProgram ? 400 : 3000 + 95 * size;
}
