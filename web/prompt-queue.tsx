// The prompts that wait for the end of the turn: every window shows them and may change them.
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { Result } from "../src/frontends/gateway/protocol.ts";
import { access, attempt, changeQueued, conversation, queue, removeQueued, sendQueued, tick } from "./store.ts";

type Queued = Result<"queue.list">["prompts"][number];

export function PromptQueue(): JSX.Element | null {
	void tick.value;
	const { prompts, failure } = queue.value;
	if (prompts.length === 0) return null;
	const why = failure ?? (conversation.isRunning ? null : "Queue paused: the last turn did not finish.");
	return (
		<section class="queue" aria-label="Queued prompts">
			<ol>
				{prompts.map((prompt) => (
					<QueuedRow key={prompt.id} prompt={prompt} />
				))}
			</ol>
			{why === null ? null : <p class={failure === null ? "quiet" : "warning-text"}>{why}</p>}
		</section>
	);
}

function QueuedRow({ prompt }: { prompt: Queued }): JSX.Element {
	const [isEdited, setEdited] = useState(false);
	const mayControl = access.value === "control";
	const names = prompt.files.map(({ name }) => name).join(", ");
	const settle = (text: string) => {
		setEdited(false);
		if (text.trim() !== "" && text !== prompt.input) attempt(() => changeQueued(prompt.id, text.trim()));
	};
	if (isEdited) {
		return (
			<li>
				<textarea
					aria-label="Edited prompt"
					rows={2}
					defaultValue={prompt.input}
					ref={(field) => field?.focus()}
					onBlur={(event) => settle(event.currentTarget.value)}
					onKeyDown={(event) => {
						if (event.key === "Escape") setEdited(false);
						else if (event.key === "Enter" && !event.shiftKey && !event.isComposing) event.currentTarget.blur();
						else return;
						event.preventDefault();
						event.stopPropagation();
					}}
				/>
			</li>
		);
	}
	return (
		<li>
			<span class="text" title={prompt.input}>
				{prompt.input}
				{names === "" ? null : <span class="quiet"> · {names}</span>}
			</span>
			<button type="button" disabled={!mayControl} onClick={() => setEdited(true)}>
				Edit
			</button>
			<button type="button" disabled={!mayControl} onClick={() => attempt(() => sendQueued(prompt.id))}>
				Send now
			</button>
			<button
				type="button"
				disabled={!mayControl}
				aria-label={`Remove: ${prompt.input.slice(0, 60)}`}
				onClick={() => attempt(() => removeQueued(prompt.id))}
			>
				Remove
			</button>
		</li>
	);
}
