// The sessions, by the directory they work in.
import { useRef, useState } from "preact/hooks";
import type { SessionSummary } from "../../src/store/session-store.ts";
import {
	archive,
	createSession,
	fork,
	isListed,
	mayControl,
	open,
	openSession,
	running,
	sessions,
} from "../model/app.ts";
import { baseName, toAgo, toMoment } from "../text/words.ts";
import { areKeysShown, isSidebarShown, theme } from "./layout.ts";

const themes = { system: "light", light: "dark", dark: "system" } as const;

export function Sidebar() {
	const [search, setSearch] = useState("");
	const words = search.trim().toLowerCase();
	const found = sessions.value.filter(
		({ title, workDir, id }) => words === "" || `${title} ${workDir} ${id}`.toLowerCase().includes(words),
	);
	const projects = groupByProject(found);
	return (
		<nav class={`sidebar ${isSidebarShown.value ? "shown" : ""}`} aria-label="Sessions">
			<div class="sidebar-head">
				<strong>agentwire</strong>
				<button type="button" class="only-narrow" aria-label="Close" onClick={() => (isSidebarShown.value = false)}>
					×
				</button>
			</div>
			{mayControl.value && <NewSession />}
			<input
				id="session-search"
				type="search"
				placeholder="Search sessions"
				aria-label="Search sessions"
				value={search}
				onInput={(event) => setSearch(event.currentTarget.value)}
			/>
			<div class="session-list">
				{isListed.value && found.length === 0 && (
					<p class="label">{words === "" ? "There are no sessions yet." : "No session is called that."}</p>
				)}
				{[...projects].map(([workDir, list]) => (
					<section key={workDir}>
						<h2 title={workDir}>{baseName(workDir)}</h2>
						<ul>
							{list.map((session) => (
								<Entry key={session.id} session={session} />
							))}
						</ul>
					</section>
				))}
			</div>
			<div class="sidebar-foot">
				<button type="button" onClick={() => (theme.value = themes[theme.value])}>
					Colours: {theme.value}
				</button>
				<button type="button" onClick={() => (areKeysShown.value = true)}>
					Keys
				</button>
			</div>
		</nav>
	);
}

function groupByProject(list: readonly SessionSummary[]): Map<string, SessionSummary[]> {
	const groups = new Map<string, SessionSummary[]>();
	for (const session of list) groups.set(session.workDir, [...(groups.get(session.workDir) ?? []), session]);
	return groups;
}

function NewSession() {
	const [isAsking, setAsking] = useState(false);
	const field = useRef<HTMLInputElement>(null);
	if (!isAsking) {
		return (
			<button type="button" class="primary new-session" onClick={() => setAsking(true)}>
				New session
			</button>
		);
	}
	const create = async () => {
		const typed = field.current?.value.trim() ?? "";
		await createSession(typed === "" ? null : typed);
		setAsking(false);
		isSidebarShown.value = false;
	};
	return (
		<form
			class="new-session"
			onSubmit={(event) => {
				event.preventDefault();
				void create();
			}}
		>
			<input
				ref={(input) => {
					field.current = input;
					input?.focus();
				}}
				list="known-projects"
				placeholder="Directory; empty for that of the server"
				aria-label="Directory of the new session"
			/>
			<datalist id="known-projects">
				{[...new Set(sessions.value.map(({ workDir }) => workDir))].map((workDir) => (
					<option key={workDir} value={workDir} />
				))}
			</datalist>
			<div class="buttons">
				<button type="submit" class="primary">
					Create
				</button>
				<button type="button" onClick={() => setAsking(false)}>
					Cancel
				</button>
			</div>
		</form>
	);
}

function Entry({ session: { id, title, updatedAt } }: { readonly session: SessionSummary }) {
	const isOpen = open.value?.id === id;
	const choose = () => {
		isSidebarShown.value = false;
		void openSession(id);
	};
	return (
		<li class={isOpen ? "entry current" : "entry"}>
			<button type="button" class="entry-name" aria-current={isOpen} onClick={choose}>
				<span class="entry-title">{title}</span>
				<span class="entry-time" title={toMoment(updatedAt)}>
					{running.value.has(id) ? <span class="dot running">runs</span> : toAgo(updatedAt, Date.now())}
				</span>
			</button>
			{isOpen && mayControl.value && (
				<div class="entry-actions">
					<button type="button" onClick={() => void fork(id)}>
						Fork
					</button>
					<button type="button" onClick={() => void archive(id)}>
						Archive
					</button>
				</div>
			)}
		</li>
	);
}
