// Regular expressions of foreign origin, run by an engine with linear time in pattern and text. The platform's own
// engine backtracks and can take exponential time.
import { errorText } from "../../base/errors.ts";
import type { PatternSyntax } from "./character-sets.ts";
import { translatePattern } from "./translation.ts";

export interface Pattern {
	/** Whether the pattern matches anywhere in the text. Takes at most as long as `costIn` says. */
	test(text: string): boolean;
	/**
	 * The most nanoseconds that a search in a text of this length may take; usually it takes fewer. Later searches take
	 * less than the first.
	 */
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
			const model = toCostModel(source, size);
			let unknown = model.transitions;
			return {
				ok: true,
				pattern: {
					test(text) {
						unknown = Math.max(0, unknown - text.length);
						return parts.every(({ compiled, isForbidden }) => compiled.test(text) !== isForbidden);
					},
					size,
					costIn: (length) =>
						costOfSearch + length * model.known + Math.min(length, unknown) * (model.following - model.known),
				},
			};
		} catch (thrown) {
			return { ok: false, reason: errorText(thrown).replace(/^error parsing regexp: /, "") };
		}
	};
}

/** Nanoseconds for the shortest text. */
const costOfSearch = 1000;

/**
 * What searches cost, in nanoseconds: the slowest that was measured, on two cores shared with others. The engine
 * remembers the states that it was in, and what followed.
 */
interface CostModel {
	/** How often it may have to find out what follows, all searches together. Infinite where it forgets again. */
	readonly transitions: number;
	/** For a character, when it has to find out. */
	readonly following: number;
	/** For a character, when it remembers. */
	readonly known: number;
}

/** Steps of a program whose states, all of them, fit into the engine's memory. */
const smallProgram = 16;

/** Bytes that the engine remembers before it forgets everything. */
const rememberedBytes = 8_000_000;

/** For a character, when so many steps of the program have to be followed. */
const costOfSteps = (count: number): number => 3000 + 95 * count;

function toCostModel(source: string, size: number): CostModel {
	const following = costOfSteps(size);
	if (size <= smallProgram) return { transitions: 64 + 2 ** (size - 2), following, known: 400 };
	const list = readWordList(source);
	if (list === null) return { transitions: Number.POSITIVE_INFINITY, following, known: 0 };
	return { transitions: list.transitions, following: Math.min(following, costOfSteps(list.steps)), known: 200 };
}

/** One list of words, without choices within them: what the engine has to remember is the beginnings of the words. */
const wordList = /^(?:\(\?i\))?(?:\^|\\b)*(?:\((?:\?:)?)?((?:[\w\s"'`#%&,:;<=>@~!/|^$-]|\\[\W_bB])*)\)?(?:\$|\\b)*$/;

interface WordList {
	/** Pairs of a state and a kind of character. */
	readonly transitions: number;
	/** Steps of the program in one state. */
	readonly steps: number;
}

/** Null for another pattern, and where there is too much to remember. */
function readWordList(source: string): WordList | null {
	const [, list] = wordList.exec(source) ?? [];
	if (list === undefined) return null;
	const words = list.split("|");
	const longest = words.reduce((most, { length }) => Math.max(most, length), 0);
	// Conditions before and after the list; a group and its flag are no steps.
	const around = Math.max(0, source.length - list.length - 8);
	const steps = 2 * (words.length + longest + around) + 10;
	// With conditions such as `\b` a state also says what the last character was.
	const states = (list.length + words.length) * (/[\\^$]/.test(source) ? 2 : 1);
	// Between two characters that occur is one kind of others.
	const kinds = 2 * new Set(list + list.toLowerCase() + list.toUpperCase()).size + 12;
	const bytes = states * (200 + 8 * (kinds + steps));
	return bytes > rememberedBytes ? null : { transitions: states * kinds, steps };
}
