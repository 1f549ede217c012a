// The page: sessions on the left, the conversation in the middle, what it comes to on the right.
import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import type { SessionMode } from "../src/events/session-mode.ts";
import type { SessionSummary } from "../src/store/session-store.ts";
import { Attention } from "./attention.tsx";
import { Composer } from "./composer.tsx";
import { Panel } from "./panel.tsx";
import { SessionTitle } from "./session-title.tsx";
import {
	access,
	attempt,
	connection,
	conversation,
	create,
	currentId,
	fault,
	hasEarlier,
	mode,
	model,
	models,
	open,
	refresh,
	running,
	send,
	sessions,
	showEarlier,
	tick,
	workDir,
} from "./store.ts";
import { TurnView } from "./transcript.tsx";
import { call } from "./wire.ts";

export function App(): JSX.Element {
	const [drawer, setDrawer] = useState(false);
	const [details, setDetails] = useState(false);
	const [keys, setKeys] = useState(false);
	const dialog = useRef<HTMLDialogElement>(null);
	useEffect(() => {
		if (keys) dialog.current?.showModal();
	}, [keys]);
	useEffect(() => {
		const onKey = (event: KeyboardEvent) => {
			const { target, key } = event;
			if ((event.ctrlKey || event.metaKey) && key === "k") {
				event.preventDefault();
				setDrawer(true);
				document.querySelector<HTMLInputElement>("#search")?.focus();
				return;
			}
			const isTyping = target instanceof HTMLElement && target.matches("input, textarea, select");
			if (isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
			if (key === "?") setKeys(true);
			if (key === "/" || key === "@") document.querySelector<HTMLTextAreaElement>(".composer textarea")?.focus();
			if (key === "j" || key === "k") moveBlock(key === "j" ? 1 : -1);
			if (key === "o") openBlock();
		};
		addEventListener("keydown", onKey);
		return () => removeEventListener("keydown", onKey);
	}, []);
	if (access.value === "none") return <NoToken />;
	const isOpen = currentId.value !== null;
	return (
		<div class={`layout ${drawer ? "drawer" : ""} ${details ? "details" : ""} ${isOpen ? "" : "no-session"}`}>
			<nav
				class="sessions"
				aria-label="Sessions"
				onClick={(event) =>
					event.target instanceof HTMLElement && event.target.closest("[data-session]") && setDrawer(false)
				}
			>
				<Sessions />
			</nav>
			{drawer ? (
				<button type="button" class="veil" aria-label="Close the sessions" onClick={() => setDrawer(false)} />
			) : null}
			<main>
				<Header onSessions={() => setDrawer(!drawer)} onDetails={() => setDetails(!details)} hasDetails={details} />
				{fault.value === null ? null : (
					<p class="fault" role="alert">
						<span>{fault.value}</span>
						<button type="button" onClick={() => (fault.value = null)}>
							Close
						</button>
					</p>
				)}
				{isOpen ? <Transcript /> : <Welcome />}
				{isOpen ? (
					<footer>
						<Attention />
						<Composer />
					</footer>
				) : null}
			</main>
			{isOpen ? <Panel /> : null}
			{keys ? (
				<dialog ref={dialog} onClose={() => setKeys(false)} aria-label="Keys">
					<h2>Keys</h2>
					<dl>
						{keyMap.map(([key, about]) => (
							<div>
								<dt>
									<kbd>{key}</kbd>
								</dt>
								<dd>{about}</dd>
							</div>
						))}
					</dl>
					<form method="dialog">
						<button type="submit">Close</button>
					</form>
				</dialog>
			) : null}
		</div>
	);
}

const keyMap = [
	["Enter", "send, or queue while the agent works"],
	["Shift+Enter", "a new line"],
	["Ctrl+Enter", "steer: tell it now"],
	["Esc Esc", "stop"],
	["1–4", "answer what waits"],
	["j / k", "next and previous block"],
	["o", "open or fold a block"],
	["/", "commands"],
	["Ctrl+K", "find a session"],
	["?", "these keys"],
] as const;

function moveBlock(by: 1 | -1): void {
	const blocks = [...document.querySelectorAll<HTMLElement>("[data-block]")];
	const at = blocks.findIndex((block) => block.matches(":focus"));
	const next = blocks[at === -1 ? (by === 1 ? 0 : blocks.length - 1) : at + by];
	if (next === undefined) return;
	next.tabIndex = -1;
	next.focus();
	next.scrollIntoView({ block: "nearest" });
}

function openBlock(): void {
	document.activeElement?.querySelector<HTMLElement>("button[aria-expanded], summary")?.click();
}

function NoToken(): JSX.Element {
	return (
		<main class="alone">
			<h1>agentwire</h1>
			<p>
				{fault.value ?? "This page needs the address that `agentwire web` printed: it has the token that lets you in."}
			</p>
			<p class="quiet">Run it again to have the address again; the one before stays valid until new tokens are made.</p>
		</main>
	);
}

const span = new Intl.RelativeTimeFormat("en", { numeric: "auto", style: "narrow" });
function since(time: number): string {
	const minutes = Math.round((time - Date.now()) / 60_000);
	if (minutes > -60) return span.format(Math.min(0, minutes), "minute");
	if (minutes > -1440) return span.format(Math.round(minutes / 60), "hour");
	return span.format(Math.round(minutes / 1440), "day");
}

function Sessions(): JSX.Element {
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
			<button
				type="button"
				class="main wide"
				data-session="new"
				disabled={access.value !== "control"}
				onClick={() => attempt(() => create(workDir.value))}
			>
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
			{all === null ? <p class="quiet">Reading the sessions …</p> : null}
			{all !== null && groups.size === 0 ? (
				<p class="quiet">{wanted === "" ? "No sessions yet." : "No session fits."}</p>
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
									<span class="title">{row.title === "" ? "Untitled" : row.title}</span>
									<time title={new Date(row.updatedAt).toLocaleString()}>
										{running.value.has(row.id) ? "running" : since(row.updatedAt)}
									</time>
								</button>
							</li>
						))}
					</ul>
				</section>
			))}
		</>
	);
}

function ThemeSwitch(): JSX.Element {
	const [theme, setTheme] = useState(localStorage.getItem("agentwire.theme") ?? "system");
	useEffect(() => {
		localStorage.setItem("agentwire.theme", theme);
		document.documentElement.dataset["theme"] = theme;
	}, [theme]);
	const next = { system: "light", light: "dark", dark: "system" }[theme] ?? "system";
	return (
		<button
			type="button"
			class="plain"
			onClick={() => setTheme(next)}
			aria-label={`Colours: ${theme}. Change to ${next}.`}
		>
			{theme}
		</button>
	);
}

interface HeaderActions {
	readonly onSessions: () => void;
	readonly onDetails: () => void;
	readonly hasDetails: boolean;
}

function Header({ onSessions, onDetails, hasDetails }: HeaderActions): JSX.Element {
	void tick.value;
	const isOpen = currentId.value !== null;
	const mayControl = access.value === "control";
	const sessionId = currentId.value;
	const status =
		connection.value === "offline"
			? "offline, trying again"
			: connection.value === "closed"
				? "closed"
				: connection.value === "loading"
					? "opening"
					: conversation.activity;
	const chosen = models.value?.options.find(({ alias }) => alias === model.value?.alias);
	const end = () => {
		currentId.value = null;
		history.replaceState(null, "", location.pathname);
	};
	return (
		<header class="top">
			<button type="button" class="plain menu" onClick={onSessions}>
				Sessions
			</button>
			{isOpen ? (
				<>
					<div class="heading">
						<SessionTitle key={sessionId} />
						<p class="quiet where" title={workDir.value}>
							{workDir.value}
						</p>
					</div>
					<p class={`status ${connection.value === "offline" ? "offline" : ""}`} role="status" title={status}>
						{status}
					</p>
					<div class="switches">
						<select
							aria-label="Mode"
							class={mode.value === "yolo" ? "dangerous" : ""}
							value={mode.value}
							disabled={!mayControl}
							onChange={(event) => {
								const wanted = event.currentTarget.value;
								attempt(async () => {
									mode.value = (await call<{ mode: SessionMode }>("mode.set", { sessionId, mode: wanted })).mode;
								});
							}}
						>
							<option value="default">Ask</option>
							<option value="plan">Plan</option>
							<option value="auto">Auto</option>
							<option value="yolo">Yolo: allow everything</option>
						</select>
						<select
							aria-label="Model"
							value={model.value?.alias ?? ""}
							disabled={!mayControl}
							onChange={(event) => {
								const alias = event.currentTarget.value;
								attempt(() => call("model.set", { sessionId, model: alias, thinking: null }));
							}}
						>
							{chosen === undefined ? (
								<option value={model.value?.alias ?? ""}>{model.value?.name ?? "No model"}</option>
							) : null}
							{(models.value?.options ?? []).map(({ alias, name }) => (
								<option key={alias} value={alias}>
									{alias === name ? alias : `${alias} (${name})`}
								</option>
							))}
						</select>
						{chosen?.thinking === "optional" ? (
							<label>
								<input
									type="checkbox"
									checked={model.value?.thinking ?? false}
									disabled={!mayControl}
									onChange={(event) => {
										const thinking = event.currentTarget.checked;
										attempt(() => call("model.set", { sessionId, model: null, thinking }));
									}}
								/>
								Thinking
							</label>
						) : null}
						<button
							type="button"
							class="plain"
							disabled={!mayControl}
							onClick={() =>
								attempt(async () => open((await call<{ sessionId: string }>("sessions.fork", { sessionId })).sessionId))
							}
						>
							Fork
						</button>
						<button
							type="button"
							class="plain"
							disabled={!mayControl}
							onClick={() =>
								attempt(async () => {
									await call("sessions.archive", { sessionId });
									end();
									await refresh();
								})
							}
						>
							Archive
						</button>
						<button type="button" class="plain menu" aria-expanded={hasDetails} onClick={onDetails}>
							Details
						</button>
					</div>
				</>
			) : null}
		</header>
	);
}

function Welcome(): JSX.Element {
	const [directory, setDirectory] = useState("");
	const hasModel = models.value === null || models.value.options.length > 0;
	return (
		<div class="alone">
			<h1>{hasModel ? "What should the agent work on?" : "First, a model"}</h1>
			{hasModel ? (
				<form
					onSubmit={(event) => {
						event.preventDefault();
						attempt(() => create(directory.trim()));
					}}
				>
					<label>
						Directory of the project
						<input
							class="mono"
							placeholder="The one that the gateway was started in"
							value={directory}
							onInput={(event) => setDirectory(event.currentTarget.value)}
						/>
					</label>
					<button type="submit" class="main" disabled={access.value !== "control"}>
						Begin a session
					</button>
				</form>
			) : (
				<div>
					<p>
						No model is configured. In a terminal on the machine of the gateway, do one of these, then reload this page:
					</p>
					<ul>
						<li>
							<code>agentwire login</code> signs in to the Kimi platform and configures its models.
						</li>
						<li>
							Set <code>OPENAI_API_KEY</code> or <code>ANTHROPIC_API_KEY</code>, or write <code>config.toml</code>, and
							start the gateway again.
						</li>
						<li>
							<code>npm run demo -- --web</code> in the sources shows a session with a scripted model, without a key.
						</li>
					</ul>
				</div>
			)}
			<p class="quiet">Press ? for all keys.</p>
			{"Notification" in window && Notification.permission === "default" ? (
				<button type="button" class="plain" onClick={() => void Notification.requestPermission()}>
					Notify me when an approval waits
				</button>
			) : null}
		</div>
	);
}

const ideas = ["What does this project do?", "Run the tests and explain what fails.", "Find code that nothing uses."];

function Transcript(): JSX.Element {
	const log = useRef<HTMLDivElement>(null);
	const isAtEnd = useRef(true);
	const seen = useRef(0);
	const [isAway, setAway] = useState(false);
	void tick.value;
	const { turns } = conversation;
	const blocks = turns.reduce((sum, turn) => sum + turn.blocks.length + 1, 0);
	useEffect(() => {
		isAtEnd.current = true;
		setAway(false);
	}, [currentId.value]);
	useEffect(() => {
		const element = log.current;
		if (element === null || !isAtEnd.current) return;
		element.scrollTop = element.scrollHeight;
		seen.current = blocks;
	});
	const onScroll = () => {
		const element = log.current;
		if (element === null) return;
		isAtEnd.current = element.scrollHeight - element.scrollTop - element.clientHeight < 40;
		if (isAtEnd.current) seen.current = blocks;
		setAway(!isAtEnd.current);
	};
	const toEnd = () => {
		isAtEnd.current = true;
		log.current?.scrollTo({ top: log.current.scrollHeight });
		setAway(false);
	};
	return (
		<div class="transcript">
			<div
				class="log"
				role="log"
				aria-live="polite"
				aria-label="Conversation"
				tabIndex={0}
				ref={log}
				onScroll={onScroll}
			>
				<div class="column">
					{hasEarlier.value ? (
						<button type="button" class="plain wide" onClick={() => attempt(showEarlier)}>
							Show what came before
						</button>
					) : null}
					{connection.value === "loading" && turns.length === 0 ? (
						<p class="quiet">Reading the conversation …</p>
					) : null}
					{connection.value !== "loading" && turns.length === 0 ? (
						<div class="empty">
							<h2>Nothing was said yet</h2>
							<p class="quiet">Some things to begin with:</p>
							{ideas.map((idea) => (
								<button
									key={idea}
									type="button"
									disabled={access.value !== "control"}
									onClick={() => attempt(() => send(idea))}
								>
									{idea}
								</button>
							))}
						</div>
					) : null}
					{turns.map((turn, index) => (
						<TurnView key={`${currentId.value}-${turn.key}`} turn={turn} isLast={index === turns.length - 1} />
					))}
				</div>
			</div>
			{isAway ? (
				<button type="button" class="to-end" onClick={toEnd}>
					{blocks > seen.current ? `${blocks - seen.current} new below` : "To the end"}
				</button>
			) : null}
		</div>
	);
}
