import { diffArrays } from "diff";

export interface DiffLine {
	readonly kind: "same" | "added" | "removed";
	readonly text: string;
	readonly old: number | null;
	readonly fresh: number | null;
}

/** By their longest common part; for very long texts only the equal ends. */
export function diffLines(before: string, after: string, oldStart = 1, newStart = 1): DiffLine[] {
	// Line ends with a carriage return are only worth showing where they change.
	const isUniform = [before, after].every((text) => !/(?:^|[^\r])\n/.test(text));
	const linesOf = (text: string) =>
		text === "" ? [] : text.replace(isUniform ? /\r?\n$/ : /\n$/, "").split(isUniform ? "\r\n" : "\n");
	const old = linesOf(before);
	const fresh = linesOf(after);
	let head = 0;
	while (head < old.length && head < fresh.length && old[head] === fresh[head]) head += 1;
	let tail = 0;
	while (tail < old.length - head && tail < fresh.length - head && old.at(-1 - tail) === fresh.at(-1 - tail)) tail += 1;
	const a = old.slice(head, old.length - tail);
	const b = fresh.slice(head, fresh.length - tail);
	const lines: DiffLine[] = [];
	let [left, right] = [oldStart, newStart];
	const add = (kind: DiffLine["kind"], text: string) => {
		lines.push({ kind, text, old: kind === "added" ? null : left, fresh: kind === "removed" ? null : right });
		if (kind !== "added") left += 1;
		if (kind !== "removed") right += 1;
	};
	for (const text of old.slice(0, head)) add("same", text);
	if (a.length * b.length > 400_000) {
		for (const text of a) add("removed", text);
		for (const text of b) add("added", text);
	} else {
		for (const { value, added, removed } of diffArrays(a, b)) {
			for (const text of value) add(added ? "added" : removed ? "removed" : "same", text);
		}
	}
	for (const text of tail === 0 ? [] : old.slice(-tail)) add("same", text);
	return lines;
}

export function countLines(lines: readonly DiffLine[]): { readonly added: number; readonly removed: number } {
	return {
		added: lines.filter(({ kind }) => kind === "added").length,
		removed: lines.filter(({ kind }) => kind === "removed").length,
	};
}

/** Parts with changes and three lines around them. */
export function hunks(lines: readonly DiffLine[]): (readonly DiffLine[])[] {
	const found: DiffLine[][] = [];
	let last = -10;
	lines.forEach((line, index) => {
		const isNear = lines.slice(Math.max(0, index - 3), index + 4).some(({ kind }) => kind !== "same");
		if (!isNear) return;
		if (index !== last + 1) found.push([]);
		found.at(-1)?.push(line);
		last = index;
	});
	return found;
}

export interface LinePair {
	readonly left: DiffLine | null;
	readonly right: DiffLine | null;
}

export function pairs(lines: readonly DiffLine[]): LinePair[] {
	const rows: LinePair[] = [];
	let removed: DiffLine[] = [];
	let added: DiffLine[] = [];
	const flush = () => {
		for (let at = 0; at < Math.max(removed.length, added.length); at += 1) {
			rows.push({ left: removed[at] ?? null, right: added[at] ?? null });
		}
		removed = [];
		added = [];
	};
	for (const line of lines) {
		if (line.kind === "removed") removed.push(line);
		else if (line.kind === "added") added.push(line);
		else {
			flush();
			rows.push({ left: line, right: line });
		}
	}
	flush();
	return rows;
}

/** From the first to the last differing word; null when the lines have too little in common. */
export function changedPart(text: string, other: string): { readonly start: number; readonly end: number } | null {
	const shorter = Math.min(text.length, other.length);
	let start = 0;
	while (start < shorter && text[start] === other[start]) start += 1;
	let tail = 0;
	while (tail < shorter - start && text.at(-1 - tail) === other.at(-1 - tail)) tail += 1;
	let end = text.length - tail;
	const isWord = (at: number) => /\w/.test(text[at] ?? "");
	while (start > 0 && isWord(start - 1) && (isWord(start) || start === end)) start -= 1;
	while (end < text.length && end > 0 && isWord(end) && isWord(end - 1)) end += 1;
	const common = text.trim().length - (end - start);
	return end > start && common * 3 >= text.trim().length ? { start, end } : null;
}
