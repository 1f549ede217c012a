// How a session begins: with a task, in a recent directory or one that is typed and completed.
import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { ideas } from "./log.tsx";
import { access, attempt, create, findDirectories, sessions } from "./store.ts";

/** Milliseconds without a letter after which directories are looked for. */
const pause = 80;
const recentLimit = 5;

export function NewSession(): JSX.Element {
	const [task, setTask] = useState("");
	const [typed, setTyped] = useState("");
	const [found, setFound] = useState<readonly string[]>([]);
	const [chosen, setChosen] = useState(-1);
	const latest = useRef(0);
	const mayCreate = access.value === "control";
	const recent = [...new Set(sessions.value?.map(({ workDir }) => workDir))].slice(0, recentLimit);
	useEffect(() => {
		latest.current += 1;
		const own = latest.current;
		setChosen(-1);
		if (typed === "") return setFound([]);
		const timer = setTimeout(() => {
			findDirectories(typed).then(
				({ directories }) => own === latest.current && setFound(directories),
				// The path can be typed without it.
				() => setFound([]),
			);
		}, pause);
		return () => clearTimeout(timer);
	}, [typed]);
	const begin = (directory: string) => attempt(() => create(directory, task.trim()));
	const take = (directory: string) => setTyped(`${directory}/`);
	const onKey = (event: KeyboardEvent) => {
		const { length } = found;
		const at = found[Math.max(0, chosen)];
		if (event.isComposing || at === undefined) return;
		if (event.key === "ArrowDown") setChosen((chosen + 1) % length);
		else if (event.key === "ArrowUp") setChosen((chosen + length) % length);
		else if (event.key === "Escape") setFound([]);
		else if (event.key === "Tab" && !event.shiftKey) take(at);
		else if (event.key === "Enter" && chosen >= 0) take(at);
		else return;
		event.preventDefault();
	};
	return (
		<form
			class="new-session"
			onSubmit={(event) => {
				event.preventDefault();
				begin(typed.trim());
			}}
		>
			<textarea
				rows={3}
				dir="auto"
				aria-label="First message"
				placeholder="Describe a task"
				value={task}
				disabled={!mayCreate}
				onInput={(event) => setTask(event.currentTarget.value)}
				onKeyDown={(event) => {
					if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
					event.preventDefault();
					begin(typed.trim());
				}}
			/>
			<ul class="ideas" aria-label="Examples">
				{ideas.map((idea) => (
					<li key={idea}>
						<button type="button" disabled={!mayCreate} onClick={() => setTask(idea)}>
							{idea}
						</button>
					</li>
				))}
			</ul>
			{recent.length === 0 ? null : <p>Begin in a recent directory</p>}
			{recent.length === 0 ? null : (
				<ul aria-label="Recent directories">
					{recent.map((directory) => (
						<li key={directory}>
							<button type="button" disabled={!mayCreate} onClick={() => begin(directory)}>
								<b>{directory.split("/").at(-1)}</b> <span class="quiet mono">{directory}</span>
							</button>
						</li>
					))}
				</ul>
			)}
			<label>
				{recent.length === 0 ? "Project directory" : "Another directory"}
				<input
					class="mono"
					role="combobox"
					aria-autocomplete="list"
					aria-expanded={found.length > 0}
					aria-controls="directories"
					aria-activedescendant={chosen < 0 ? undefined : `directory-${chosen}`}
					placeholder="~/project (empty: where the gateway runs)"
					autocomplete="off"
					spellcheck={false}
					value={typed}
					onInput={(event) => setTyped(event.currentTarget.value)}
					onKeyDown={onKey}
				/>
			</label>
			<div role="listbox" id="directories" aria-label="Directories" hidden={found.length === 0}>
				{found.map((directory, index) => (
					<div
						key={directory}
						id={`directory-${index}`}
						role="option"
						tabIndex={-1}
						class="suggestion mono"
						aria-selected={index === chosen}
						// The field keeps the focus.
						onMouseDown={(event) => {
							event.preventDefault();
							take(directory);
						}}
					>
						{directory}
					</div>
				))}
			</div>
			<button type="submit" class="main" disabled={!mayCreate}>
				Begin a session
			</button>
		</form>
	);
}
