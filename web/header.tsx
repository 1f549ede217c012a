// Above the conversation: its title, what goes on, and what can be done with the session.
import type { JSX } from "preact";
import { Icon } from "./icons.tsx";
import { SessionTitle } from "./session-title.tsx";
import {
	access,
	archive,
	attempt,
	connection,
	conversation,
	currentId,
	forking,
	lost,
	tick,
	workDir,
} from "./store.ts";

interface HeaderActions {
	readonly onSessions: () => void;
	readonly onSearch: () => void;
	readonly onDetails: () => void;
	readonly hasDetails: boolean;
}

const wholeSession = { before: null, prompt: "" };

const menuId = "session-actions";

export function Header({ onSearch, onSessions, onDetails, hasDetails }: HeaderActions): JSX.Element {
	void tick.value;
	const isOpen = currentId.value !== null && lost.value === null;
	const mayControl = access.value === "control";
	const actions = [
		{ icon: "search", label: "Find", run: onSearch, isAllowed: true },
		{ icon: "fork", label: "Fork", run: () => (forking.value = wholeSession), isAllowed: mayControl },
		{ icon: "archive", label: "Archive", run: () => attempt(archive), isAllowed: mayControl },
	] as const;
	const status =
		connection.value === "offline"
			? "offline, trying again"
			: connection.value === "closed"
				? "closed"
				: connection.value === "loading"
					? "opening"
					: conversation.activity;
	return (
		<header class="top">
			<button type="button" class="plain menu" onClick={onSessions}>
				<Icon name="menu" />
				<span class="label">Sessions</span>
			</button>
			{isOpen ? (
				<>
					<div class="heading">
						<SessionTitle key={currentId.value} />
						<p class="quiet where">
							<span
								class={`status ${connection.value === "offline" ? "offline" : ""} ${conversation.openInteractions.size > 0 ? "waiting" : ""}`}
								role="status"
								title={status}
							>
								{status}
							</span>
							<span class="directory" title={workDir.value}>
								{workDir.value}
							</span>
						</p>
					</div>
					{/* A row of buttons in wide windows, a menu behind the next button in narrow ones. */}
					<div class="session-actions" id={menuId} popover="auto">
						{actions.map(({ icon, label, run, isAllowed }) => (
							<button
								key={label}
								type="button"
								class="plain"
								popovertarget={menuId}
								popovertargetaction="hide"
								disabled={!isAllowed}
								onClick={run}
							>
								<Icon name={icon} />
								<span>{label}</span>
							</button>
						))}
					</div>
					<button type="button" class="plain more-actions" popovertarget={menuId}>
						<Icon name="more" />
						<span class="label">More</span>
					</button>
					<button type="button" class="plain menu" aria-expanded={hasDetails} onClick={onDetails}>
						<Icon name="details" />
						<span class="label">Details</span>
					</button>
				</>
			) : (
				<strong class="brand">agentwire</strong>
			)}
		</header>
	);
}
