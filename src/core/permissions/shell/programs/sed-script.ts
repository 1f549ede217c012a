/** Whether the script reads no file, writes none and runs nothing. */
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
