// What a program runs in turn: words as a command, or text as a script.
import type { ReadOptions } from "../programs/options.ts";
import type { Assignment, Word } from "../script.ts";

interface RunPlace {
	/** The wrapper's directory, or any. */
	readonly directory: "same" | "open";
	/** Whether it can change the directory of the shell that runs the wrapper. */
	readonly isInThisShell: boolean;
	/** Whether every suffix of the words is a run, because the wrapper's options are unknown. */
	readonly isOneOfAll: boolean;
}

export type Run = RunPlace &
	(
		| {
				readonly kind: "command";
				readonly words: readonly Word[];
				readonly assignments: readonly Assignment[];
				/** The literal part of the words, for display. */
				readonly text: string;
		  }
		| { readonly kind: "script"; readonly text: string }
	);

export interface Unwrapped {
	readonly runs: readonly Run[];
	/** Clauses without a full stop. */
	readonly doubts: readonly string[];
	/** Whether the wrapper is allowed if all runs are. */
	readonly isTransparent: boolean;
	/** Whether a rule for the wrapper covers it if all runs are allowed, as for transparent wrappers. */
	readonly isFollowed?: boolean;
}

export const nothing: Unwrapped = { runs: [], doubts: [], isTransparent: false };

/** Maximum number of words that may each be the program. */
const mostSuffixes = 64;

/** For a wrapper with unknown options: it runs some suffix of its words. */
export function unwrapLoose(words: readonly Word[], isOneOfAll: boolean): Unwrapped {
	if (isOneOfAll) return nothing;
	const doubts = doubtOfSuffixes(words);
	const open = words.findIndex((word) => word.kind === "dynamic" && word.mayBeOption);
	const before = words.slice(0, open).filter(({ text }) => !text.startsWith("-"));
	// The word before it may be another operand or an option value.
	const word = words[open];
	if (word?.kind === "dynamic" && before.length < 2) doubts.push(`a word that may be the program is ${word.why}`);
	return { runs: suffixes(words), doubts, isTransparent: false };
}

export function suffixes(words: readonly Word[]): Run[] {
	return words.slice(0, mostSuffixes).flatMap((word, index) => {
		const isProgram = word.kind === "literal" && /^[\w./]/.test(word.text);
		return isProgram ? [runOf(words.slice(index), { isOneOfAll: true })] : [];
	});
}

export function doubtOfSuffixes(words: readonly Word[]): string[] {
	return words.length > mostSuffixes ? ["it has so many words that its program cannot be told"] : [];
}

export function runOf(
	words: readonly Word[],
	place: Partial<RunPlace> & { assignments?: readonly Assignment[] } = {},
): Run {
	const text = words.map((word) => word.text).join(" ");
	return {
		kind: "command",
		words,
		text,
		assignments: [],
		directory: "same",
		isInThisShell: false,
		isOneOfAll: false,
		...place,
	};
}

export function scriptOf(text: string, isInThisShell = false): Run {
	return { kind: "script", text, directory: "same", isInThisShell, isOneOfAll: false };
}

export function doubtOfOptions({ unclear }: ReadOptions): string[] {
	if (unclear === null) return [];
	return [unclear.kind === "dynamic" ? `an option is ${unclear.why}` : `the option ${unclear.text} is not known`];
}

export function joinLiteral(words: readonly Word[]): string | null {
	return words.every((word) => word.kind === "literal") ? words.map((word) => word.text).join(" ") : null;
}
