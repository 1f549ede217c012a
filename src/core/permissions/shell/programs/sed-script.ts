// The scripts among the words of `sed`, and which of them only print, delete and replace.
import type { Word } from "../script.ts";
import { type ReadArguments, readAllOptions } from "./options.ts";

/** The options of `sed`, of which those that an older one does not have are unclear. */
export function readSedOptions(words: readonly Word[]): ReadArguments {
	return readAllOptions(words, {
		flags: "nErsuzb",
		attached: "i",
		valued: "efl",
		longFlags: (
			"quiet silent regexp-extended separate unbuffered null-data zero-terminated binary posix sandbox debug " +
			"follow-symlinks in-place help version"
		).split(" "),
		longValued: ["expression", "file", "line-length"],
	});
}

/** The scripts among the words after the program. */
export function sedScripts(words: readonly Word[]): readonly Word[] {
	const { options, operands } = readSedOptions(words);
	const scripts = options.flatMap(({ name, value }) =>
		(name === "e" || name === "expression") && value !== null ? [value] : [],
	);
	return scripts.length > 0 ? scripts : operands.slice(0, 1);
}

/** Whether a script consists of commands that read no file, write none and run nothing. */
export function isPlainSedScript(script: string): boolean {
	let rest = script.trim();
	while (rest !== "") {
		const address =
			/^(?:(?:\d+|\$|\/(?:[^/\\\n[]|\\[^\n])*\/I?)(?:\s*[,~]\s*\+?(?:\d+|\$|\/(?:[^/\\\n[]|\\[^\n])*\/I?))?)?\s*!?\s*/.exec(
				rest,
			);
		rest = rest.slice(address?.[0].length ?? 0);
		const command =
			/^(?:[pdPDqQ=hHgGxnNl]|s([^\w\s\\])(?:(?!\1)[^\\\n[]|\\[^\n])*\1(?:(?!\1)[^\\\n]|\\[^\n])*\1[gpiIM\d]*|y\/[^/\\\n]*\/[^/\\\n]*\/)\s*(?:[;\n]\s*|$)/.exec(
				rest,
			);
		if (command === null) return false;
		rest = rest.slice(command[0].length);
	}
	return script.trim() !== "";
}
