// A form of a program: the options and operands that are known to do no more than the program is known for.
import type { Word } from "../script.ts";
import type { ReadOption } from "./options.ts";

/** What a program does with its operands. "run" is a file that it executes; "list" shows names and dates only. */
export type Operands =
	| "none"
	| "list"
	| "read"
	| "write"
	| "both"
	| "read, last written"
	| "read, second written"
	| "run";

/** The words of a command in a known form. */
export interface Given {
	readonly options: readonly ReadOption[];
	readonly operands: readonly Word[];
	/** Words that may be options, or anything else: only the shell knows. */
	readonly open?: readonly Word[];
}

export interface Form {
	/**
	 * The options that a prefix rule covers, as `optionTable` reads them. The value of one that ends in `r`, `w` or `d` is a
	 * file that is read, a file that is written, or a directory that is written to.
	 */
	readonly options?: string;
	/** Known options that only a rule that names them covers. */
	readonly others?: string;
	/** Whether no option of the program makes it do anything else. */
	readonly anyOption?: true;
	/** Whether options only stand before the first operand, and the words after it are of no concern. */
	readonly optionsFirst?: true;
	readonly isSingleDash?: true;
	/** Whether it changes nothing and runs nothing. */
	readonly reads?: true | ((given: Given) => boolean);
	readonly files?: Operands;
	/** How many operands at the start are no files, and the options that hold them instead. */
	readonly skips?: number;
	readonly instead?: string;
	readonly moreFiles?: (given: Given) => readonly FileOperand[];
	/** Whether operands may be `REVISION:PATH`. */
	readonly hasRevisions?: true;
	/** Whether it reads the content of files that its words do not name. */
	readonly readsOthers?: true | ((given: Given) => boolean);
	readonly most?: number;
	/** What every operand must be, and every value of an option. */
	readonly operand?: RegExp;
	readonly value?: RegExp;
	/** Why the command is more than the form covers, as a clause; null if it is not. */
	readonly judge?: (given: Given) => string | null;
	/** The form of the words after `--`. */
	readonly tail?: Form;
	/** By the next operand. */
	readonly verbs?: Readonly<Record<string, Form>>;
	/** Whether only a rule that names its verb covers it. */
	readonly isNamed?: true;
	/** Whether an approval for the session names the first operand, which says what is done. */
	readonly isVerb?: true;
	/** Whether an approval for the session covers these words only. */
	readonly isExact?: true;
	/** Puts the words in the order in which options are read. */
	readonly spread?: (words: readonly Word[]) => readonly Word[];
	/** The form of some of the words, for programs that run others by name; null for the form itself. */
	readonly delegate?: (words: readonly Word[]) => { readonly form: Form; readonly words: readonly Word[] } | null;
}

export interface FileOperand {
	readonly operation: "read" | "write";
	readonly word: Word;
	/** Whether only its name and dates are read. */
	readonly isListed?: true;
}
