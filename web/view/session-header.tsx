// What the open session is, and what it does at this moment.
import { useState } from "preact/hooks";
import {
	connection,
	conversation,
	mayControl,
	models,
	open,
	rename,
	sessions,
	setMode,
	setModel,
} from "../model/app.ts";
import { baseName } from "../text/words.ts";
import { isPanelShown, isSidebarShown } from "./layout.ts";

const modes = [
	["default", "Ask"],
	["plan", "Plan"],
	["auto", "Unattended"],
	["yolo", "Allow everything"],
] as const;

export function SessionHeader() {
	const shown = conversation.value;
	if (open.value === null || shown === null) return null;
	const list = models.value?.options ?? [];
	const current = list.find(({ alias }) => alias === shown.model?.alias);
	const isOff = !mayControl.value;
	const title = shown.title ?? sessions.value.find(({ id }) => id === open.value?.id)?.title ?? "New session";
	return (
		<header class={`session-header ${shown.mode}`}>
			<button
				type="button"
				class="only-narrow"
				aria-label="Sessions"
				onClick={() => (isSidebarShown.value = !isSidebarShown.value)}
			>
				☰
			</button>
			<div class="session-name">
				<Title key={open.value.id} title={title} />
				<p title={shown.workDir}>{shown.workDir === "" ? "" : baseName(shown.workDir)}</p>
			</div>
			<p class="status" role="status">
				<Status />
			</p>
			<select
				aria-label="Mode"
				class={`mode ${shown.mode}`}
				value={shown.mode}
				disabled={isOff}
				onChange={(event) => void setMode(modes.find(([mode]) => mode === event.currentTarget.value)?.[0] ?? "default")}
			>
				{modes.map(([mode, words]) => (
					<option key={mode} value={mode}>
						{words}
					</option>
				))}
			</select>
			{list.length > 0 && (
				<select
					aria-label="Model"
					value={shown.model?.alias ?? ""}
					disabled={isOff}
					onChange={(event) => void setModel(event.currentTarget.value, null)}
				>
					{current === undefined && <option value={shown.model?.alias ?? ""}>{shown.model?.name ?? "No model"}</option>}
					{list.map(({ alias, name }) => (
						<option key={alias} value={alias}>
							{name}
						</option>
					))}
				</select>
			)}
			{current?.thinking === "optional" && (
				<label class="thinking">
					<input
						type="checkbox"
						checked={shown.model?.thinking ?? false}
						disabled={isOff}
						onChange={(event) => void setModel(null, event.currentTarget.checked)}
					/>
					Think
				</label>
			)}
			<button
				type="button"
				aria-pressed={isPanelShown.value}
				onClick={() => (isPanelShown.value = !isPanelShown.value)}
			>
				Details
			</button>
		</header>
	);
}

/** A title that is clicked can be changed. */
function Title({ title }: { readonly title: string }) {
	const [isEditing, setEditing] = useState(false);
	if (!isEditing || !mayControl.value) {
		return (
			<h1>
				<button
					type="button"
					class="title"
					title="Rename"
					disabled={!mayControl.value}
					onClick={() => setEditing(true)}
				>
					{title}
				</button>
			</h1>
		);
	}
	const settle = (text: string) => {
		setEditing(false);
		if (text !== title) void rename(text);
	};
	return (
		<input
			aria-label="Title"
			maxLength={200}
			defaultValue={title}
			ref={(input) => input?.focus()}
			onBlur={(event) => settle(event.currentTarget.value)}
			onKeyDown={(event) => {
				if (event.key === "Enter") event.currentTarget.blur();
				else if (event.key === "Escape") setEditing(false);
			}}
		/>
	);
}

function Status() {
	const shown = conversation.value;
	if (connection.value === "offline") return <span class="dot offline">Offline</span>;
	if (connection.value === "connecting") return <span class="dot">Connecting</span>;
	if ((shown?.asks.length ?? 0) > 0) return <span class="dot waiting">Waiting for you</span>;
	if (shown?.turnId != null) return <span class="dot running">{shown.activity ?? "Working"}</span>;
	return <span class="dot idle">Idle</span>;
}
