// What a shell script would run, as data: simple commands with their words, assignments and redirections. Rules judge
// this and never the text, as one text can be written in many ways.
import { beginning } from "../../../base/text/well-formed.ts";

/** A word after quote removal, with its escapes decoded. */
export type Word =
	| { readonly kind: "literal"; readonly text: string }
	/**
	 * Only the shell that runs it knows what it becomes: it has an expansion, a pattern for file names, braces or a
	 * tilde. `text` is as written; `why` is a noun phrase such as "a variable". `mayBeOption` says whether one of the
	 * words that it becomes may start with a dash.
	 */
	| {
			readonly kind: "dynamic";
			readonly text: string;
			readonly why: string;
			readonly mayBeOption: boolean;
			/** Whether it certainly becomes one word, as it is quoted. */
			readonly isOne?: boolean;
			/** Set where it stands for files that `find` passes on. */
			readonly found?: FoundFiles;
	  };

/** Files that `find` passes on. */
export interface FoundFiles {
	/** The pattern of their names. */
	readonly name: string;
	/** Whether they are certainly below the directory that `find` runs in. */
	readonly isNear: boolean;
}

export interface Assignment {
	readonly name: string;
	readonly value: Word;
}

/** A redirection from or to a file; those of descriptors and here-documents have no file. */
export interface Redirect {
	readonly operation: "read" | "write";
	readonly target: Word;
}

export interface SimpleCommand {
	/** As written, for people. */
	readonly text: string;
	/** The program first; empty for assignments and redirections without a program. */
	readonly words: readonly Word[];
	readonly assignments: readonly Assignment[];
	readonly redirects: readonly Redirect[];
	/** The directory it runs in, absolute; null when an earlier `cd` leaves it open. */
	readonly cwd: string | null;
	/** Whether the script gives it an input: a pipe, a file or a here-document. */
	readonly isFed: boolean;
	/** Whether the script itself declares a function or an alias of the program's name. */
	readonly isDeclaredHere: boolean;
}

/** A simple command, and what it runs in turn when it is a wrapper such as `env`, `timeout`, `sudo` or `sh -c`. */
export interface CommandReading {
	readonly command: SimpleCommand;
	/** Null when the program runs no other program that its words name. */
	readonly inner: {
		readonly commands: readonly CommandReading[];
		/**
		 * Whether the wrapper changes nothing but the time or the priority of what it runs, or only parses it: then
		 * what allows all inner commands allows the whole.
		 */
		readonly isTransparent: boolean;
		/** Whether a rule for the wrapper covers the whole where all inner commands are allowed. */
		readonly isFollowed: boolean;
	} | null;
}

/** Something that cannot be judged: the call is asked at least. */
export interface Doubt {
	/** A clause without full stop, such as "the program is a variable". */
	readonly why: string;
	/** As `shownPiece` gives it. */
	readonly text: string;
}

/** A piece of a script as doubts and verdicts show it: at most 200 characters. */
export function shownPiece(text: string): string {
	return beginning(text, 200);
}

export interface ScriptReading {
	/** In the order written; those within substitutions, functions and compound commands as well. */
	readonly commands: readonly CommandReading[];
	readonly doubts: readonly Doubt[];
	/** The words that variables of loops stand for, of those that nothing else sets. */
	readonly values: ReadonlyMap<string, readonly Word[]>;
}

/** Where a script would run. */
export interface ScriptPlace {
	/** Absolute. */
	readonly cwd: string;
	/** The home directory, absolute, for `~`. */
	readonly home: string;
}
