// Builds Markdown from untrusted text, so that no part of it can affect what follows.

/** The text between fences that are longer than any run of backticks in it. */
export function codeBlock(text: string, language = ""): string {
	const fence = "`".repeat(Math.max(3, longestRun(text) + 1));
	return `${fence}${language}\n${text}${text === "" || text.endsWith("\n") ? "" : "\n"}${fence}`;
}

/** The text on one line as a code span. */
export function codeSpan(text: string): string {
	const line = oneLine(text);
	if (line === "") return "``";
	const fence = "`".repeat(longestRun(line) + 1);
	const capacity = line.startsWith("`") || line.endsWith("`") ? " " : "";
	return fence + capacity + line + capacity + fence;
}

/** The text with every line quoted. */
export function quote(text: string): string {
	return text
		.trim()
		.split("\n")
		.map((line) => (line === "" ? ">" : `> ${line}`))
		.join("\n");
}

/** Replaces white space and control characters by single spaces. */
export function oneLine(text: string): string {
	return text.replace(/[\s\p{Cc}]+/gu, " ").trim();
}

/** Untrusted Markdown; a code fence that it leaves open is closed. */
export function closed(markdown: string): string {
	const text = markdown.trim();
	let open: string | null = null;
	for (const line of text.split("\n")) {
		const [, fence = "", rest = ""] = /^ {0,3}(`{3,}|~{3,})(.*)$/.exec(line) ?? [];
		if (fence === "") continue;
		if (open === null) {
			if (!(fence.startsWith("`") && rest.includes("`"))) open = fence;
		} else if (fence.startsWith(open) && rest.trim() === "") open = null;
	}
	return open === null ? text : `${text}\n${open}`;
}

function longestRun(text: string): number {
	let longest = 0;
	for (const [run] of text.matchAll(/`+/g)) longest = Math.max(longest, run.length);
	return longest;
}
