// Finds words in the conversation, also in what was said before the part that is shown. Loaded when it is opened for the first time.
import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { attempt, hasEarlier, isReadingEarlier, showEarlier, tick } from "./store.ts";

/** Places that are found at most. */
const foundLimit = 1000;

export function ConversationSearch({ onClose }: { onClose: () => void }): JSX.Element {
	const [wanted, setWanted] = useState("");
	const [at, setAt] = useState(0);
	const [found, setFound] = useState<readonly Range[]>([]);
	const field = useRef<HTMLInputElement>(null);
	useEffect(() => {
		field.current?.focus();
		return () => mark([]);
	}, []);
	useEffect(() => {
		// Whatever fits may be before what is shown.
		if (wanted !== "" && hasEarlier.value && !isReadingEarlier.value) attempt(showEarlier);
		const ranges = wanted === "" ? [] : findRanges(wanted);
		mark(ranges);
		setFound(ranges);
	}, [wanted, tick.value, hasEarlier.value]);
	const go = (place: number) => {
		const next = (place + found.length) % found.length;
		setAt(next);
		const parent = found[next]?.startContainer.parentElement;
		for (let fold = parent?.closest("details"); fold; fold = fold.parentElement?.closest("details")) fold.open = true;
		parent?.scrollIntoView({ block: "center" });
		mark(found, found[next]);
	};
	return (
		<search class="find">
			<input
				ref={field}
				type="search"
				aria-label="Find in this conversation"
				placeholder="Find in this conversation"
				value={wanted}
				onInput={(event) => {
					setWanted(event.currentTarget.value);
					setAt(-1);
				}}
				onKeyDown={(event) => {
					if (event.key === "Escape") onClose();
					else if (event.key === "Enter" && found.length > 0) go(event.shiftKey ? at - 1 : at + 1);
				}}
			/>
			<span class="quiet" role="status">
				{wanted === "" ? "" : found.length === 0 ? "Not found" : `${Math.max(0, at) + 1} of ${found.length}`}
			</span>
			<button type="button" disabled={found.length === 0} onClick={() => go(at - 1)}>
				Previous
			</button>
			<button type="button" disabled={found.length === 0} onClick={() => go(at + 1)}>
				Next
			</button>
			<button type="button" onClick={onClose}>
				Close
			</button>
		</search>
	);
}

/** Where the conversation has it, in any case, within one node of text. */
function findRanges(wanted: string): Range[] {
	const column = document.querySelector(".column");
	const ranges: Range[] = [];
	if (column === null) return ranges;
	const words = wanted.toLowerCase();
	const walker = document.createTreeWalker(column, NodeFilter.SHOW_TEXT);
	for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
		const text = node.nodeValue?.toLowerCase() ?? "";
		for (let place = text.indexOf(words); place !== -1; place = text.indexOf(words, place + words.length)) {
			// Lower case can be longer than what it is of.
			if (place + words.length > (node.nodeValue?.length ?? 0) || ranges.length >= foundLimit) return ranges;
			const range = new Range();
			range.setStart(node, place);
			range.setEnd(node, place + words.length);
			ranges.push(range);
		}
	}
	return ranges;
}

/** Marks what was found, without changing the conversation. */
function mark(ranges: readonly Range[], current?: Range): void {
	CSS.highlights.set("found", new Highlight(...ranges));
	CSS.highlights.set("found-now", new Highlight(...(current === undefined ? [] : [current])));
}
