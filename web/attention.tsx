// What waits for the person: always in sight above the composer, the oldest first, answered with one key.
import type { JSX, RefObject } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import type { ApprovalInteraction, Interaction } from "../src/api/values/interaction.ts";
import { hidesText } from "../src/base/text/visible-text.ts";
import { Diff } from "./diff-view.tsx";
import { access, attempt, conversation, respond, tick, workDir } from "./store.ts";
import { approvalTitle, grantWords, placeOf } from "./tool-words.ts";
import { HiddenWarning, Visible } from "./visible.tsx";

type Question = Extract<Interaction, { kind: "question" }>;

export function Attention(): JSX.Element | null {
	void tick.value;
	const open = [...conversation.openInteractions.values()];
	const [first] = open;
	if (first === undefined) return null;
	return (
		<section class="attention" aria-label="Waits for you" aria-live="assertive">
			{open.length > 1 ? <p class="quiet">1 of {open.length} waiting</p> : null}
			{access.value === "observe" ? <p>This window is read-only. Answer in another one.</p> : null}
			{first.kind === "approval" ? <Approval key={first.id} ask={first} /> : null}
			{first.kind === "question" ? <QuestionForm key={first.id} ask={first} /> : null}
		</section>
	);
}

function Approval({ ask }: { ask: ApprovalInteraction }): JSX.Element {
	const [isExplaining, setExplaining] = useState(false);
	const [why, setWhy] = useState("");
	const grants = ask.grants ?? null;
	const canGrant = grants === null || grants.length > 0;
	const commands = (ask.subjects ?? []).flatMap((subject) => (subject.kind === "command" ? [subject.text] : []));
	const bar = useRef<HTMLDivElement>(null);
	const box = useRef<HTMLDivElement>(null);
	const reason = useRef<HTMLInputElement>(null);
	const rest = useRest(box, commands.length > 0);
	const answer = (decision: "approve" | "approve_for_session" | "reject", feedback = "") =>
		attempt(() => respond(ask.id, { kind: "approval", decision, feedback }));
	// Together with what is drawn: a key that is pressed as soon as the question is seen counts.
	useLayoutEffect(() => {
		const onKey = (event: KeyboardEvent) => {
			const { target } = event;
			const field = target instanceof HTMLElement && isField(target) ? target : null;
			if (field !== null && event.key === "Escape" && !event.defaultPrevented && field.closest("dialog") === null) {
				setExplaining(false);
				return bar.current?.focus();
			}
			// What is typed into a field is a text and no decision, also while the field is empty.
			if (field !== null || isExplaining || event.repeat || event.ctrlKey || event.metaKey || event.altKey) return;
			if (!["1", "2", "3", "4"].includes(event.key) || access.value !== "control") return;
			event.preventDefault();
			if (event.key === "1" && rest === 0) answer("approve");
			if (event.key === "2" && rest === 0 && canGrant) answer("approve_for_session");
			if (event.key === "3") answer("reject");
			if (event.key === "4") setExplaining(true);
		};
		addEventListener("keydown", onKey);
		return () => removeEventListener("keydown", onKey);
	});
	useLayoutEffect(() => {
		if (isExplaining) reason.current?.focus();
	}, [isExplaining]);
	const mayAllow = access.value === "control" && rest === 0;
	const from = ask.subagentType ?? ask.sourceDescription;
	const facts = [
		...(ask.subjects ?? []).flatMap((subject) => placeOf(subject, workDir.value) ?? []),
		...(from === null ? [] : [`a subagent asks (${from})`]),
		...(ask.reason === undefined ? [] : [`asked because ${ask.reason}`]),
	].join(" · ");
	return (
		<div class="approval" ref={bar} tabIndex={-1}>
			<div class="ask">
				<h2 dir="auto">
					<Visible text={approvalTitle(ask, workDir.value)} />
				</h2>
				<span class="quiet hint">
					<kbd>Esc</kbd> then <kbd>1</kbd>–<kbd>4</kbd>
				</span>
			</div>
			{commands.some(hidesText) ? <HiddenWarning /> : null}
			<div class="shown" ref={box}>
				{commands.map((text) => (
					<pre class="command" tabIndex={0}>
						<Visible text={text} />
					</pre>
				))}
				{ask.display.map((block, index) => (
					<Diff key={index} block={block} />
				))}
				{commands.length === 0 && !ask.display.some(({ type }) => type === "diff") ? (
					<p class="mono">
						<Visible text={ask.description} />
					</p>
				) : null}
			</div>
			{rest === 0 ? null : (
				<button type="button" class="more" onClick={() => box.current?.scrollBy(0, box.current.clientHeight * 0.9)}>
					{rest} more {rest === 1 ? "line" : "lines"}: read to the end before you allow it
				</button>
			)}
			{facts === "" ? null : (
				<p class="quiet">
					<Visible text={facts} />
				</p>
			)}
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
						ref={reason}
						onInput={(event) => setWhy(event.currentTarget.value)}
					/>
					<button type="submit">Reject</button>
				</form>
			) : (
				<div class="answers">
					<button type="button" class="main" disabled={!mayAllow} onClick={() => answer("approve")}>
						Allow <kbd>1</kbd>
					</button>
					{canGrant ? (
						<button type="button" disabled={!mayAllow} onClick={() => answer("approve_for_session")}>
							Allow{" "}
							{grants === null
								? "such calls "
								: grants.map((pattern, place) => {
										const { verb, what } = grantWords(pattern, workDir.value);
										return (
											<>
												{verb}
												<code title={pattern}>
													<Visible text={what} />
												</code>
												{place < grants.length - 1 ? ", " : " "}
											</>
										);
									})}
							in this session <kbd>2</kbd>
						</button>
					) : null}
					<button type="button" disabled={access.value !== "control"} onClick={() => answer("reject")}>
						Reject <kbd>3</kbd>
					</button>
					<button type="button" disabled={access.value !== "control"} onClick={() => setExplaining(true)}>
						Reject with a reason <kbd>4</kbd>
					</button>
				</div>
			)}
		</div>
	);
}

/** Whether keys write into it, or choose in it. */
function isField(target: HTMLElement): boolean {
	return target.isContentEditable || target.matches("input, textarea, select");
}

/** The lines below what is in sight; 0 once the end was seen, or where that does not matter. */
function useRest(box: RefObject<HTMLElement | null>, matters: boolean): number {
	const [rest, setRest] = useState(0);
	const isSeen = useRef(!matters);
	useLayoutEffect(() => {
		const shown = box.current;
		if (shown === null || isSeen.current) return;
		const measure = () => {
			const below = shown.scrollHeight - shown.clientHeight - shown.scrollTop;
			if (below < 4 && shown.clientHeight > 0) isSeen.current = true;
			const lineHeight = Number.parseFloat(getComputedStyle(shown.querySelector("pre") ?? shown).lineHeight) || 20;
			setRest(isSeen.current ? 0 : Math.ceil(below / lineHeight));
		};
		measure();
		shown.addEventListener("scroll", measure);
		return () => shown.removeEventListener("scroll", measure);
	}, [box]);
	return rest;
}

function QuestionForm({ ask }: { ask: Question }): JSX.Element {
	const [chosen, setChosen] = useState<Readonly<Record<string, readonly string[]>>>({});
	const [own, setOwn] = useState<Readonly<Record<string, string>>>({});
	const form = useRef<HTMLFormElement>(null);
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
	const [only] = ask.questions.length === 1 ? ask.questions : [];
	const options = only?.multi_select === false ? only.options : [];
	useLayoutEffect(() => {
		const onKey = (event: KeyboardEvent) => {
			const { target } = event;
			const isTyping = target instanceof HTMLElement && isField(target) && !target.matches("[type=radio]");
			if (isTyping && event.key === "Escape" && !event.defaultPrevented) return form.current?.focus();
			if (isTyping || event.repeat || event.ctrlKey || event.metaKey || event.altKey) return;
			const option = options[Number(event.key) - 1];
			if (only === undefined || option === undefined || access.value !== "control") return;
			event.preventDefault();
			submit({ [only.question]: option.label });
		};
		addEventListener("keydown", onKey);
		return () => removeEventListener("keydown", onKey);
	});
	return (
		<form
			class="approval"
			ref={form}
			tabIndex={-1}
			onSubmit={(event) => {
				event.preventDefault();
				if (isComplete) submit(Object.fromEntries(ask.questions.map(({ question }) => [question, answerOf(question)])));
			}}
		>
			<div class="shown">
				{ask.questions.map((item, index) => (
					<fieldset key={index}>
						<legend dir="auto">{item.question}</legend>
						{item.body === "" ? null : <p dir="auto">{item.body}</p>}
						{item.options.map((option, place) => (
							<label key={option.label} class="option" data-key={options.length === 0 ? undefined : place + 1}>
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
