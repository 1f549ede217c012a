import { beginning } from "../../../base/text/well-formed.ts";

/** A word after quote removal, with escapes decoded. */
export type Word =
	| { readonly kind: "literal"; readonly text: string }
	/** Only the shell knows the value. `why` is a noun phrase; `mayBeOption`: a resulting word may start with a dash. */
	| {
			readonly kind: "dynamic";
			readonly text: string;
			readonly why: string;
			readonly mayBeOption: boolean;
			/** Whether it is quoted and so certainly becomes one word. */
			readonly isOne?: boolean;
			/** Set if it stands for files passed on by `find`. */
			readonly found?: FoundFiles;
	  };

export interface FoundFiles {
	/** Their name pattern. */
	readonly name: string;
	/** Whether they are certainly below the directory in which `find` runs. */
	readonly isNear: boolean;
}

export interface Assignment {
	readonly name: string;
	readonly value: Word;
}

/** A redirection from or to a file, not a descriptor or here-document. */
export interface Redirect {
	readonly operation: "read" | "write";
	readonly target: Word;
}

export interface SimpleCommand {
	readonly text: string;
	/** The program first; empty if there are only assignments and redirections. */
	readonly words: readonly Word[];
	readonly assignments: readonly Assignment[];
	readonly redirects: readonly Redirect[];
	/** Absolute working directory; null if an earlier `cd` leaves it open. */
	readonly cwd: string | null;
	/** Whether the script provides its input: a pipe, file or here-document. */
	readonly isFed: boolean;
	/** Whether the script declares a function or alias with the program's name. */
	readonly isDeclaredHere: boolean;
}

/** A simple command, and the commands it runs if it is a wrapper such as `env`, `timeout`, `sudo` or `sh -c`. */
export interface CommandReading {
	readonly command: SimpleCommand;
	/** Null if the program runs no program named in its words. */
	readonly inner: {
		readonly commands: readonly CommandReading[];
		/** Whether the wrapper only affects time or priority, or only parses; then it is allowed if all inner commands are. */
		readonly isTransparent: boolean;
		/** Whether a rule for the wrapper covers the whole if all inner commands are allowed. */
		readonly isFollowed: boolean;
	} | null;
}

/** A part that cannot be judged; the call at least asks. */
export interface Doubt {
	/** A clause without a full stop, such as "the program is a variable". */
	readonly why: string;
	/** Formatted by `shownPiece`. */
	readonly text: string;
}

/** A piece of a script for doubts and verdicts: at most 200 characters. */
export function shownPiece(text: string): string {
	return beginning(text, 200);
}

export interface ScriptReading {
	/** In source order, including substitutions, functions and compound commands. */
	readonly commands: readonly CommandReading[];
	readonly doubts: readonly Doubt[];
	/** The values of variables that only loops set. */
	readonly values: ReadonlyMap<string, readonly Word[]>;
}

export interface ScriptPlace {
	readonly cwd: string;
	/** The home directory, absolute, for `~`. */
	readonly home: string;
}
