// The lines that differ between two texts, for people: what stays is context, shortened between changes.
import { diffArrays } from "diff";

export interface DifferenceLine {
	readonly kind: "same" | "added" | "removed" | "gap";
	readonly text: string;
	readonly oldNumber: number | null;
	readonly newNumber: number | null;
}

/** Lines of context around a change. */
const context = 3;
/** Milliseconds after which two texts count as wholly different. */
const patience = 200;

const toLines = (text: string) => (text === "" ? [] : text.replace(/\n$/, "").split("\n"));

function compare(before: string, after: string) {
	const [old, fresh] = [toLines(before), toLines(after)];
	return (
		diffArrays(old, fresh, { timeout: patience }) ?? [
			{ removed: true, added: false, value: old, count: old.length },
			{ added: true, removed: false, value: fresh, count: fresh.length },
		]
	);
}

export function countLines(before: string, after: string): { readonly added: number; readonly removed: number } {
	let added = 0;
	let removed = 0;
	for (const part of compare(before, after)) {
		if (part.added) added += part.value.length;
		else if (part.removed) removed += part.value.length;
	}
	return { added, removed };
}

/** The numbers of the first lines are those of the files that the texts are parts of. */
export function differenceLines(before: string, after: string, oldStart = 1, newStart = 1): readonly DifferenceLine[] {
	const lines: DifferenceLine[] = [];
	let [oldNumber, newNumber] = [oldStart, newStart];
	const parts = compare(before, after);
	for (const [index, { added, removed, value }] of parts.entries()) {
		const kind = added ? "added" : removed ? "removed" : "same";
		const all = value.map((text): DifferenceLine => {
			const line = {
				kind,
				text,
				oldNumber: added ? null : oldNumber,
				newNumber: removed ? null : newNumber,
			} as const;
			if (!added) oldNumber += 1;
			if (!removed) newNumber += 1;
			return line;
		});
		if (kind !== "same") lines.push(...all);
		else lines.push(...shortened(all, index === 0, index === parts.length - 1));
	}
	return lines;
}

function shortened(lines: readonly DifferenceLine[], isFirst: boolean, isLast: boolean): readonly DifferenceLine[] {
	const head = isFirst ? 0 : context;
	const tail = isLast ? 0 : context;
	if (lines.length <= head + tail + 1) return lines;
	const left = lines.length - head - tail;
	const gap = { kind: "gap", text: `${left} unchanged lines`, oldNumber: null, newNumber: null } as const;
	return [...lines.slice(0, head), gap, ...lines.slice(lines.length - tail)];
}
