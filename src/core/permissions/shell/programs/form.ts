import type { Word } from "../script.ts";
import type { ReadOption } from "./options.ts";

/** How a program uses operands. "run": executes them, or the first one if options precede it; "list": shows names and dates. */
export type Operands =
	| "none"
	| "list"
	| "read"
	| "write"
	| "both"
	| "read, last written"
	| "read, second written"
	| "run";

export interface Given {
	readonly options: readonly ReadOption[];
	readonly operands: readonly Word[];
	/** Words that only the shell knows, and that may be options. */
	readonly open?: readonly Word[];
}

export interface Form {
	/** The options that a prefix rule covers. Suffix: `r` reads, `w` writes, `d` writes below, `x` decides what runs. */
	readonly options?: string;
	/** Known options that a rule must name. */
	readonly others?: string;
	/** Whether all options of the program are harmless. */
	readonly anyOption?: true;
	/** Whether options only precede the first operand and the later words do not matter. */
	readonly optionsFirst?: true;
	readonly isSingleDash?: true;
	readonly reads?: true | ((given: Given) => boolean);
	readonly files?: Operands;
	/** The number of leading operands that are not files, and the options that replace them. */
	readonly skips?: number;
	readonly instead?: string;
	readonly moreFiles?: (given: Given) => readonly FileOperand[];
	readonly hasRevisions?: true;
	/** Whether it reads the content of files not named in its words. */
	readonly readsOthers?: true | ((given: Given) => boolean);
	readonly most?: number;
	/** What every operand and option value must match. */
	readonly operand?: RegExp;
	readonly value?: RegExp;
	/** Why the form does not cover the command, as a clause; null if it does. */
	readonly judge?: (given: Given) => string | null;
	readonly tail?: Form;
	readonly verbs?: Readonly<Record<string, Form>>;
	readonly isNamed?: true;
	/** Whether a session approval includes the first operand, which selects the operation. */
	readonly isVerb?: true;
	/** Whether a session approval covers only these words. */
	readonly isExact?: true;
	/** Rearranges the words into option order. */
	readonly spread?: (words: readonly Word[]) => readonly Word[];
	/** The form of a part of the words, for programs that run others by name; null for the form itself. */
	readonly delegate?: (words: readonly Word[]) => { readonly form: Form; readonly words: readonly Word[] } | null;
}

export interface FileOperand {
	readonly operation: "read" | "write";
	readonly word: Word;
	/** Whether only its name and dates are read. */
	readonly isListed?: true;
	/** Whether it is executed, or decides what is. */
	readonly isRun?: true;
}
