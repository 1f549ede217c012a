// The conversation as it scrolls: it follows what is said while its end is in sight, and keeps its place otherwise.
import type { JSX } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { Turn } from "./blocks.ts";
import {
	access,
	attempt,
	connection,
	conversation,
	currentId,
	hasEarlier,
	isReadingEarlier,
	send,
	sent,
	showEarlier,
	tick,
} from "./store.ts";
import { duration, TurnView } from "./transcript.tsx";

export const ideas = [
	"What does this project do?",
	"Run the tests and explain what fails.",
	"Find code that nothing uses.",
];

export function ConversationLog(): JSX.Element {
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
	}, [currentId.value, sent.value]);
	const isExtended = useKeptPlace(log, seen, blocks);
	useEffect(() => {
		const element = log.current;
		if (element === null || !isAtEnd.current || isExtended) return;
		element.scrollTop = element.scrollHeight;
		seen.current = blocks;
	});
	useEffect(() => {
		const element = log.current;
		if (element === null) return;
		// Another size of the window, or of what is below, does not move the end out of sight.
		const observer = new ResizeObserver(() => {
			if (isAtEnd.current) element.scrollTop = element.scrollHeight;
		});
		observer.observe(element);
		return () => observer.disconnect();
	}, []);
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
				// What was said long ago is no news.
				aria-busy={connection.value === "loading" || isReadingEarlier.value}
				aria-label="Conversation"
				tabIndex={0}
				ref={log}
				onScroll={onScroll}
			>
				<div class="column">
					{hasEarlier.value ? (
						<button
							type="button"
							class="plain wide"
							aria-disabled={isReadingEarlier.value}
							onClick={() => attempt(showEarlier)}
						>
							{isReadingEarlier.value ? "Loading earlier messages …" : "Show earlier messages"}
						</button>
					) : null}
					{connection.value === "loading" && turns.length === 0 ? (
						<p class="quiet">Loading the conversation …</p>
					) : null}
					{connection.value !== "loading" && turns.length === 0 ? (
						<div class="empty">
							<h2>Start a conversation</h2>
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
					{toRuns(turns).map((run) => (
						<Turns key={`${currentId.value}-${run[0]?.key}`} run={run} last={turns.at(-1)} />
					))}
					<Activity />
				</div>
			</div>
			{isAway ? (
				<button type="button" class="to-end" onClick={toEnd}>
					{blocks > seen.current ? `${blocks - seen.current} new` : "Jump to the end"}
				</button>
			) : null}
		</div>
	);
}

/** What goes on, and for how long, where the next words will come. Its place is kept while nothing does. */
function Activity(): JSX.Element {
	void tick.value;
	const [now, setNow] = useState(Date.now());
	const { activity, activeSince, isRunning, openInteractions } = conversation;
	const isShown = isRunning && openInteractions.size === 0 && connection.value === "live";
	useEffect(() => {
		if (!isShown) return;
		const timer = setInterval(() => setNow(Date.now()), 1000);
		return () => clearInterval(timer);
	}, [isShown]);
	const seconds = Math.floor((now - activeSince) / 1000);
	// Its words are those of the status, which screen readers are told of.
	return (
		<p class="activity" aria-hidden="true">
			{isShown ? (
				<>
					<span class="words">{activity.charAt(0).toUpperCase() + activity.slice(1)}</span>
					{seconds < 2 ? null : <span class="elapsed">{duration(seconds * 1000).replace(".0", "")}</span>}
				</>
			) : null}
		</p>
	);
}

/** The turns, those that were gone back over together. */
function toRuns(turns: readonly Turn[]): Turn[][] {
	const runs: Turn[][] = [];
	for (const turn of turns) {
		if (turn.isRewound && runs.at(-1)?.[0]?.isRewound === true) runs.at(-1)?.push(turn);
		else runs.push([turn]);
	}
	return runs;
}

function Turns({ run, last }: { run: readonly Turn[]; last: Turn | undefined }): JSX.Element {
	void tick.value;
	const shown = run.map((turn) => (
		<TurnView key={turn.key} turn={turn} extensions={turn.extensions} isLast={turn === last} />
	));
	if (run[0]?.isRewound !== true) return <>{shown}</>;
	return (
		<details class="rewound">
			<summary>
				Rewound: {run.length} {run.length === 1 ? "message" : "messages"} and what followed
			</summary>
			{shown}
		</details>
	);
}

interface Held<T> {
	current: T;
}

/**
 * Keeps the first line that is in sight where it is when something is put before what is shown. True when this drawing does so;
 * `seen`, how many of the blocks were in sight, counts what was put before as well.
 */
function useKeptPlace(log: Held<HTMLDivElement | null>, seen: Held<number>, blocks: number): boolean {
	const drawn = useRef({ conversation, extensions: 0, blocks: 0 });
	const element = log.current;
	const extensions = conversation.turns.reduce((sum, turn) => sum + turn.extensions, 0);
	const isExtended = drawn.current.conversation === conversation && drawn.current.extensions !== extensions;
	// The nodes are those of the last drawing still.
	const line = element !== null && isExtended ? firstInSight(element) : null;
	const top = line?.getBoundingClientRect().top ?? 0;
	const hadFocus = isExtended && element?.querySelector(":focus") !== null;
	useLayoutEffect(() => {
		if (isExtended && element !== null) {
			if (line !== null) element.scrollTop += line.getBoundingClientRect().top - top;
			seen.current += blocks - drawn.current.blocks;
			// The button is gone at the beginning of the conversation.
			if (hadFocus && document.activeElement === document.body) element.focus();
		}
		drawn.current = { conversation, extensions, blocks };
	});
	return isExtended;
}

/** The first part of a turn of which something is in sight. */
function firstInSight(log: HTMLElement): Element | null {
	const top = log.getBoundingClientRect().top;
	const isInSight = (part: Element) => part.getBoundingClientRect().bottom > top;
	const turn = [...log.querySelectorAll(".turn")].find(isInSight);
	let found = turn === undefined ? undefined : [...turn.children].find(isInSight);
	while (found !== undefined && found.getBoundingClientRect().top < top) {
		const inner = [...found.children].find(isInSight);
		if (inner === undefined) break;
		found = inner;
	}
	return found ?? null;
}
