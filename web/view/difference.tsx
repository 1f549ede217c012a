// A change of a file: lines that go and come, in one column, or in two where there is room.
import { useMemo, useState } from "preact/hooks";
import type { DiffShown } from "../model/blocks.ts";
import { countLines, type DifferenceLine, differenceLines } from "../text/line-difference.ts";

/** Lines of a change that are shown at first. */
const linesShown = 60;

export function Difference({ diff }: { readonly diff: DiffShown }) {
	const { path, old_text: before, new_text: after, old_start: oldStart, new_start: newStart } = diff;
	const [isWhole, setWhole] = useState(false);
	const lines = useMemo(() => differenceLines(before, after, oldStart, newStart), [before, after, oldStart, newStart]);
	const { added, removed } = useMemo(() => countLines(before, after), [before, after]);
	const shown = isWhole ? lines : lines.slice(0, linesShown);
	const left = lines.length - shown.length;
	return (
		<div class="difference">
			<div class="difference-head">
				<code>{path}</code>
				<Counts added={added} removed={removed} />
			</div>
			<div class="difference-lines" role="region" aria-label={`Changes of ${path}`} tabIndex={0}>
				<table>
					<tbody>
						{shown.map((line, index) => (
							<Line key={index} line={line} />
						))}
					</tbody>
				</table>
			</div>
			{left > 0 && (
				<button type="button" class="more" onClick={() => setWhole(true)}>
					Show {left} more lines
				</button>
			)}
		</div>
	);
}

const signs = { added: "+", removed: "−", same: " ", gap: "⋯" } as const;

function Line({ line: { kind, text, oldNumber, newNumber } }: { readonly line: DifferenceLine }) {
	return (
		<tr class={kind}>
			<td class="number">{oldNumber ?? ""}</td>
			<td class="number">{newNumber ?? ""}</td>
			<td class="sign">{signs[kind]}</td>
			<td class="line">{text}</td>
		</tr>
	);
}

export function Counts({ added, removed }: { readonly added: number; readonly removed: number }) {
	return (
		<span class="counts">
			<span class="added">+{added}</span> <span class="removed">−{removed}</span>
		</span>
	);
}
