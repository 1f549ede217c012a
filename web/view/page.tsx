// The page: sessions, the conversation of the open one, and what belongs to it.
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import {
	connection,
	conversation,
	createSession,
	isLoading,
	mayControl,
	models,
	open,
	readEarlier,
	revision,
	sendPrompt,
	server,
	signIn,
	start,
	token,
	trouble,
} from "../model/app.ts";
import { plural } from "../text/words.ts";
import { Attention } from "./attention.tsx";
import { BlockList } from "./block-list.tsx";
import { Composer } from "./composer.tsx";
import { areKeysShown, isSidebarShown } from "./layout.ts";
import { SessionHeader } from "./session-header.tsx";
import { SidePanel } from "./side-panel.tsx";
import { Sidebar } from "./sidebar.tsx";

export function Page() {
	useEffect(() => void start(), []);
	usePageKeys();
	if (token.value === null) return <TokenForm />;
	if (server.value === null) {
		return (
			<main class="lonely">
				<p role="status">{connection.value === "offline" ? "The gateway cannot be reached." : "Connecting"}</p>
				{connection.value === "offline" && (
					<button type="button" class="primary" onClick={() => void start()}>
						Try again
					</button>
				)}
			</main>
		);
	}
	return (
		<div class="page">
			<Sidebar />
			{isSidebarShown.value && <div class="shade" onClick={() => (isSidebarShown.value = false)} aria-hidden="true" />}
			<main class="session">
				{open.value === null ? (
					<Welcome />
				) : (
					<>
						<SessionHeader />
						<Transcript />
						<Attention />
						<Composer />
					</>
				)}
			</main>
			<SidePanel />
			<Trouble />
			<Keys />
		</div>
	);
}

function usePageKeys(): void {
	useEffect(() => {
		const press = (event: KeyboardEvent) => {
			const target = event.target instanceof HTMLElement ? event.target : null;
			const isTyping = target !== null && /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName);
			if ((event.ctrlKey || event.metaKey) && event.key === "k") {
				event.preventDefault();
				isSidebarShown.value = true;
				document.getElementById("session-search")?.focus();
				return;
			}
			if (isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
			if (event.key === "?") areKeysShown.value = true;
			else if (event.key === "j" || event.key === "k") moveToBlock(event.key === "j" ? 1 : -1);
			else if (event.key === "o") {
				const block = document.activeElement?.closest("[data-block]");
				const fold = block?.querySelector<HTMLElement>("[aria-expanded]");
				fold?.click();
			} else if (event.key === "/") {
				event.preventDefault();
				document.querySelector<HTMLTextAreaElement>(".composer textarea")?.focus();
			}
		};
		addEventListener("keydown", press);
		return () => removeEventListener("keydown", press);
	}, []);
}

function moveToBlock(step: 1 | -1): void {
	const blocks = [...document.querySelectorAll<HTMLElement>("[data-block]")];
	const now = blocks.findIndex((block) => block === document.activeElement || block.contains(document.activeElement));
	const next = blocks[now === -1 ? (step === 1 ? 0 : blocks.length - 1) : now + step];
	if (next === undefined) return;
	next.tabIndex = -1;
	next.focus();
	next.scrollIntoView({ block: "nearest" });
}

/** Pixels from the end in which the person counts as being at the end. */
const nearEnd = 48;

function Transcript() {
	const box = useRef<HTMLDivElement>(null);
	const isAtEnd = useRef(true);
	const [seen, setSeen] = useState(0);
	const shown = conversation.value;
	const count = shown?.blocks.length ?? 0;
	useLayoutEffect(() => {
		const element = box.current;
		if (element !== null && isAtEnd.current) element.scrollTop = element.scrollHeight;
	}, [revision.value, open.value?.id, shown?.asks.length]);
	useEffect(() => {
		isAtEnd.current = true;
		setSeen(0);
	}, [open.value?.id]);
	if (shown === null) return null;
	const toEnd = () => {
		isAtEnd.current = true;
		setSeen(count);
		const element = box.current;
		if (element !== null) element.scrollTop = element.scrollHeight;
	};
	const follow = () => {
		const element = box.current;
		if (element === null) return;
		const wasAtEnd = isAtEnd.current;
		isAtEnd.current = element.scrollHeight - element.scrollTop - element.clientHeight < nearEnd;
		if (wasAtEnd && !isAtEnd.current) setSeen(count);
		if (!wasAtEnd && isAtEnd.current) setSeen(0);
	};
	const earlier = async () => {
		const element = box.current;
		const before = element?.scrollHeight ?? 0;
		isAtEnd.current = false;
		await readEarlier();
		requestAnimationFrame(() => {
			if (element !== null) element.scrollTop += element.scrollHeight - before;
		});
	};
	return (
		<div class="transcript-frame">
			<div
				class="transcript"
				ref={box}
				onScroll={follow}
				role="log"
				aria-live="polite"
				aria-label="Conversation"
				tabIndex={0}
			>
				<div class="column">
					{open.value?.before != null && (
						<button type="button" class="more" onClick={() => void earlier()}>
							Show earlier
						</button>
					)}
					{count === 0 && (isLoading.value ? <p class="label">Loading</p> : <EmptySession />)}
					<BlockList blocks={shown.blocks} />
				</div>
			</div>
			{!isAtEnd.current && (
				<button type="button" class="to-end" onClick={toEnd}>
					↓ {count > seen && seen > 0 ? `${plural(count - seen, "new block")}` : "To the end"}
				</button>
			)}
		</div>
	);
}

const suggestions = [
	"What does this project do, and how is it built?",
	"Find the tests that fail, and say why.",
	"Review the changes that are not committed.",
];

function EmptySession() {
	return (
		<div class="empty">
			<h2>What should be done?</h2>
			{models.value !== null && models.value.options.length === 0 && <FirstRun />}
			{mayControl.value && (
				<ul>
					{suggestions.map((text) => (
						<li key={text}>
							<button type="button" onClick={() => void sendPrompt(text, false)}>
								{text}
							</button>
						</li>
					))}
				</ul>
			)}
		</div>
	);
}

/** How to get a model, in the words of the command line: keys belong in no page. */
function FirstRun() {
	return (
		<section class="first-run">
			<h3>There is no model yet</h3>
			<p>Any of these is enough; then start the gateway again.</p>
			<ul>
				<li>
					Sign in to Kimi: <code>agentwire login</code>
				</li>
				<li>
					Set a key: <code>export ANTHROPIC_API_KEY=…</code>, <code>OPENAI_API_KEY</code> or <code>GEMINI_API_KEY</code>
				</li>
				<li>
					Write <code>config.toml</code>; <code>agentwire doctor</code> checks it
				</li>
				<li>
					Or look at it without a model of your own: <code>npm run demo -- --web</code>
				</li>
			</ul>
		</section>
	);
}

function Welcome() {
	return (
		<div class="welcome">
			<button type="button" class="only-narrow" onClick={() => (isSidebarShown.value = true)}>
				☰ Sessions
			</button>
			<h1>agentwire</h1>
			<p>Open a session on the left, or begin one.</p>
			{models.value !== null && models.value.options.length === 0 && <FirstRun />}
			{mayControl.value && (
				<button type="button" class="primary" onClick={() => void createSession(null)}>
					New session
				</button>
			)}
		</div>
	);
}

function TokenForm() {
	const [typed, setTyped] = useState("");
	return (
		<main class="lonely">
			<h1>agentwire</h1>
			<p>
				This page needs a token. <code>agentwire web</code> prints an address that has it; <code>gateway.json</code> in
				the share directory has it as well.
			</p>
			<form
				onSubmit={(event) => {
					event.preventDefault();
					void signIn(typed.trim());
				}}
			>
				<input
					type="password"
					autocomplete="off"
					aria-label="Token"
					placeholder="Token"
					value={typed}
					onInput={(event) => setTyped(event.currentTarget.value)}
				/>
				<button type="submit" class="primary" disabled={typed.trim() === ""}>
					Open
				</button>
			</form>
			{trouble.value !== null && (
				<p class="danger" role="alert">
					{trouble.value}
				</p>
			)}
		</main>
	);
}

function Trouble() {
	if (trouble.value === null) return null;
	return (
		<div class="trouble" role="alert">
			<p>{trouble.value}</p>
			<button type="button" aria-label="Dismiss" onClick={() => (trouble.value = null)}>
				×
			</button>
		</div>
	);
}

const keys = [
	["Enter", "send, or steer while it works"],
	["Shift+Enter", "new line"],
	["Esc Esc", "stop"],
	["1 – 4", "answer what waits"],
	["j / k", "next and previous block"],
	["o", "open or fold a block"],
	["/", "to the message; commands begin with it"],
	["Ctrl/⌘+K", "search sessions"],
	["?", "these keys"],
] as const;

function Keys() {
	const dialog = useRef<HTMLDialogElement>(null);
	useEffect(() => {
		if (areKeysShown.value) dialog.current?.showModal();
	}, [areKeysShown.value]);
	return (
		<dialog ref={dialog} aria-label="Keys" onClose={() => (areKeysShown.value = false)}>
			<h2>Keys</h2>
			<dl>
				{keys.map(([name, does]) => (
					<div key={name}>
						<dt>
							<kbd>{name}</kbd>
						</dt>
						<dd>{does}</dd>
					</div>
				))}
			</dl>
			<button type="button" onClick={() => dialog.current?.close()}>
				Close
			</button>
		</dialog>
	);
}
