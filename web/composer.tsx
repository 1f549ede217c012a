// Where the person writes: sends, steers, queues, stops, and completes commands.
import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { access, attempt, commands, conversation, queue, send, steer, stop, tick } from "./store.ts";

export function Composer(): JSX.Element {
	void tick.value;
	const [text, setText] = useState("");
	const field = useRef<HTMLTextAreaElement>(null);
	const escaped = useRef(0);
	const isRunning = conversation.isRunning;
	const mayControl = access.value === "control";
	const matches =
		text.startsWith("/") && !/\s/.test(text)
			? commands.value.filter(({ name }) => `/${name}`.startsWith(text)).slice(0, 6)
			: [];
	useEffect(() => {
		const at = field.current;
		if (at === null) return;
		at.style.height = "auto";
		at.style.height = `${Math.min(at.scrollHeight, innerHeight * 0.4)}px`;
	}, [text]);
	const clearing = (work: () => Promise<unknown>) => {
		const sent = text;
		setText("");
		attempt(async () => {
			try {
				await work();
			} catch (thrown) {
				// What could not be sent is not lost.
				setText((now) => (now === "" ? sent : now));
				throw thrown;
			}
		});
	};
	const submit = () => {
		const input = text.trim();
		if (input === "" || !mayControl) return;
		if (isRunning) {
			queue.value = [...queue.value, input];
			setText("");
		} else clearing(() => send(input));
	};
	const onKey = (event: KeyboardEvent) => {
		if (event.isComposing) return;
		if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
			event.preventDefault();
			if (isRunning && text.trim() !== "") clearing(() => steer(text.trim()));
			else submit();
		} else if (event.key === "Enter" && !event.shiftKey) {
			event.preventDefault();
			submit();
		} else if (event.key === "Tab" && matches[0] !== undefined) {
			event.preventDefault();
			setText(`/${matches[0].name} `);
		} else if (event.key === "Escape") {
			if (isRunning && event.timeStamp - escaped.current < 600) attempt(stop);
			escaped.current = event.timeStamp;
		}
	};
	return (
		<form
			class="composer"
			onSubmit={(event) => {
				event.preventDefault();
				submit();
			}}
		>
			{matches.length === 0 ? null : (
				<ul class="palette" aria-label="Commands">
					{matches.map(({ name, description }) => (
						<li key={name}>
							<button
								type="button"
								onClick={() => {
									setText(`/${name} `);
									field.current?.focus();
								}}
							>
								<b>/{name}</b> <span class="quiet">{description}</span>
							</button>
						</li>
					))}
				</ul>
			)}
			{queue.value.map((waiting, index) => (
				<p class="queued" key={index}>
					<span>Next: {waiting}</span>
					<button type="button" onClick={() => (queue.value = queue.value.filter((_, at) => at !== index))}>
						Remove
					</button>
				</p>
			))}
			<div class="row">
				<textarea
					ref={field}
					rows={1}
					aria-label="Message to the agent"
					placeholder={
						mayControl ? (isRunning ? "Queue what comes next" : "Ask, or / for commands") : "This window may only look"
					}
					value={text}
					disabled={!mayControl}
					onInput={(event) => setText(event.currentTarget.value)}
					onKeyDown={onKey}
				/>
				{isRunning && text.trim() !== "" ? (
					<button type="button" onClick={() => clearing(() => steer(text.trim()))}>
						Steer
					</button>
				) : null}
				{isRunning ? (
					<button type="button" class="stop" disabled={!mayControl} onClick={() => attempt(stop)}>
						Stop
					</button>
				) : (
					<button type="submit" class="main" disabled={!mayControl || text.trim() === ""}>
						Send
					</button>
				)}
			</div>
		</form>
	);
}
