// The scripts among the words of `sed`, and which of them only print, delete and replace.
import type { Word } from "../script.ts";

/** The scripts among the words after the program. */
export function sedScripts(words: readonly Word[]): readonly Word[] {
	const scripts: Word[] = [];
	const operands: Word[] = [];
	for (let index = 0; index < words.length; index += 1) {
		const word = words[index];
		if (word === undefined) break;
		const expression = /^(?:-[nErszu]*e|--expression=|--expression$)(.*)$/s.exec(
			word.kind === "literal" ? word.text : "",
		);
		if (expression !== null) {
			const attached = expression[1] ?? "";
			const isWhole = attached === "" && !word.text.endsWith("=");
			if (isWhole) index += 1;
			scripts.push(isWhole ? (words[index] ?? word) : { kind: "literal", text: attached });
		} else if (word.kind === "dynamic" || !/^-./.test(word.text)) operands.push(word);
	}
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
