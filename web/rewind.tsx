// The preview of going back to before a turn: what becomes of the conversation, of each file, and of conflicts. Loaded when it is
// opened for the first time.
import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import type { DisplayBlock } from "../src/api/values/content.ts";
import type { FilePlan } from "../src/api/values/file-changes.ts";
import { Diff } from "./diff-view.tsx";
import { attempt, changesSince, planRewind, report, rewind } from "./store.ts";
import { Visible } from "./visible.tsx";

interface RewindProps {
	readonly turnId: string;
	readonly prompt: string;
	readonly onClose: () => void;
}

export function RewindDialog({ turnId, prompt, onClose }: RewindProps): JSX.Element {
	const dialog = useRef<HTMLDialogElement>(null);
	const [plan, setPlan] = useState<FilePlan | null>(null);
	const [unavailable, setUnavailable] = useState<string | null>(null);
	const [withConversation, setConversation] = useState(true);
	const [withFiles, setFiles] = useState(true);
	const [conflicts, setConflicts] = useState<"skip" | "take">("skip");
	useEffect(() => {
		dialog.current?.showModal();
		planRewind(turnId).then(setPlan, (thrown: Error) => setUnavailable(thrown.message));
	}, [turnId]);
	const count = plan?.files.length ?? 0;
	const restores = withFiles && count > 0;
	const conflicting = plan?.files.filter(({ conflict }) => conflict).length ?? 0;
	return (
		<dialog ref={dialog} class="rewind" aria-label="Rewind" onClose={onClose}>
			<form method="dialog" onSubmit={() => attempt(() => rewind(turnId, restores, withConversation, conflicts))}>
				<h2>Rewind to before this message?</h2>
				<p class="quiet quoted" dir="auto">
					{prompt}
				</p>
				<label class="option">
					<input
						type="checkbox"
						checked={withConversation}
						onChange={(event) => setConversation(event.currentTarget.checked)}
					/>
					<span>
						Conversation <span class="quiet">the model forgets this message and what followed</span>
					</span>
				</label>
				<label class="option">
					<input
						type="checkbox"
						checked={restores}
						disabled={count === 0}
						onChange={(event) => setFiles(event.currentTarget.checked)}
					/>
					<span>
						Files <span class="quiet">{unavailable ?? filesWords(plan)}</span>
					</span>
				</label>
				{restores ? (
					<ul class="planned">
						{plan?.files.map((file) => (
							<PlannedFile key={file.path} file={file} turnId={turnId} />
						))}
					</ul>
				) : null}
				{restores && conflicting > 0 ? (
					<fieldset>
						<legend class="warning-text">
							{conflicting === 1 ? "A file was" : `${conflicting} files were`} changed by somebody else since
						</legend>
						<label class="option">
							<input
								type="radio"
								name="conflicts"
								checked={conflicts === "skip"}
								onChange={() => setConflicts("skip")}
							/>
							<span>Keep their changes</span>
						</label>
						<label class="option">
							<input
								type="radio"
								name="conflicts"
								checked={conflicts === "take"}
								onChange={() => setConflicts("take")}
							/>
							<span>Overwrite their changes</span>
						</label>
					</fieldset>
				) : null}
				<Facts
					title="Cannot be restored"
					facts={(plan?.uncovered ?? []).map(({ path, reason }) => `${path}: ${reason}`)}
				/>
				<Facts title="Not known for certain" facts={plan?.reasons ?? []} />
				<Facts title="Changed by others, kept" facts={plan?.outside ?? []} />
				<div class="answers">
					<button
						type="submit"
						class="main"
						disabled={(plan === null && unavailable === null) || !(withConversation || restores)}
					>
						Rewind
					</button>
					<button type="button" onClick={() => dialog.current?.close()}>
						Cancel
					</button>
				</div>
			</form>
		</dialog>
	);
}

function filesWords(plan: FilePlan | null): string {
	if (plan === null) return "comparing …";
	const { length } = plan.files;
	return length === 0 ? "nothing to restore" : `${length} ${length === 1 ? "file goes" : "files go"} back`;
}

const actionWords = { create: "bring back", change: "restore", delete: "delete" } as const;

/** What becomes of a file; opened, what the turns did to it, which is undone. */
function PlannedFile({ file, turnId }: { file: FilePlan["files"][number]; turnId: string }): JSX.Element {
	const [undone, setUndone] = useState<readonly DisplayBlock[] | null>(null);
	const { path, action, lines, conflict } = file;
	const load = () => {
		if (undone === null) changesSince(turnId, path).then(setUndone, report);
	};
	return (
		<li>
			<details onToggle={load}>
				<summary>
					<span class="quiet">{actionWords[action]}</span>{" "}
					<span class="mono">
						<Visible text={path} />
					</span>{" "}
					{lines === null || lines.added + lines.removed === 0 ? null : (
						<>
							<span class="plus">+{lines.added}</span> <span class="minus">−{lines.removed}</span>
						</>
					)}
					{conflict ? <span class="warning-text"> conflict</span> : null}
				</summary>
				{undone === null ? null : <p class="quiet">{undone.length === 0 ? "Not a text." : "Undoes this change:"}</p>}
				{undone?.map((block, index) => (
					<Diff key={index} block={block} />
				))}
			</details>
		</li>
	);
}

export function Facts({ title, facts }: { title: string; facts: readonly string[] }): JSX.Element | null {
	if (facts.length === 0) return null;
	return (
		<details class="facts">
			<summary>
				{title} ({facts.length})
			</summary>
			<ul>
				{facts.map((fact) => (
					<li class="quiet" key={fact}>
						<Visible text={fact} />
					</li>
				))}
			</ul>
		</details>
	);
}
