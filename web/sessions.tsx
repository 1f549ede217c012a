// The sessions on the left, by their directories, and the color switch.
import { effect, signal } from "@preact/signals";
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { SessionSummary } from "../src/api/session-list.ts";
import { Icon } from "./icons.tsx";
import { access, archived, attempt, busy, currentId, leave, open, sessions, unarchive } from "./store.ts";
import { Visible } from "./visible.tsx";

const span = new Intl.RelativeTimeFormat("en", { numeric: "auto", style: "narrow" });
function since(time: number): string {
	const minutes = Math.round((time - Date.now()) / 60_000);
	if (minutes >= 0) return "now";
	if (minutes > -60) return span.format(minutes, "minute");
	if (minutes > -1440) return span.format(Math.round(minutes / 60), "hour");
	return span.format(Math.round(minutes / 1440), "day");
}

function stateOf({ id, updatedAt }: SessionSummary): string {
	const state = busy.value.get(id);
	if (state === undefined) return since(updatedAt);
	return state === "waiting" ? "waiting for you" : state;
}

export function Sessions({ onKeys }: { readonly onKeys: () => void }): JSX.Element {
	const [search, setSearch] = useState("");
	const all = sessions.value;
	const wanted = search.toLowerCase();
	const groups = new Map<string, SessionSummary[]>();
	for (const row of all ?? []) {
		if (!`${row.title} ${row.workDir}`.toLowerCase().includes(wanted)) continue;
		groups.set(row.workDir, [...(groups.get(row.workDir) ?? []), row]);
	}
	return (
		<>
			<div class="sessions-top">
				<strong class="brand">agentwire</strong>
				<ThemeSwitch />
			</div>
			<button type="button" class="main wide" data-session="new" disabled={access.value !== "control"} onClick={leave}>
				<Icon name="plus" />
				New session
			</button>
			<input
				id="search"
				type="search"
				aria-label="Search sessions"
				placeholder="Search"
				value={search}
				onInput={(event) => setSearch(event.currentTarget.value)}
			/>
			{all === null ? <p class="quiet">Loading sessions …</p> : null}
			{all !== null && groups.size === 0 ? (
				<p class="quiet">{wanted === "" ? "No sessions yet." : "No session matches."}</p>
			) : null}
			{[...groups].map(([directory, rows]) => (
				<section key={directory}>
					<h2 title={directory}>{directory.split("/").at(-1) || directory}</h2>
					<ul>
						{rows.map((row) => (
							<li key={row.id} class="session-row">
								<button
									type="button"
									data-session={row.id}
									aria-current={row.id === currentId.value ? "page" : undefined}
									onClick={() => open(row.id)}
								>
									<span class="title" dir="auto">
										{row.title === "" ? "Untitled" : <Visible text={row.title} />}
									</span>
									<time class={busy.value.get(row.id)} title={new Date(row.updatedAt).toLocaleString()}>
										{stateOf(row)}
									</time>
								</button>
							</li>
						))}
					</ul>
				</section>
			))}
			{archived.value.length === 0 ? null : (
				<details class="archived">
					<summary>Archived ({archived.value.length})</summary>
					<ul>
						{archived.value.map((row) => (
							<li key={row.id}>
								<span class="title" dir="auto" title={row.workDir}>
									{row.title === "" ? "Untitled" : <Visible text={row.title} />}
								</span>
								<button
									type="button"
									class="plain"
									disabled={access.value !== "control"}
									onClick={() => attempt(() => unarchive(row.id))}
								>
									Restore
								</button>
							</li>
						))}
					</ul>
				</details>
			)}
			<button type="button" class="plain keys" onClick={onKeys}>
				Keyboard shortcuts <kbd>?</kbd>
			</button>
		</>
	);
}

const theme = signal(localStorage.getItem("agentwire.theme") ?? "system");
effect(() => {
	localStorage.setItem("agentwire.theme", theme.value);
	document.documentElement.dataset["theme"] = theme.value;
});

export const nextTheme = () => ({ system: "light", light: "dark", dark: "system" })[theme.value] ?? "system";

export function chooseTheme(name: string): void {
	theme.value = name;
}

const themes = [
	["light", "sun", "Light"],
	["system", "auto", "As the system"],
	["dark", "moon", "Dark"],
] as const;

function ThemeSwitch(): JSX.Element {
	return (
		<fieldset class="themes" aria-label="Colors">
			{themes.map(([name, icon, label]) => (
				<label key={name} title={label}>
					<input
						type="radio"
						name="theme"
						aria-label={label}
						checked={theme.value === name}
						onChange={() => chooseTheme(name)}
					/>
					<Icon name={icon} />
				</label>
			))}
		</fieldset>
	);
}
