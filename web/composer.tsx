// Where the person writes: sends, steers, queues, stops, completes commands and files, and attaches files.
import type { JSX } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { PromptFile } from "../src/api/values/prompt-file.ts";
import { Attachments, readFiles } from "./attachments.tsx";
import { listId, type Suggestion, Suggestions, useCompletion } from "./completion.tsx";
import { PromptQueue } from "./prompt-queue.tsx";
import {
	access,
	addToQueue,
	attempt,
	conversation,
	currentId,
	edited,
	resend,
	send,
	steer,
	stop,
	tick,
} from "./store.ts";
import { Switches } from "./switches.tsx";

/** What was written and not sent survives a reload of the window. */
const draftKey = () => `agentwire.draft.${currentId.peek()}`;

/** Sends the message that was written anew in place of the earlier one, with what had come with that. */
async function sendEdited(text: string, files: PromptFile[]): Promise<void> {
	if (edited.value === null) return;
	const { turnId, rest } = edited.value;
	await resend(turnId, rest.length === 0 ? text : [{ type: "text", text }, ...rest], files);
}

export function Composer(): JSX.Element {
	void tick.value;
	const [text, setText] = useState(() => sessionStorage.getItem(draftKey()) ?? "");
	const [caret, setCaret] = useState(text.length);
	const [files, setFiles] = useState<readonly PromptFile[]>([]);
	const [chosen, setChosen] = useState(0);
	const [dismissed, setDismissed] = useState<string | null>(null);
	const [isOver, setOver] = useState(false);
	const field = useRef<HTMLTextAreaElement>(null);
	const picker = useRef<HTMLInputElement>(null);
	const moved = useRef<number | null>(null);
	const escaped = useRef(Number.NEGATIVE_INFINITY);
	const isRunning = conversation.isRunning;
	const mayControl = access.value === "control";
	const completion = useCompletion(text, caret);
	const isCompleting = completion.items.length > 0 && dismissed !== text;
	const isEmpty = text.trim() === "" && files.length === 0;
	useEffect(() => {
		sessionStorage.setItem(draftKey(), text);
		const at = field.current;
		if (at === null) return;
		at.style.height = "auto";
		at.style.height = `${Math.min(at.scrollHeight, innerHeight * 0.4)}px`;
	}, [text]);
	useLayoutEffect(() => {
		if (moved.current !== null) field.current?.setSelectionRange(moved.current, moved.current);
		moved.current = null;
	}, [text]);
	useEffect(() => {
		if (edited.value === null) return;
		setText(edited.value.text);
		field.current?.focus();
	}, [edited.value]);
	useEffect(() => setChosen(0), [completion.title, text]);
	const attach = (given: readonly File[]) => {
		if (given.length === 0 || !mayControl) return;
		attempt(async () => {
			const read = await readFiles(files, given);
			setFiles((now) => [...now, ...read]);
		});
	};
	/** Sends what is written; what could not be sent is there again. */
	const submit = (work: (input: string, files: PromptFile[]) => Promise<unknown>) => {
		if (isEmpty || !mayControl) return;
		const [sent, sentFiles] = [text, files];
		setText("");
		setFiles([]);
		attempt(async () => {
			try {
				await work(sent.trim(), [...sentFiles]);
			} catch (thrown) {
				setText((now) => (now === "" ? sent : now));
				setFiles((now) => (now.length === 0 ? sentFiles : now));
				throw thrown;
			}
		});
	};
	const submitNext = () => submit(isRunning ? addToQueue : edited.value === null ? send : sendEdited);
	const take = (suggestion: Suggestion) => {
		setText(suggestion.text);
		setCaret(suggestion.caret);
		moved.current = suggestion.caret;
		field.current?.focus();
	};
	/** Whether the key was for the list of what can follow. */
	const isForList = (event: KeyboardEvent): boolean => {
		if (!isCompleting) return false;
		const { length } = completion.items;
		const item = completion.items[Math.min(chosen, length - 1)];
		const isWhole = item !== undefined && item.text.trimEnd() === text.trimEnd();
		if (event.key === "ArrowDown") setChosen((chosen + 1) % length);
		else if (event.key === "ArrowUp") setChosen((chosen + length - 1) % length);
		else if (event.key === "Escape") setDismissed(text);
		else if (item !== undefined && (event.key === "Tab" || (event.key === "Enter" && !event.shiftKey && !isWhole)))
			take(item);
		else return false;
		return true;
	};
	const onKey = (event: KeyboardEvent) => {
		if (event.isComposing) return;
		if (!(event.ctrlKey || event.metaKey) && isForList(event)) return event.preventDefault();
		if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
			event.preventDefault();
			submit(isRunning ? steer : send);
		} else if (event.key === "Enter" && !event.shiftKey) {
			event.preventDefault();
			submitNext();
		} else if (event.key === "Escape") {
			if (isRunning && event.timeStamp - escaped.current < 600) attempt(stop);
			escaped.current = event.timeStamp;
		}
	};
	return (
		<form
			class={`composer ${isOver ? "over" : ""}`}
			onSubmit={(event) => {
				event.preventDefault();
				submitNext();
			}}
			onDragOver={(event) => {
				if (event.dataTransfer?.types.includes("Files") !== true || !mayControl) return;
				event.preventDefault();
				setOver(true);
			}}
			onDragLeave={() => setOver(false)}
			onDrop={(event) => {
				setOver(false);
				const dropped = [...(event.dataTransfer?.files ?? [])];
				if (dropped.length === 0) return;
				event.preventDefault();
				attach(dropped);
			}}
		>
			{isCompleting || completion.note !== null ? (
				<Suggestions completion={completion} chosen={chosen} onTake={take} />
			) : null}
			<PromptQueue />
			{edited.value === null ? null : (
				<p class="editing quiet">
					<span>
						Editing an earlier message: sending it rewinds the conversation to before it. Files stay as they are.
					</span>
					<button
						type="button"
						class="plain"
						onClick={() => {
							edited.value = null;
							setText("");
						}}
					>
						Cancel
					</button>
				</p>
			)}
			<div class="box">
				<Attachments files={files} onRemove={(file) => setFiles(files.filter((each) => each !== file))} />
				<textarea
					ref={field}
					rows={1}
					dir="auto"
					aria-label="Message to the agent"
					aria-autocomplete="list"
					{...(isCompleting ? { "aria-controls": listId, "aria-activedescendant": `${listId}-${chosen}` } : {})}
					placeholder={
						mayControl ? (isRunning ? "Queue what comes next" : "Ask, / command, @ file") : "This window is read-only"
					}
					value={text}
					disabled={!mayControl}
					onInput={(event) => {
						setText(event.currentTarget.value);
						setCaret(event.currentTarget.selectionStart);
					}}
					onSelect={(event) => setCaret(event.currentTarget.selectionStart)}
					onKeyDown={onKey}
					onPaste={(event) => {
						const pasted = [...(event.clipboardData?.files ?? [])];
						if (pasted.length === 0) return;
						event.preventDefault();
						attach(pasted);
					}}
				/>
				<div class="row">
					<input
						ref={picker}
						type="file"
						multiple
						hidden
						aria-label="Files to attach"
						onChange={(event) => {
							attach([...(event.currentTarget.files ?? [])]);
							event.currentTarget.value = "";
						}}
					/>
					<button
						type="button"
						class="plain attach"
						aria-label="Attach files"
						title="Attach files, or drop or paste them"
						disabled={!mayControl}
						onClick={() => picker.current?.click()}
					>
						+
					</button>
					<Switches />
					{isRunning && !isEmpty ? (
						<button type="button" onClick={() => submit(steer)}>
							Steer
						</button>
					) : null}
					{isRunning ? (
						<button type="button" class="stop" disabled={!mayControl} onClick={() => attempt(stop)}>
							Stop
						</button>
					) : (
						<button type="submit" class="main" disabled={!mayControl || isEmpty}>
							Send
						</button>
					)}
				</div>
			</div>
		</form>
	);
}
