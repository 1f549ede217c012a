// Above the conversation: its title, what goes on, and the switches of the session.
import type { JSX } from "preact";
import type { SessionMode } from "../src/events/session-mode.ts";
import { SessionTitle } from "./session-title.tsx";
import {
	access,
	attempt,
	connection,
	conversation,
	currentId,
	mode,
	model,
	models,
	open,
	refresh,
	tick,
	workDir,
} from "./store.ts";
import { call } from "./wire.ts";

interface HeaderActions {
	readonly onSessions: () => void;
	readonly onDetails: () => void;
	readonly hasDetails: boolean;
}

export function Header({ onSessions, onDetails, hasDetails }: HeaderActions): JSX.Element {
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
