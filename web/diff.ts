// Changes of texts, line by line.
import { diffArrays } from "diff";

export interface DiffLine {
	readonly kind: "same" | "added" | "removed";
	readonly text: string;
	readonly old: number | null;
	readonly fresh: number | null;
}

/** The lines of two texts, by their longest common part; of very long ones only the ends that are alike. */
export function diffLines(before: string, after: string, oldStart = 1, newStart = 1): DiffLine[] {
	const old = before === "" ? [] : before.replace(/\n$/, "").split("\n");
	const fresh = after === "" ? [] : after.replace(/\n$/, "").split("\n");
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
