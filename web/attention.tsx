// What waits for the person: always in sight above the composer, the oldest first, answered with one key.
import type { JSX } from "preact";
import { useLayoutEffect, useState } from "preact/hooks";
import type { ApprovalInteraction, Interaction } from "../src/api/values/interaction.ts";
import type { Subject } from "../src/api/values/subject.ts";
import { Diff } from "./diff-view.tsx";
import { access, attempt, conversation, respond, tick } from "./store.ts";

type Question = Extract<Interaction, { kind: "question" }>;

export function Attention(): JSX.Element | null {
	void tick.value;
	const open = [...conversation.openInteractions.values()];
	const [first] = open;
	if (first === undefined) return null;
	return (
		<section class="attention" aria-label="Waits for you" aria-live="assertive">
			{open.length > 1 ? <p class="quiet">1 of {open.length} that wait</p> : null}
			{access.value === "observe" ? <p>This window may only look: somebody else answers.</p> : null}
			{first.kind === "approval" ? <Approval key={first.id} ask={first} /> : null}
			{first.kind === "question" ? <QuestionForm key={first.id} ask={first} /> : null}
		</section>
	);
}

function where(subject: Subject): string {
	switch (subject.kind) {
		case "command":
			return `in ${subject.cwd}${subject.outsideSandbox === true ? ", outside of the sandbox" : ""}`;
		case "file":
			return `${subject.operation} ${subject.path}${subject.named === undefined ? "" : ` (named ${subject.named})`}`;
		case "network":
			return `asks ${subject.url}`;
		case "web-search":
			return `searches the web for “${subject.query}”`;
		case "mcp":
			return `${subject.tool} of the tool server ${subject.server}`;
		case "client-tool":
		case "plugin-tool":
			return subject.name;
		case "task":
			return `stops the background task ${subject.id}`;
	}
}

function Approval({ ask }: { ask: ApprovalInteraction }): JSX.Element {
	const [isExplaining, setExplaining] = useState(false);
	const [why, setWhy] = useState("");
	const grants = ask.grants ?? null;
	const canGrant = grants === null || grants.length > 0;
	const answer = (decision: "approve" | "approve_for_session" | "reject", feedback = "") =>
		attempt(() => respond(ask.id, { kind: "approval", decision, feedback }));
	// Together with what is drawn: a key that is pressed as soon as the question is seen counts.
	useLayoutEffect(() => {
		const onKey = (event: KeyboardEvent) => {
			const target = event.target;
			const isTyping = target instanceof HTMLTextAreaElement || target instanceof HTMLInputElement;
			if ((isTyping && target.value !== "") || event.ctrlKey || event.metaKey || event.altKey) return;
			if (!["1", "2", "3", "4"].includes(event.key) || access.value !== "control") return;
			event.preventDefault();
			if (event.key === "1") answer("approve");
			if (event.key === "2" && canGrant) answer("approve_for_session");
			if (event.key === "3") answer("reject");
			if (event.key === "4") setExplaining(true);
		};
		addEventListener("keydown", onKey);
		return () => removeEventListener("keydown", onKey);
	});
	const commands = (ask.subjects ?? []).flatMap((subject) => (subject.kind === "command" ? [subject.text] : []));
	const from = ask.subagentType ?? ask.sourceDescription;
	return (
		<div class="approval">
			<h2>
				{ask.sender} wants to act{from === null ? "" : ` (${from})`}
			</h2>
			<div class="shown">
				{commands.map((text) => (
					<pre class="command" tabIndex={0}>
						{text}
					</pre>
				))}
				{ask.display.map((block, index) => (
					<Diff key={index} block={block} />
				))}
				{commands.length === 0 && !ask.display.some(({ type }) => type === "diff") ? (
					<p class="mono">{ask.description}</p>
				) : null}
			</div>
			<p class="quiet">
				{(ask.subjects ?? []).map(where).join("; ")}
				{ask.reason === undefined ? "" : ` — asks because ${ask.reason}`}
			</p>
			{isExplaining ? (
				<form
					onSubmit={(event) => {
						event.preventDefault();
						answer("reject", why);
					}}
				>
					<input
						aria-label="Why you reject it"
						placeholder="What should it do instead?"
						value={why}
						autoFocus
						onInput={(event) => setWhy(event.currentTarget.value)}
					/>
					<button type="submit">Reject</button>
				</form>
			) : (
				<div class="answers">
					<button type="button" class="main" disabled={access.value !== "control"} onClick={() => answer("approve")}>
						Allow <kbd>1</kbd>
					</button>
					{canGrant ? (
						<button type="button" disabled={access.value !== "control"} onClick={() => answer("approve_for_session")}>
							Allow {grants === null ? "such calls" : <code>{grants.join(", ")}</code>} in this session <kbd>2</kbd>
						</button>
					) : null}
					<button type="button" disabled={access.value !== "control"} onClick={() => answer("reject")}>
						Reject <kbd>3</kbd>
					</button>
					<button type="button" disabled={access.value !== "control"} onClick={() => setExplaining(true)}>
						Reject and say why <kbd>4</kbd>
					</button>
				</div>
			)}
		</div>
	);
}

function QuestionForm({ ask }: { ask: Question }): JSX.Element {
	const [chosen, setChosen] = useState<Readonly<Record<string, readonly string[]>>>({});
	const [own, setOwn] = useState<Readonly<Record<string, string>>>({});
	const toggle = (question: string, label: string, isMany: boolean) => {
		const before = chosen[question] ?? [];
		const many = before.includes(label) ? before.filter((each) => each !== label) : [...before, label];
		setChosen({ ...chosen, [question]: isMany ? many : [label] });
		if (!isMany) setOwn({ ...own, [question]: "" });
	};
	const answerOf = (question: string) =>
		[...(chosen[question] ?? []), ...(own[question]?.trim() ? [own[question].trim()] : [])].join(", ");
	const isComplete = ask.questions.every(({ question }) => answerOf(question) !== "");
	const submit = (answers: Record<string, string>) => attempt(() => respond(ask.id, { kind: "question", answers }));
	return (
		<form
			class="approval"
			onSubmit={(event) => {
				event.preventDefault();
				if (isComplete) submit(Object.fromEntries(ask.questions.map(({ question }) => [question, answerOf(question)])));
			}}
		>
			<div class="shown">
				{ask.questions.map((item, index) => (
					<fieldset key={index}>
						<legend>{item.question}</legend>
						{item.body === "" ? null : <p>{item.body}</p>}
						{item.options.map((option) => (
							<label key={option.label} class="option">
								<input
									type={item.multi_select ? "checkbox" : "radio"}
									name={`${ask.id}-${index}`}
									checked={(chosen[item.question] ?? []).includes(option.label)}
									onChange={() => toggle(item.question, option.label, item.multi_select)}
								/>
								<span>
									{option.label} {option.description === "" ? null : <span class="quiet">{option.description}</span>}
								</span>
							</label>
						))}
						<input
							aria-label={`Another answer to: ${item.question}`}
							placeholder={item.other_label === "" ? "Something else" : item.other_label}
							value={own[item.question] ?? ""}
							onInput={(event) => {
								setOwn({ ...own, [item.question]: event.currentTarget.value });
								if (!item.multi_select) setChosen({ ...chosen, [item.question]: [] });
							}}
						/>
					</fieldset>
				))}
			</div>
			<div class="answers">
				<button type="submit" class="main" disabled={!isComplete || access.value !== "control"}>
					Answer
				</button>
				<button type="button" disabled={access.value !== "control"} onClick={() => submit({})}>
					Dismiss
				</button>
			</div>
		</form>
	);
}
