export interface ChangedText {
	readonly path: string;
	readonly oldText: string | null;
	readonly newText: string;
}

const unended = "\\ No newline at end of file";

/** A one-hunk patch; line numbers start at the piece. One side may lack its final newline. */
export function toPatch({ path, oldText, newText }: ChangedText): string {
	const name = path.replace(/^\/+/, "");
	const isEndShown = isEnded(oldText) !== isEnded(newText) && !isEmpty(oldText) && !isEmpty(newText);
	const toLines = (text: string | null) => linesOf(isEndShown && isEnded(text) ? text?.slice(0, -1) : text);
	const removed = toLines(oldText);
	const added = toLines(newText);
	const mark = (text: string | null) => (isEndShown && !isEnded(text) ? [unended] : []);
	const before = oldText === null ? "/dev/null" : `a/${name}`;
	const header = [`diff --git a/${name} b/${name}`, ...(oldText === null ? ["new file mode 100644"] : [])];
	return [
		...header,
		`--- ${before}`,
		`+++ b/${name}`,
		`@@ -${range(removed.length)} +${range(added.length)} @@`,
		...removed.map((line) => `-${line}`),
		...mark(oldText),
		...added.map((line) => `+${line}`),
		...mark(newText),
		"",
	].join("\n");
}

const range = (lines: number) => `${lines === 0 ? 0 : 1},${lines}`;

const isEnded = (text: string | null) => text?.endsWith("\n") === true;
const isEmpty = (text: string | null) => text === null || text === "";

function linesOf(text: string | null | undefined): readonly string[] {
	return text === null || text === undefined || text === "" ? [] : text.split("\n");
}
