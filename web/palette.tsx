// Everything that can be reached, by a few letters: sessions, and what can be done. Loaded when it is opened for the first time.
import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { visibleText } from "../src/base/text/visible-text.ts";
import { switchDiffs } from "./diff-view.tsx";
import { chooseTheme, nextTheme } from "./sessions.tsx";
import {
	access,
	archive,
	attempt,
	conversation,
	create,
	currentId,
	forking,
	mode,
	model,
	models,
	modes,
	open,
	sessions,
	setMode,
	setModel,
	startDemo,
	stop,
	workDir,
} from "./store.ts";
import { modeNames } from "./switches.tsx";

interface Entry {
	readonly label: string;
	readonly about: string;
	readonly run: () => void;
}

interface PaletteProps {
	readonly onClose: () => void;
	readonly onKeys: () => void;
	readonly onDetails: () => void;
}

/** At most so many are shown. */
const shownLimit = 12;

export function Palette({ onClose, onKeys, onDetails }: PaletteProps): JSX.Element {
	const [query, setQuery] = useState("");
	const [chosen, setChosen] = useState(0);
	const dialog = useRef<HTMLDialogElement>(null);
	useEffect(() => dialog.current?.showModal(), []);
	const found = rank([...actions(onKeys, onDetails), ...sessionEntries()], query).slice(0, shownLimit);
	const at = Math.min(chosen, found.length - 1);
	const run = (entry: Entry | undefined) => {
		if (entry === undefined) return;
		dialog.current?.close();
		entry.run();
	};
	const onKey = (event: KeyboardEvent) => {
		if (event.isComposing || found.length === 0) return;
		if (event.key === "ArrowDown") setChosen((at + 1) % found.length);
		else if (event.key === "ArrowUp") setChosen((at + found.length - 1) % found.length);
		else if (event.key === "Enter") run(found[at]);
		else return;
		event.preventDefault();
	};
	return (
		<dialog ref={dialog} class="switcher" aria-label="Go to or do" onClose={onClose}>
			<input
				role="combobox"
				aria-label="Session or command"
				aria-expanded={true}
				aria-controls="palette-list"
				aria-activedescendant={found.length === 0 ? undefined : `palette-${at}`}
				placeholder="Go to a session, or run a command"
				value={query}
				autoFocus
				onInput={(event) => {
					setQuery(event.currentTarget.value);
					setChosen(0);
				}}
				onKeyDown={onKey}
			/>
			<div role="listbox" id="palette-list" aria-label="Sessions and commands">
				{found.map((entry, index) => (
					<div
						key={entry.label + entry.about}
						id={`palette-${index}`}
						role="option"
						tabIndex={-1}
						class="suggestion"
						aria-selected={index === at}
						onClick={() => run(entry)}
						onKeyDown={onKey}
					>
						<span class="label">{entry.label}</span> <span class="quiet">{entry.about}</span>
					</div>
				))}
			</div>
			{found.length === 0 ? <p class="quiet">No match.</p> : null}
		</dialog>
	);
}

function sessionEntries(): Entry[] {
	return (sessions.value ?? []).map((row) => ({
		label: row.title === "" ? "Untitled" : visibleText(row.title),
		about: row.workDir,
		run: () => open(row.id),
	}));
}

function actions(onKeys: () => void, onDetails: () => void): Entry[] {
	const always: Entry[] = [
		{ label: "Show the keyboard shortcuts", about: "?", run: onKeys },
		{ label: "Switch the view of changes", about: "side by side or unified", run: switchDiffs },
		{ label: "Change the colors", about: `to ${nextTheme()}`, run: () => chooseTheme(nextTheme()) },
	];
	const isOpen = currentId.value !== null;
	const looking: Entry[] = isOpen ? [{ label: "Show or hide details", about: "", run: onDetails }] : [];
	if (access.value !== "control") return [...looking, ...always];
	const anywhere: Entry[] = [
		{
			label: "New session here",
			about: workDir.value,
			run: () => attempt(() => create(workDir.value)),
		},
		{ label: "Demo session", about: "with a scripted model, without a key", run: () => attempt(startDemo) },
	];
	if (!isOpen) return [...anywhere, ...always];
	const options = models.value?.options ?? [];
	const thinks = options.find(({ alias }) => alias === model.value?.alias)?.thinking === "optional";
	const thinking = model.value?.thinking === true;
	return [
		...(conversation.isRunning ? [{ label: "Stop", about: "Esc Esc", run: () => attempt(stop) }] : []),
		...anywhere,
		...looking,
		{
			label: "Fork this session",
			about: "continue in a copy",
			run: () => (forking.value = { before: null, prompt: "" }),
		},
		{ label: "Archive this session", about: "its files stay", run: () => attempt(archive) },
		...modes.value
			.filter((each) => each !== mode.value)
			.map((each) => ({
				label: `Mode: ${modeNames[each]}`,
				about: "",
				run: () => attempt(() => setMode(each)),
			})),
		...options
			.filter(({ alias }) => alias !== model.value?.alias)
			.map(({ alias, name }) => ({
				label: `Model: ${alias}`,
				about: name === alias ? "" : name,
				run: () => attempt(() => setModel(alias, null)),
			})),
		...(thinks
			? [
					{
						label: `Thinking ${thinking ? "off" : "on"}`,
						about: "",
						run: () => attempt(() => setModel(null, !thinking)),
					},
				]
			: []),
		...always,
	];
}

/** Those with all words of the query, the ones that begin with it first. */
function rank(entries: readonly Entry[], query: string): Entry[] {
	const words = query.toLowerCase().split(/\s+/).filter(Boolean);
	const fitting = entries.filter(({ label, about }) =>
		words.every((word) => `${label} ${about}`.toLowerCase().includes(word)),
	);
	const begins = ({ label }: Entry) => (words[0] !== undefined && label.toLowerCase().startsWith(words[0]) ? 0 : 1);
	return fitting.sort((one, other) => begins(one) - begins(other));
}
