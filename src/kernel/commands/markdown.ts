// Builds Markdown from untrusted text so that none of it can affect what follows.

export function codeBlock(text: string, language = ""): string {
	const fence = "`".repeat(Math.max(3, longestRun(text) + 1));
	return `${fence}${language}\n${text}${text === "" || text.endsWith("\n") ? "" : "\n"}${fence}`;
}

export function codeSpan(text: string): string {
	const line = oneLine(text);
	if (line === "") return "``";
	const fence = "`".repeat(longestRun(line) + 1);
	const capacity = line.startsWith("`") || line.endsWith("`") ? " " : "";
	return fence + capacity + line + capacity + fence;
}

export function* quote(text: string): Generator<string> {
	let separator = "";
	for (const line of linesOf(text.trim())) {
		yield line === "" ? `${separator}>` : `${separator}> ${line}`;
		separator = "\n";
	}
}

/** Replaces white space and control characters by single spaces. */
export function oneLine(text: string): string {
	return text.replace(/[\s\p{Cc}]+/gu, " ").trim();
}

/** Characters per piece, unless a line is longer. */
const pieceLength = 64 * 1024;

/** Untrusted Markdown in pieces. Closes a code fence that it leaves open. */
export function* closed(markdown: string): Generator<string> {
	const text = markdown.trim();
	let open: string | null = null;
	let done = 0;
	let position = 0;
	for (const line of linesOf(text)) {
		open = fenceAfter(line, open);
		position += line.length + 1;
		if (position - done < pieceLength || position > text.length) continue;
		yield text.slice(done, position);
		done = position;
	}
	yield text.slice(done);
	if (open !== null) yield `\n${open}`;
}

function fenceAfter(line: string, open: string | null): string | null {
	const [, fence = "", rest = ""] = /^ {0,3}(`{3,}|~{3,})(.*)$/.exec(line) ?? [];
	if (fence === "") return open;
	if (open === null) return fence.startsWith("`") && rest.includes("`") ? null : fence;
	return fence.startsWith(open) && rest.trim() === "" ? null : open;
}

/** Lazy: as a list, millions of short lines would block other work. */
function* linesOf(text: string): Generator<string> {
	let start = 0;
	for (let end = text.indexOf("\n"); end !== -1; end = text.indexOf("\n", start)) {
		yield text.slice(start, end);
		start = end + 1;
	}
	yield text.slice(start);
}

function longestRun(text: string): number {
	let longest = 0;
	for (const [run] of text.matchAll(/`+/g)) longest = Math.max(longest, run.length);
	return longest;
}
