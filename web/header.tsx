// Above the conversation: its title, what goes on, and the switches of the session.
import type { JSX } from "preact";
import { type SessionMode, sessionModes } from "../src/api/values/session-mode.ts";
import { Icon } from "./icons.tsx";
import { SessionTitle } from "./session-title.tsx";
import {
	access,
	archive,
	attempt,
	connection,
	conversation,
	currentId,
	fork,
	lost,
	mode,
	model,
	models,
	modes,
	setMode,
	setModel,
	tick,
	workDir,
} from "./store.ts";

export const modeNames: Readonly<Record<SessionMode, string>> = {
	default: "Ask",
	plan: "Plan",
	auto: "Auto",
	yolo: "Yolo: allow everything",
};

interface HeaderActions {
	readonly onSessions: () => void;
	readonly onSearch: () => void;
	readonly onDetails: () => void;
	readonly hasDetails: boolean;
}

export function Header({ onSearch, onSessions, onDetails, hasDetails }: HeaderActions): JSX.Element {
	void tick.value;
	const isOpen = currentId.value !== null && lost.value === null;
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
	return (
		<header class="top">
			<button type="button" class="plain menu" onClick={onSessions}>
				<Icon name="menu" />
				<span class="label">Sessions</span>
			</button>
			{isOpen ? (
				<>
					<div class="heading">
						<SessionTitle key={sessionId} />
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
					<div class="switches">
						<select
							aria-label="Mode"
							class={mode.value === "yolo" ? "dangerous" : ""}
							value={mode.value}
							disabled={!mayControl}
							onChange={(event) => {
								const wanted = sessionModes.find((each) => each === event.currentTarget.value);
								if (wanted !== undefined) attempt(() => setMode(wanted));
							}}
						>
							{sessionModes
								.filter((each) => each === mode.value || modes.value.includes(each))
								.map((each) => (
									<option key={each} value={each}>
										{modeNames[each]}
									</option>
								))}
						</select>
						<select
							aria-label="Model"
							value={model.value?.alias ?? ""}
							disabled={!mayControl}
							onChange={(event) => {
								const alias = event.currentTarget.value;
								attempt(() => setModel(alias, null));
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
										attempt(() => setModel(null, thinking));
									}}
								/>
								Thinking
							</label>
						) : null}
						<button type="button" class="plain" onClick={onSearch}>
							<Icon name="search" />
							<span class="label">Find</span>
						</button>
						<button type="button" class="plain" disabled={!mayControl} onClick={() => attempt(fork)}>
							<Icon name="fork" />
							<span class="label">Fork</span>
						</button>
						<button type="button" class="plain" disabled={!mayControl} onClick={() => attempt(archive)}>
							<Icon name="archive" />
							<span class="label">Archive</span>
						</button>
						<button type="button" class="plain menu" aria-expanded={hasDetails} onClick={onDetails}>
							<Icon name="details" />
							<span class="label">Details</span>
						</button>
					</div>
				</>
			) : null}
		</header>
	);
}
