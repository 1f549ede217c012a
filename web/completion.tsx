// What can follow in the prompt: commands after a slash at its beginning, files after an @.
import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { commands, findFiles } from "./store.ts";

export interface Suggestion {
	readonly label: string;
	readonly about: string;
	/** The text with it, and where the cursor then stands. */
	readonly text: string;
	readonly caret: number;
}

export interface Completion {
	readonly title: string;
	readonly items: readonly Suggestion[];
	readonly note: string | null;
}

const none: Completion = { title: "", items: [], note: null };
/** Milliseconds without a letter after which files are looked for. */
const pause = 80;

/** What can follow what stands before the cursor. */
export function useCompletion(text: string, caret: number): Completion {
	const [found, setFound] = useState<Completion>(none);
	const latest = useRef(0);
	const before = text.slice(0, caret);
	const [, command] = /^\/(\S*)$/.exec(before) ?? [];
	const [, lead, file] = /(^|[\s([{"'])@([^\s@]*)$/.exec(before) ?? [];
	const wanted = lead === undefined ? null : (file ?? "");
	useEffect(() => {
		latest.current += 1;
		const own = latest.current;
		if (wanted === null) return setFound(none);
		const timer = setTimeout(() => {
			findFiles(wanted).then(
				({ paths, isPartial }) => {
					if (own !== latest.current) return;
					const start = caret - wanted.length;
					const items = paths.slice(0, 8).map((path) => {
						const inserted = path.endsWith("/") ? path : `${path} `;
						return {
							label: path,
							about: "",
							text: text.slice(0, start) + inserted + text.slice(caret).replace(/^ /, ""),
							caret: start + inserted.length,
						};
					});
					const note = items.length === 0 ? "No file fits." : isPartial ? "Type more to narrow the list." : null;
					setFound({ title: "Files", items, note });
				},
				// The prompt can be written without it.
				() => own === latest.current && setFound(none),
			);
		}, pause);
		return () => clearTimeout(timer);
	}, [wanted, caret, text]);
	if (command === undefined) return wanted === null ? none : found;
	const items = commands.value
		.filter(({ name }) => name.startsWith(command))
		.slice(0, 8)
		.map(({ name, description }) => ({
			label: `/${name}`,
			about: description,
			text: `/${name} ${text.slice(caret)}`,
			caret: name.length + 2,
		}));
	return { title: "Commands", items, note: null };
}

interface SuggestionsProps {
	readonly completion: Completion;
	readonly chosen: number;
	readonly onTake: (suggestion: Suggestion) => void;
}

export const listId = "suggestions";

export function Suggestions({ completion, chosen, onTake }: SuggestionsProps): JSX.Element | null {
	const { title, items, note } = completion;
	if (items.length === 0 && note === null) return null;
	return (
		<div class="palette">
			<div role="listbox" id={listId} aria-label={title}>
				{items.map((item, index) => (
					<div
						key={item.label}
						id={`${listId}-${index}`}
						role="option"
						tabIndex={-1}
						aria-selected={index === chosen}
						class="suggestion"
						// The field keeps the focus.
						onMouseDown={(event) => {
							event.preventDefault();
							onTake(item);
						}}
					>
						<b>{item.label}</b> <span class="quiet">{item.about}</span>
					</div>
				))}
			</div>
			{note === null ? null : <p class="quiet">{note}</p>}
		</div>
	);
}
