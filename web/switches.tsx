// Below the message that is written: how the agent may act on it, and which model answers it.
import type { JSX } from "preact";
import { type SessionMode, sessionModes } from "../src/api/values/session-mode.ts";
import { access, attempt, mode, model, models, modes, setMode, setModel } from "./store.ts";

export const modeNames: Readonly<Record<SessionMode, string>> = {
	default: "Ask first",
	plan: "Plan",
	auto: "Auto",
	yolo: "Yolo: allow everything",
};

export function Switches(): JSX.Element {
	const mayControl = access.value === "control";
	const options = models.value?.options ?? [];
	const chosen = options.find(({ alias }) => alias === model.value?.alias);
	return (
		<div class="switches">
			<select
				aria-label="Mode"
				title="What the agent may do without asking"
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
				title={chosen?.name ?? "Model"}
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
				{options.map(({ alias, name }) => (
					<option key={alias} value={alias}>
						{alias === name || alias.endsWith(`/${name}`) ? alias : `${alias} (${name})`}
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
		</div>
	);
}
