// What a program runs in turn: other words as a command, or a text as a script.
import type { ReadOptions } from "../programs/options.ts";
import type { Assignment, Word } from "../script.ts";

interface RunPlace {
	/** Where it runs: where the wrapper does, or anywhere. */
	readonly directory: "same" | "open";
	/** Whether it can move the shell that runs the wrapper. */
	readonly isInThisShell: boolean;
	/** Whether every end of its words is a run as well, since the wrapper's options are not known. */
	readonly isOneOfAll: boolean;
}

export type Run = RunPlace &
	(
		| {
				readonly kind: "command";
				readonly words: readonly Word[];
				readonly assignments: readonly Assignment[];
				/** The words as far as they are literal, for people. */
				readonly text: string;
		  }
		| { readonly kind: "script"; readonly text: string }
	);

export interface Unwrapped {
	readonly runs: readonly Run[];
	/** Clauses without full stop. */
	readonly doubts: readonly string[];
	/** Whether what allows all runs allows the wrapper. */
	readonly isTransparent: boolean;
	/** Whether a rule for the wrapper covers it where all runs are allowed; as transparent wrappers are. */
	readonly isFollowed?: boolean;
}

export const nothing: Unwrapped = { runs: [], doubts: [], isTransparent: false };

/** Words of which each may be the program. */
const mostSuffixes = 64;

/** For a wrapper whose options are not known: what it runs is one of the ends of its words. */
export function unwrapLoose(words: readonly Word[], isOneOfAll: boolean): Unwrapped {
	if (isOneOfAll) return nothing;
	const doubts = doubtOfSuffixes(words);
	const open = words.findIndex((word) => word.kind === "dynamic" && word.mayBeOption);
	const before = words.slice(0, open).filter(({ text }) => !text.startsWith("-"));
	// One word before it may be another operand or the value of an option.
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
