// Which files known programs read and write by their words.
import type { SimpleCommand, Word } from "./script.ts";

export interface FileOperand {
	readonly operation: "read" | "write";
	readonly word: Word;
}

/** Best effort, for rules that deny paths: what is not found here may be a file nevertheless. */
export function fileOperands(_command: SimpleCommand): readonly FileOperand[] {
	return [];
}
