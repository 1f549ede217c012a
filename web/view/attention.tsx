// What waits for the person, above the composer wherever they have scrolled: approvals and questions, the oldest first.
import { useEffect, useState } from "preact/hooks";
import { answer, conversation, mayControl } from "../model/app.ts";
import { isDiff } from "../model/blocks.ts";
import type { Ask } from "../model/conversation.ts";
import { Difference } from "./difference.tsx";
import { Markdown } from "./markdown.tsx";

type ApprovalAsk = Ask & { readonly interaction: { readonly kind: "approval" } };
type QuestionAsk = Ask & { readonly interaction: { readonly kind: "question" } };

const isApproval = (ask: Ask): ask is ApprovalAsk => ask.interaction.kind === "approval";
const isQuestion = (ask: Ask): ask is QuestionAsk => ask.interaction.kind === "question";

export function Attention() {
	const asks = conversation.value?.asks ?? [];
	const [first] = asks;
	if (first === undefined) return null;
	return (
		<section class="attention" aria-label="Waiting for you" aria-live="assertive">
			{asks.length > 1 && <p class="label">1 of {asks.length}</p>}
			{isApproval(first) && <Approval key={first.interaction.id} ask={first} />}
			{isQuestion(first) && <Question key={first.interaction.id} ask={first} />}
		</section>
	);
}

/** Whether a key is meant for what is typed into. */
const isTyping = (event: KeyboardEvent) =>
	event.target instanceof HTMLElement &&
	(event.target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName)) &&
	!(event.target instanceof HTMLTextAreaElement && event.target.value === "");

function Approval({ ask }: { readonly ask: ApprovalAsk }) {
	const { sender, action, description, display, grants = [], reason, subagentType } = ask.interaction;
	const [isSayingWhy, setSayingWhy] = useState(false);
	const [feedback, setFeedback] = useState("");
	const give = (decision: "approve" | "approve_for_session" | "reject", words = "") =>
		void answer(ask, { kind: "approval", decision, feedback: words });
	const canAnswer = mayControl.value && !ask.isAnswered;
	useEffect(() => {
		const press = (event: KeyboardEvent) => {
			if (!canAnswer || isTyping(event) || event.ctrlKey || event.metaKey || event.altKey) return;
			if (event.key === "1") give("approve");
			else if (event.key === "2" && grants.length > 0) give("approve_for_session");
			else if (event.key === "3") give("reject");
			else if (event.key === "4") setSayingWhy(true);
			else return;
			event.preventDefault();
		};
		addEventListener("keydown", press);
		return () => removeEventListener("keydown", press);
	}, [ask, canAnswer]);
	const commands = display.flatMap((block) =>
		block.type === "shell" && "command" in block ? [String(block.command)] : [],
	);
	const diffs = display.filter(isDiff);
	const rest = commands.length + diffs.length === 0 ? description : withoutCommand(description, commands);
	return (
		<>
			<header>
				<strong>{sender}</strong> wants to {action}
				{subagentType !== null && <span class="label"> (subagent {subagentType})</span>}
			</header>
			<div class="attention-body">
				{commands.map((command, index) => (
					<pre key={index} class="command" tabIndex={0}>
						{command}
					</pre>
				))}
				{diffs.map((diff, index) => (
					<Difference key={index} diff={diff} />
				))}
				{rest !== "" && <p class="why">{rest}</p>}
				{reason !== undefined && !rest.includes(reason) && <p class="why">{reason}</p>}
			</div>
			{isSayingWhy ? (
				<form
					class="feedback"
					onSubmit={(event) => {
						event.preventDefault();
						give("reject", feedback);
					}}
				>
					<input
						value={feedback}
						onInput={(event) => setFeedback(event.currentTarget.value)}
						placeholder="What should it do instead?"
						aria-label="What should it do instead?"
						ref={(input) => input?.focus()}
					/>
					<button type="submit" class="danger" disabled={!canAnswer}>
						Reject
					</button>
					<button type="button" onClick={() => setSayingWhy(false)}>
						Back
					</button>
				</form>
			) : (
				<div class="buttons">
					<Choice name="1" text="Allow" kind="primary" isOff={!canAnswer} act={() => give("approve")} />
					{grants.length > 0 && (
						<Choice
							name="2"
							text={`Allow ${grants.join(", ")} in this session`}
							isOff={!canAnswer}
							act={() => give("approve_for_session")}
						/>
					)}
					<Choice name="3" text="Reject" kind="danger" isOff={!canAnswer} act={() => give("reject")} />
					<Choice name="4" text="Reject and say why" isOff={!canAnswer} act={() => setSayingWhy(true)} />
				</div>
			)}
		</>
	);
}

/** The words about a command without the command, which is shown above them. */
function withoutCommand(description: string, commands: readonly string[]): string {
	const rest = commands.reduce((text, command) => text.replace(command, ""), description);
	return rest
		.replace(/`\s*`/g, "")
		.replace(/^\s*(Run command\s*)?[:.]?\s*/i, "")
		.trim();
}

function Choice(props: {
	readonly name: string;
	readonly text: string;
	readonly kind?: "primary" | "danger";
	readonly isOff: boolean;
	act(): void;
}) {
	return (
		<button
			type="button"
			class={props.kind ?? ""}
			disabled={props.isOff}
			onClick={() => props.act()}
			title={props.text}
		>
			<kbd>{props.name}</kbd> <span>{props.text}</span>
		</button>
	);
}

function Question({ ask }: { readonly ask: QuestionAsk }) {
	const { questions } = ask.interaction;
	const [given, setGiven] = useState<Readonly<Record<string, string>>>({});
	const canAnswer = mayControl.value && !ask.isAnswered;
	const isWhole = questions.every(({ question }) => (given[question] ?? "").trim() !== "");
	const choose = (question: string, value: string) => setGiven({ ...given, [question]: value });
	return (
		<form
			onSubmit={(event) => {
				event.preventDefault();
				if (isWhole) void answer(ask, { kind: "question", answers: { ...given } });
			}}
		>
			<div class="attention-body">
				{questions.map((item) => (
					<fieldset key={item.question}>
						<legend>{item.question}</legend>
						{item.body !== "" && <Markdown text={item.body} />}
						{item.options.map(({ label, description }) => {
							const chosen = (given[item.question] ?? "").split(", ").includes(label);
							return (
								<label key={label} class="option">
									<input
										type={item.multi_select ? "checkbox" : "radio"}
										name={item.question}
										checked={chosen}
										onChange={() =>
											choose(item.question, item.multi_select ? toggled(given[item.question], label) : label)
										}
									/>
									<span>
										{label}
										{description !== "" && <small>{description}</small>}
									</span>
								</label>
							);
						})}
						<input
							class="other"
							placeholder={item.other_label || "Something else"}
							aria-label={`${item.other_label || "Something else"}: ${item.question}`}
							onInput={(event) => choose(item.question, event.currentTarget.value)}
						/>
					</fieldset>
				))}
			</div>
			<div class="buttons">
				<button type="submit" class="primary" disabled={!canAnswer || !isWhole}>
					Answer
				</button>
				<button type="button" disabled={!canAnswer} onClick={() => void answer(ask, { kind: "question", answers: {} })}>
					Leave it to the agent
				</button>
			</div>
		</form>
	);
}

function toggled(before: string | undefined, label: string): string {
	const chosen = (before ?? "").split(", ").filter((each) => each !== "");
	return (chosen.includes(label) ? chosen.filter((each) => each !== label) : [...chosen, label]).join(", ");
}
