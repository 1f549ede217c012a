// Checks that an `awk` program only computes and prints to standard output.
import type { Given } from "./form.ts";

const functions = new Set(
	(
		"length substr split sub gsub gensub match index tolower toupper sprintf int sqrt exp log sin cos atan2 rand srand print " +
		"printf if while for return strftime systime mktime asort asorti and or xor in not delete"
	).split(" "),
);
const keywords = new Set("getline system close fflush function func nextfile ARGV ARGC SYMTAB".split(" "));

/** Why the program may do more; null if it does not. */
export function awkDoubt({ operands: [program] }: Given): string | null {
	if (program === undefined) return null;
	const isPlain = program.kind === "literal" && isPlainProgram(program.text);
	return isPlain ? null : "the program of awk may run commands or write files";
}

const goesOn = /^(?:[,({]|&&|\|\|)$/;
const isValueEnd = /^(?:[\w."].*|[)\]]|\+\+|--)$/s;
const beforePattern = /^(?:printf?|return|in)$/;
const token =
	/\s+|"(?:[^"\\\n]|\\.)*"|\/(?:[^/\\\n[]|\\.|\[(?:[^\]\\]|\\.)*\])+\/|[A-Za-z_]\w*|\d[\w.]*|\.\d+|&&|\|\||[<>=!]=|\+\+|--|[-+*/%^]=|!~|[-+*/%^<>=!~?:,;{}()[\]$]/y;

export function isPlainProgram(text: string): boolean {
	token.lastIndex = 0;
	/** Depth of the current `print`, outside of whose parentheses `>` writes a file; -1 for none. */
	let printDepth = -1;
	let depth = 0;
	let last = "";
	while (token.lastIndex < text.length) {
		const [piece] = token.exec(text) ?? [];
		if (piece === undefined) return false;
		if (/^\s/.test(piece)) {
			if (piece.includes("\n") && !goesOn.test(last)) printDepth = -1;
			continue;
		}
		// A slash after a value is a division, so the text was not a pattern.
		if (/^\/./s.test(piece) && piece !== "/=" && isValueEnd.test(last) && !beforePattern.test(last)) return false;
		if (keywords.has(piece)) return false;
		if (/^[A-Za-z_]/.test(piece) && text.charAt(token.lastIndex) === "(" && !functions.has(piece)) return false;
		if (piece === "(") depth += 1;
		else if (piece === ")") depth -= 1;
		else if (piece === ";" || piece === "}" || piece === "{") printDepth = -1;
		else if (/^printf?$/.test(piece)) printDepth = depth;
		else if (piece === ">" && printDepth >= 0 && depth <= printDepth) return false;
		last = piece;
	}
	return true;
}
