import type { ReadOptions } from "../programs/options.ts";
import { nameOf } from "../programs/program-name.ts";
import type { Assignment, SimpleCommand, Word } from "../script.ts";

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

const foreignShells = new Set("csh tcsh fish nu pwsh powershell xonsh elvish".split(" "));
/** Those that pass one word to a shell. */
const textPassing = new Set(
	(
		"npm su runuser sg newgrp watch flock script capsh parallel sem ssh mosh gdb nix tmux sops consul bws envconsul watchexec reflex xterm urxvt " +
		"konsole"
	).split(" "),
);
const readsInput = "it may start a shell that reads commands from its input";
const startsShell = /^(?:ssh|mosh|su|runuser|newgrp|sg|chroot|script)$/;

/** For a wrapper with unknown options: it runs some suffix of its words, and a shell may read a word with blanks. */
export function unwrapLoose({ words: [program, ...words], isFed }: SimpleCommand, isOneOfAll: boolean): Unwrapped {
	const name = nameOf(program?.text ?? "");
	const passesText = foreignShells.has(name) || textPassing.has(name);
	const doubts: string[] = [];
	const named = words.filter(({ text }) => !text.startsWith("-"));
	if (foreignShells.has(name)) doubts.push("its command is written for another shell than bash");
	if (isOneOfAll) return { ...nothing, doubts: isFed ? [readsInput] : [] };
	if (words.length > mostSuffixes) doubts.push("it has so many words that its program cannot be told");
	const open = words.findIndex((word) => word.kind === "dynamic" && word.mayBeOption);
	const before = words.slice(0, open).filter(({ text }) => !text.startsWith("-"));
	// The word before it may be another operand or an option value.
	const word = words[open];
	if (word?.kind === "dynamic" && before.length < 3) doubts.push(`a word that may be the program is ${word.why}`);
	if (isFed || (startsShell.test(name) && named.length < 2)) doubts.push(readsInput);
	const runs = words.slice(0, mostSuffixes).flatMap((given, index): readonly Run[] => {
		if (given.kind === "dynamic") return [];
		const attached = /^-[^=]*=(.+)$/s.exec(given.text)?.[1] ?? given.text.replace(/^-[a-zA-Z]/, "");
		if (/\s/.test(given.text) && passesText) return [scriptOf(attached.replace(/^(?:\w*command[\s=]|shell\s|!)/i, ""))];
		const isProgram = /^[\w./]/.test(attached) && attached !== ".";
		const first: Word = { kind: "literal", text: attached };
		return isProgram ? [runOf([first, ...words.slice(index + 1)], { isOneOfAll: true })] : [];
	});
	return { runs, doubts, isTransparent: false };
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
