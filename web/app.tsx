// The page: sessions on the left, the conversation in the middle, what it comes to on the right.
import type { ComponentType, JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { Attention } from "./attention.tsx";
import { Composer } from "./composer.tsx";
import type { ForkDialog } from "./fork.tsx";
import { Header } from "./header.tsx";
import { ConversationLog } from "./log.tsx";
import { NewSession } from "./new-session.tsx";
import type { Palette as PaletteView } from "./palette.tsx";
import { Panel } from "./panel.tsx";
import type { ConversationSearch as SearchView } from "./search.tsx";
import { Sessions } from "./sessions.tsx";
import { access, attempt, currentId, fault, forking, leave, lost, models, notice, report, startDemo } from "./store.ts";

export function App(): JSX.Element {
	const [drawer, setDrawer] = useState(false);
	const [details, setDetails] = useState(false);
	const [keys, setKeys] = useState(false);
	const [Search, setSearch] = useState<typeof SearchView | null>(null);
	const openSearch = () => void import("./search.tsx").then((loaded) => setSearch(() => loaded.ConversationSearch));
	const [Palette, setPalette] = useState<typeof PaletteView | null>(null);
	const dialog = useRef<HTMLDialogElement>(null);
	useEffect(() => {
		if (keys) dialog.current?.showModal();
	}, [keys]);
	useEffect(() => {
		const onKey = (event: KeyboardEvent) => {
			const { target, key } = event;
			if ((event.ctrlKey || event.metaKey) && key === "k") {
				event.preventDefault();
				void import("./palette.tsx").then((loaded) => setPalette(() => loaded.Palette));
				return;
			}
			const isTyping = target instanceof HTMLElement && target.matches("input, textarea, select");
			if (isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
			if (key === "?") setKeys(true);
			if (key === "f" && currentId.peek() !== null) {
				event.preventDefault();
				openSearch();
			}
			if (key === "/" || key === "@") document.querySelector<HTMLTextAreaElement>(".composer textarea")?.focus();
			if (key === "j" || key === "k") moveBlock(key === "j" ? 1 : -1);
			if (key === "o") openBlock();
		};
		addEventListener("keydown", onKey);
		return () => removeEventListener("keydown", onKey);
	}, []);
	if (access.value === "none") return <NoToken />;
	const isOpen = currentId.value !== null;
	const isLost = lost.value !== null;
	return (
		<div
			class={`layout ${drawer ? "drawer" : ""} ${details ? "details" : ""} ${isOpen && !isLost ? "" : "no-session"}`}
		>
			<nav
				class="sessions"
				aria-label="Sessions"
				onClick={(event) =>
					event.target instanceof HTMLElement && event.target.closest("[data-session]") && setDrawer(false)
				}
			>
				<Sessions onKeys={() => setKeys(true)} />
			</nav>
			{drawer ? (
				<button type="button" class="veil" aria-label="Close the sessions" onClick={() => setDrawer(false)} />
			) : null}
			<main>
				<Header
					onSearch={openSearch}
					onSessions={() => setDrawer(!drawer)}
					onDetails={() => setDetails(!details)}
					hasDetails={details}
				/>
				{fault.value === null ? null : (
					<p class="fault" role="alert">
						<span>{fault.value}</span>
						<button type="button" onClick={() => (fault.value = null)}>
							Close
						</button>
					</p>
				)}
				<Notice />
				{Search === null || !isOpen || isLost ? null : <Search key={currentId.value} onClose={() => setSearch(null)} />}
				{isOpen ? isLost ? <Lost /> : <ConversationLog /> : <Welcome />}
				{isOpen && !isLost ? (
					<footer>
						<Attention />
						<Composer key={currentId.value} />
					</footer>
				) : null}
			</main>
			{isOpen && !isLost ? <Panel /> : null}
			<Fork />
			{Palette === null ? null : (
				<Palette
					onClose={() => setPalette(null)}
					onKeys={() => setKeys(true)}
					onDetails={() => setDetails((now) => !now)}
				/>
			)}
			{keys ? (
				<dialog ref={dialog} onClose={() => setKeys(false)} aria-label="Keyboard shortcuts">
					<h2>Keyboard shortcuts</h2>
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

function Fork(): JSX.Element | null {
	const [Dialog, setDialog] = useState<typeof ForkDialog | null>(null);
	const asked = forking.value;
	useEffect(() => {
		if (asked !== null) void import("./fork.tsx").then((loaded) => setDialog(() => loaded.ForkDialog));
	}, [asked]);
	return Dialog === null || asked === null ? null : <Dialog {...asked} />;
}

/** What was done, with a way back. */
function Notice(): JSX.Element | null {
	if (notice.value === null) return null;
	const { text, undo } = notice.value;
	return (
		<p class="notice" role="status">
			<span>{text}</span>
			{undo === null ? null : (
				<button type="button" onClick={() => attempt(undo)}>
					Undo
				</button>
			)}
			<button type="button" onClick={() => (notice.value = null)}>
				Close
			</button>
		</p>
	);
}

const keyMap = [
	["Enter", "send, or queue while the agent works"],
	["Shift+Enter", "a new line"],
	["Ctrl+Enter", "steer: tell it now"],
	["Esc Esc", "stop"],
	["1–4", "answer the open request, outside text fields"],
	["Esc", "leave a text field for the open request"],
	["j / k", "next and previous block"],
	["o", "open or fold a block"],
	["f", "find in the conversation"],
	["/", "commands"],
	["@", "files of the project"],
	["Ctrl+K", "go to a session, or run a command"],
	["?", "show these shortcuts"],
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
				{fault.value ??
					"Open this page with the address that `agentwire web` prints: it has the token that lets you in."}
			</p>
			<p class="quiet">
				{fault.value === null
					? "Run `agentwire web` again to get the address. Earlier ones stay valid until there are new tokens."
					: "The gateway has new tokens. Open the address that it printed, here or in another window."}
			</p>
		</main>
	);
}

/** In place of a session that cannot be opened. */
function Lost(): JSX.Element {
	return (
		<div class="alone">
			<h1>This session cannot be opened</h1>
			<p role="alert">{lost.value}</p>
			<p class="quiet">It may have been deleted, or belong to another gateway. Choose one from the list of sessions.</p>
			<button type="button" class="main" onClick={leave}>
				Back to the start
			</button>
		</div>
	);
}

const loadFirstRun = async () => (await import("./first-run.tsx")).FirstRun;

interface LazyProps<P extends object> {
	/** The same function each time. */
	readonly load: () => Promise<ComponentType<P>>;
	readonly props: P;
}

/** A part of the page that is loaded when it is shown. */
function Lazily<P extends object>({ load, props }: LazyProps<P>): JSX.Element | null {
	const [Part, setPart] = useState<ComponentType<P> | null>(null);
	useEffect(() => {
		load().then((loaded) => setPart(() => loaded), report);
	}, [load]);
	return Part === null ? null : <Part {...props} />;
}

function Welcome(): JSX.Element {
	const [isAdding, setAdding] = useState(false);
	const hasModel = models.value === null || models.value.options.length > 0;
	return (
		<div class="alone start">
			<h1>{hasModel ? "What should the agent work on?" : "Choose a model"}</h1>
			{hasModel ? <NewSession /> : null}
			{hasModel && !isAdding ? (
				<p class="asides">
					<button type="button" class="plain" onClick={() => setAdding(true)}>
						Add a model
					</button>
					<button type="button" class="plain" disabled={access.value !== "control"} onClick={() => attempt(startDemo)}>
						Try the demo
					</button>
					{"Notification" in window && Notification.permission === "default" ? (
						<button type="button" class="plain" onClick={() => void Notification.requestPermission()}>
							Notify me when an approval waits
						</button>
					) : null}
				</p>
			) : (
				<Lazily load={loadFirstRun} props={{ onDone: hasModel ? () => setAdding(false) : null }} />
			)}
		</div>
	);
}
