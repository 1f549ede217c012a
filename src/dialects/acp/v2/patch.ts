// A changed piece of a file as a patch that clients render.

export interface ChangedText {
	/** Absolute. */
	readonly path: string;
	/** Null for a new file. */
	readonly oldText: string | null;
	readonly newText: string;
}

/** A patch with one hunk, which takes the old lines away and adds the new ones. Lines count from that of the piece. */
export function toPatch({ path, oldText, newText }: ChangedText): string {
	const name = path.replace(/^\/+/, "");
	const removed = oldText === null ? [] : toLines(oldText);
	const added = toLines(newText);
	const before = oldText === null ? "/dev/null" : `a/${name}`;
	const header = [`diff --git a/${name} b/${name}`, ...(oldText === null ? ["new file mode 100644"] : [])];
	return [
		...header,
		`--- ${before}`,
		`+++ b/${name}`,
		`@@ -${range(removed.length)} +${range(added.length)} @@`,
		...removed.map((line) => `-${line}`),
		...added.map((line) => `+${line}`),
		"",
	].join("\n");
}

const range = (lines: number) => `${lines === 0 ? 0 : 1},${lines}`;

function toLines(text: string): readonly string[] {
	if (text === "") return [];
	return (text.endsWith("\n") ? text.slice(0, -1) : text).split("\n");
}
