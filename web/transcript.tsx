// The conversation: turns as blocks, boring calls on a line, commands and changes as cards.
import { Component, type ComponentChildren, type JSX } from "preact";
import { useMemo, useState } from "preact/hooks";
import type { UserInput } from "../src/api/values/content.ts";
import type { Block, TextBlock, ToolBlock, Turn } from "./blocks.ts";
import { Diff } from "./diff-view.tsx";
import { Markdown } from "./markdown.tsx";
import { tick } from "./store.ts";
import { attachedFile, briefArguments, headline, readArguments } from "./texts.ts";
import { lookedWords, verbOf } from "./tool-words.ts";
import { AnswerActions, PromptActions } from "./turn-actions.tsx";
import { Visible } from "./visible.tsx";

const stateWords: Readonly<Record<ToolBlock["state"], string>> = {
	preparing: "preparing",
	waiting: "waiting for you",
	running: "running",
	done: "done",
	failed: "failed",
	refused: "rejected",
	interrupted: "interrupted",
	unknown: "outcome unknown after a crash",
};

export const duration = (ms: number) =>
	ms < 1000
		? `${Math.max(0, ms)} ms`
		: ms < 60_000
			? `${(ms / 1000).toFixed(1)} s`
			: `${Math.floor(ms / 60_000)} min ${Math.round((ms % 60_000) / 1000)} s`;

interface TurnProps {
	readonly turn: Turn;
	/** As the turn had them when this was drawn. */
	readonly extensions: number;
	readonly isLast: boolean;
}

/** Earlier turns do not change: drawing them again with each piece of text would make long sessions slow. */
export class TurnView extends Component<TurnProps> {
	override shouldComponentUpdate({ turn, isLast, extensions }: TurnProps): boolean {
		const { props } = this;
		if (turn !== props.turn || extensions !== props.extensions) return true;
		return isLast || props.isLast || turn.isRunning;
	}
	override render(): JSX.Element {
		const { turn } = this.props;
		return (
			<article class="turn" tabIndex={-1} data-block="turn">
				{turn.prompt === null ? null : (
					<>
						<Prompt input={turn.prompt} />
						<PromptActions turn={turn} />
					</>
				)}
				<Blocks blocks={turn.blocks} revision={tick.peek()} />
				{turn.isRunning ? null : <AnswerActions turn={turn} isLast={this.props.isLast} />}
			</article>
		);
	}
}

/** What the person said, each file that came with it on a line of its own. */
function Prompt({ input }: { input: UserInput }): JSX.Element {
	const parts = typeof input === "string" ? [] : input;
	return (
		<div class="prompt" dir="auto">
			{typeof input === "string" ? input : null}
			{parts.map((part, index) => {
				if (part.type === "image_url") return <Media key={index} address={part.image_url.url} alt="Attached" />;
				if (part.type !== "text") return <p key={index}>[attachment]</p>;
				const file = attachedFile(part.text);
				return file === null ? (
					<div key={index}>{part.text}</div>
				) : (
					<details key={index} class="attached">
						<summary>{file.name}</summary>
						<pre tabIndex={0}>{file.text}</pre>
					</details>
				);
			})}
		</div>
	);
}

/** The tools that only look. Of any other, such as one of a tool server, nobody knows what it does. */
const lookingTools: ReadonlySet<string> = new Set([
	"ReadFile",
	"ReadMediaFile",
	"Glob",
	"Grep",
	"SearchWeb",
	"FetchURL",
	"TaskList",
	"TaskOutput",
	"Think",
]);

const isBoring = (block: ToolBlock): boolean =>
	lookingTools.has(block.name) && ["done", "running", "preparing"].includes(block.state);

/** Blocks change in place: `revision` says that they may have. */
interface Revised {
	readonly revision: number;
}

function Blocks({ blocks, revision }: { blocks: readonly Block[] } & Revised): JSX.Element {
	const shown: ComponentChildren[] = [];
	for (let at = 0; at < blocks.length; at += 1) {
		const run: ToolBlock[] = [];
		for (;;) {
			const next = blocks[at + run.length];
			if (next?.kind !== "tool" || !isBoring(next) || (next.isApart && run.length > 0)) break;
			run.push(next);
		}
		const block = blocks[at];
		if (block === undefined) break;
		if (run.length > 2) {
			shown.push(<Looked key={block.key} calls={run} revision={revision} />);
			at += run.length - 1;
		} else shown.push(<BlockView key={block.key} block={block} revision={revision} />);
	}
	return <>{shown}</>;
}

function Looked({ calls, revision }: { calls: readonly ToolBlock[] } & Revised): JSX.Element {
	return (
		<details class="line" data-block="calls">
			<summary>{lookedWords(calls.map(({ name }) => name))}</summary>
			<div class="lane">
				{calls.map((call) => (
					<ToolView key={call.key} block={call} revision={revision} />
				))}
			</div>
		</details>
	);
}

/** Draws a block again when something of it is different: a long turn has thousands, and mostly its last one grows. */
class BlockView extends Component<{ block: Block } & Revised> {
	#drawn: readonly unknown[] = [];
	override shouldComponentUpdate({ block, revision }: { block: Block } & Revised): boolean {
		const now = stateOf(block, revision);
		return now.length !== this.#drawn.length || now.some((each, index) => each !== this.#drawn[index]);
	}
	override render(): JSX.Element | null {
		const { block, revision } = this.props;
		this.#drawn = stateOf(block, revision);
		return drawBlock(block, revision);
	}
}

/** All of a block that its view depends on. */
function stateOf(block: Block, revision: number): readonly unknown[] {
	const values: readonly unknown[] = Object.values(block);
	// What is in its lane may change with every tick, as far as is known here.
	return block.kind === "tool" && block.children.length > 0 ? [...values, revision] : values;
}

function drawBlock(block: Block, revision: number): JSX.Element | null {
	switch (block.kind) {
		case "text":
			return (
				<div class="says" data-block="text">
					<Markdown text={block.text} />
				</div>
			);
		case "think":
			return <Reasoning block={block} revision={revision} />;
		case "tool":
			return <ToolView block={block} revision={revision} />;
		case "steer":
			return (
				<div class="prompt steer" dir="auto">
					{block.text}
				</div>
			);
		case "plan":
			return (
				<section class="card" aria-label="Plan">
					<header>
						<strong>Plan</strong>
					</header>
					<div class="card-body">
						<Markdown text={block.text} />
					</div>
				</section>
			);
		case "media":
			return <Media address={block.text} alt="Shown by the agent" />;
		case "mark":
			return <p class="note mark">{block.text}</p>;
		case "note":
			return <p class={`note ${block.tone}`}>{block.text}</p>;
	}
}

function Media({ address, alt }: { address: string; alt: string }): JSX.Element {
	// Anything but pictures that came with the event would be a request elsewhere.
	if (/^data:image\/(png|jpeg|gif|webp);base64,/.test(address)) return <img class="media" src={address} alt={alt} />;
	return <p class="note">[attachment]</p>;
}

function Reasoning({ block }: { block: TextBlock } & Revised): JSX.Element {
	const [chosen, choose] = useState<boolean | null>(null);
	const isOpen = chosen ?? !block.isDone;
	const span = (block.endedAt ?? block.startedAt) - block.startedAt;
	const took = span < 1000 ? "" : ` for ${duration(span)}`;
	return (
		<div class="line" data-block="think">
			<button type="button" class="fold" aria-expanded={isOpen} onClick={() => choose(!isOpen)}>
				{block.isDone ? `Thought${took}` : "Thinking"}
			</button>
			{isOpen ? <div class="thought">{block.text}</div> : null}
		</div>
	);
}

/** What they give the model is what the person answered, which is shown as that. */
const askingTools: ReadonlySet<string> = new Set(["AskUserQuestion", "EnterPlanMode", "ExitPlanMode"]);

function outputOf({ name, state, decision, result, live }: ToolBlock): string {
	if (result === null) return live;
	// The decision says the same, and whose it was.
	if (decision !== null && (askingTools.has(name) || state === "refused")) return "";
	const { output, message, display } = result;
	// What the model is told about a background task; the person has the task among the details.
	if (display.some(({ type }) => type === "background_task")) return message;
	const text =
		typeof output === "string"
			? output
			: output.map((part) => (part.type === "text" ? part.text : "[media]")).join("\n");
	return text === "" ? message : text;
}

function ToolView({ block, revision }: { block: ToolBlock } & Revised): JSX.Element {
	const [isOpen, setOpen] = useState(false);
	const output = outputOf(block);
	const given = useMemo(() => readArguments(block.arguments), [block.arguments]);
	const about = headline(block.name, given);
	const command = typeof given["command"] === "string" ? given["command"] : null;
	// While it waits the change is shown where it is answered.
	const diffs = block.state === "waiting" ? [] : block.display.filter((each) => each.type === "diff");
	const todo = block.display.find((each) => each.type === "todo");
	const exit = /exit code:? (\d+)/i.exec(block.result?.message ?? "")?.[1];
	const took = block.startedAt !== null && block.endedAt !== null ? duration(block.endedAt - block.startedAt) : "";
	const state = (
		<span class={`state ${block.state}`}>
			{stateWords[block.state]}
			{exit === undefined || exit === "0" ? "" : `, exit code ${exit}`}
			{took === "" ? "" : ` · ${took}`}
		</span>
	);
	const verb = <b>{verbOf(block.name)}</b>;
	const [only, ...others] = diffs;
	const isOneChange = command === null && only !== undefined && others.length === 0;
	const decision = block.decision === null ? null : <p class="decision">{block.decision}</p>;
	if (isBoring(block)) {
		return (
			<div class="line" data-block="call">
				<button type="button" class="fold" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
					{verb} <span class="mono">{about === block.name ? "" : <Visible text={about} />}</span>
				</button>
				{isOpen ? <pre tabIndex={0}>{output}</pre> : null}
			</div>
		);
	}
	const lines = output.replace(/\n+$/, "").split("\n");
	const shown = isOpen ? lines : lines.slice(-5);
	return (
		<section
			class={`card ${block.state}`}
			data-block="call"
			aria-label={`${verbOf(block.name)} ${about}: ${stateWords[block.state]}`}
		>
			{isOneChange ? (
				<Diff block={only} verb={verb} state={state} />
			) : (
				<>
					<header>
						{command === null ? (
							<span>
								{verb}{" "}
								<span class="mono">
									<Visible text={about === block.name ? briefArguments(given) : about} />
								</span>
							</span>
						) : (
							<code class="command">
								<Visible text={command} />
							</code>
						)}
						{state}
					</header>
					{diffs.map((diff, index) => (
						<Diff key={index} block={diff} />
					))}
				</>
			)}
			{todo === undefined || !("items" in todo) ? null : (
				<ul class="todo">
					{todo.items.map((item) => (
						<li class={item.status}>{item.title}</li>
					))}
				</ul>
			)}
			{block.children.length === 0 ? null : (
				<details class="lane" open={block.state === "running" || block.state === "waiting"}>
					<summary>
						Subagent · {block.steps} {block.steps === 1 ? "step" : "steps"}
					</summary>
					<Blocks blocks={block.children} revision={revision} />
				</details>
			)}
			{output === "" || diffs.length > 0 || todo !== undefined || block.children.length > 0 ? null : (
				<>
					<pre class={`output ${command === null ? "wraps" : ""}`} tabIndex={0}>
						{shown.join("\n")}
					</pre>
					{lines.length > 5 ? (
						<button type="button" class="more" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
							{isOpen ? "Show the last lines" : `Show all ${lines.length} lines`}
						</button>
					) : null}
				</>
			)}
			{decision}
		</section>
	);
}
