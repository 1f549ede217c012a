// Untrusted patterns run in linear time; JavaScript's own engine can take exponential time.
import { errorText } from "../../base/errors.ts";
import type { PatternSyntax } from "./character-sets.ts";
import { translatePattern } from "./translation.ts";

export interface Pattern {
	/** Whether the pattern matches anywhere in the text, within the time given by `costIn`. */
	test(text: string): boolean;
	/** Maximum nanoseconds for a search in a text of this length. Later searches are faster than the first. */
	costIn(length: number): number;
	/** Instructions of the compiled program. */
	readonly size: number;
}

export type CompiledPattern =
	| { readonly ok: true; readonly pattern: Pattern }
	/** A clause without a full stop that can follow "cannot be used:". */
	| { readonly ok: false; readonly reason: string };

let engine: Promise<typeof import("re2js")> | null = null;

export type CompilePattern = (source: string, syntax: PatternSyntax) => CompiledPattern;

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

/** Fixed nanoseconds per search. */
const costOfSearch = 1000;

/** Search cost in nanoseconds: slowest measurements on two shared cores. The engine caches states and transitions. */
interface CostModel {
	/** Maximum number of uncached transitions over all searches; infinite if the cache overflows. */
	readonly transitions: number;
	/** Per character with an uncached transition. */
	readonly following: number;
	/** Per character with a cached transition. */
	readonly known: number;
}

/** Maximum instructions of a program whose states all fit into the cache. */
const smallProgram = 16;

/** Cache size in bytes; a full cache is emptied. */
const rememberedBytes = 8_000_000;

/** Per character, when `count` instructions must be followed. */
const costOfSteps = (count: number): number => 3000 + 95 * count;

function toCostModel(source: string, size: number): CostModel {
	const following = costOfSteps(size);
	if (size <= smallProgram) return { transitions: 64 + 2 ** (size - 2), following, known: 400 };
	const list = readWordList(source);
	if (list === null) return { transitions: Number.POSITIVE_INFINITY, following, known: 0 };
	return { transitions: list.transitions, following: Math.min(following, costOfSteps(list.steps)), known: 200 };
}

/** A single word list without alternatives inside the words, whose states are the word prefixes. */
const wordList = /^(?:\(\?i\))?(?:\^|\\b)*(?:\((?:\?:)?)?((?:[\w\s"'`#%&,:;<=>@~!/|^$-]|\\[\W_bB])*)\)?(?:\$|\\b)*$/;

interface WordList {
	/** Pairs of a state and a character class. */
	readonly transitions: number;
	/** Program instructions per state. */
	readonly steps: number;
}

/** Null for other patterns, and if the states do not fit into the cache. */
function readWordList(source: string): WordList | null {
	const [, list] = wordList.exec(source) ?? [];
	if (list === undefined) return null;
	const words = list.split("|");
	const longest = words.reduce((most, { length }) => Math.max(most, length), 0);
	// Conditions around the list; the group and its flag take no instructions.
	const around = Math.max(0, source.length - list.length - 8);
	const steps = 2 * (words.length + longest + around) + 10;
	// With conditions such as `\b`, a state also depends on the last character.
	const states = (list.length + words.length) * (/[\\^$]/.test(source) ? 2 : 1);
	// The other characters between two listed ones form one class.
	const kinds = 2 * new Set(list + list.toLowerCase() + list.toUpperCase()).size + 12;
	const bytes = states * (200 + 8 * (kinds + steps));
	return bytes > rememberedBytes ? null : { transitions: states * kinds, steps };
}
