// What can be done with a turn: copy, edit and send again, go back to before it, try again.
import type { ComponentType, JSX } from "preact";
import { useState } from "preact/hooks";
import type { UserInput } from "../src/api/values/content.ts";
import type { Turn, TurnEnd } from "./blocks.ts";
import { Icon, type IconName } from "./icons.tsx";
import type { RewindDialog } from "./rewind.tsx";
import { access, attempt, edited, forking, isWorking, resend, send } from "./store.ts";
import { attachedFile, plainInput } from "./texts.ts";

interface ActionProps {
	readonly icon: IconName;
	readonly label: string;
	readonly onClick: () => void;
}

function Action({ icon, label, onClick }: ActionProps): JSX.Element {
	return (
		<button type="button" class="plain" title={label} onClick={onClick}>
			<Icon name={icon} />
			<span class="label">{label}</span>
		</button>
	);
}

function Copy({ text, label }: { text: string; label: string }): JSX.Element | null {
	const [isCopied, setCopied] = useState(false);
	// Pages without HTTPS that come from another machine have no clipboard.
	if (!isSecureContext || text === "") return null;
	const copy = () => void navigator.clipboard.writeText(text).then(() => setCopied(true));
	return <Action icon="copy" label={isCopied ? "Copied" : label} onClick={copy} />;
}

/** Below a prompt. */
export function PromptActions({ turn }: { turn: Turn }): JSX.Element {
	const [Dialog, setDialog] = useState<ComponentType<Parameters<typeof RewindDialog>[0]> | null>(null);
	const { id, prompt } = turn;
	const mayChange = id !== null && prompt !== null && !turn.isRewound && access.value === "control" && !isWorking.value;
	return (
		<div class="actions">
			<Copy text={prompt === null ? "" : writtenText(prompt)} label="Copy" />
			{mayChange ? (
				<>
					<Action icon="edit" label="Edit" onClick={() => startEditing(id, prompt)} />
					<Action
						icon="rewind"
						label="Rewind"
						onClick={() => void import("./rewind.tsx").then((loaded) => setDialog(() => loaded.RewindDialog))}
					/>
					<Action
						icon="fork"
						label="Fork"
						onClick={() => (forking.value = { before: id, prompt: plainInput(prompt) })}
					/>
				</>
			) : null}
			{Dialog === null || id === null ? null : (
				<Dialog turnId={id} prompt={plainInput(prompt ?? "")} onClose={() => setDialog(null)} />
			)}
		</div>
	);
}

/** What the person wrote, without the files that came with it. */
function writtenText(input: UserInput): string {
	if (typeof input === "string") return input;
	return input
		.flatMap((part) => (part.type === "text" && attachedFile(part.text) === null ? part.text : []))
		.join("\n");
}

function startEditing(turnId: string, input: UserInput): void {
	const rest =
		typeof input === "string" ? [] : input.filter((part) => part.type !== "text" || attachedFile(part.text) !== null);
	edited.value = { turnId, text: writtenText(input), rest };
}

/** Below a turn that has ended. */
export function AnswerActions({ turn, isLast }: { turn: Turn; isLast: boolean }): JSX.Element {
	const { id, prompt, blocks, end } = turn;
	const said = blocks.flatMap((block) => (block.kind === "text" ? block.text : [])).join("\n\n");
	const mayRetry = isLast && id !== null && prompt !== null && !turn.isRewound && access.value === "control";
	const isBroken = end !== null && end.tone !== "plain";
	const hasWorked = blocks.some((block) => block.kind === "tool" && block.result !== null);
	return (
		<>
			{end === null ? null : <Ending end={end} />}
			<div class={`actions ${isBroken ? "broken" : ""}`}>
				<Copy text={said} label="Copy" />
				{mayRetry && isBroken && hasWorked ? (
					<Action icon="play" label="Continue" onClick={() => attempt(() => send("Continue."))} />
				) : null}
				{mayRetry ? <Action icon="retry" label="Retry" onClick={() => attempt(() => resend(id, prompt))} /> : null}
				{mayRetry && isBroken ? <Action icon="model" label="Change model" onClick={chooseModel} /> : null}
			</div>
		</>
	);
}

function Ending({ end }: { end: TurnEnd }): JSX.Element {
	return (
		<p class={`end ${end.tone}`}>
			<strong>{end.text}</strong> {end.help}
		</p>
	);
}

function chooseModel(): void {
	const choice = document.querySelector<HTMLSelectElement>("select[aria-label=Model]");
	choice?.focus();
	choice?.showPicker();
}
