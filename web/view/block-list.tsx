// The blocks of a conversation. A block is drawn again only when it changed; quiet calls in a row become one line.
import { Component, type ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import type { Block, CallBlock, EndBlock, PromptBlock, SpeechBlock } from "../model/blocks.ts";
import { plural, toMoment, toShortCount, toSpan } from "../text/words.ts";
import { CallCard, isQuiet, QuietCall } from "./calls.tsx";
import { Markdown } from "./markdown.tsx";

/** Calls in a row from which on they are folded. */
const foldsFrom = 3;

type Item =
	| { readonly kind: "block"; readonly block: Block }
	| { readonly kind: "run"; readonly calls: readonly CallBlock[] };

export function BlockList({ blocks }: { readonly blocks: readonly Block[] }) {
	return (
		<>
			{toItems(blocks).map((item) =>
				item.kind === "run" ? (
					<QuietRun key={`run-${item.calls[0]?.key}`} calls={item.calls} />
				) : (
					<OneBlock key={item.block.key} block={item.block} version={item.block.version} />
				),
			)}
		</>
	);
}

function toItems(blocks: readonly Block[]): readonly Item[] {
	const items: Item[] = [];
	let calls: CallBlock[] = [];
	const flush = () => {
		if (calls.length >= foldsFrom) items.push({ kind: "run", calls });
		else items.push(...calls.map((block): Item => ({ kind: "block", block })));
		calls = [];
	};
	for (const block of blocks) {
		if (block.kind === "call" && isQuiet(block)) calls.push(block);
		else {
			flush();
			items.push({ kind: "block", block });
		}
	}
	flush();
	return items;
}

function QuietRun({ calls }: { readonly calls: readonly CallBlock[] }) {
	const [isOpen, setOpen] = useState(false);
	const goesOn = calls.some(({ state }) => state === "running" || state === "requested");
	return (
		<div class="quiet-run">
			<button type="button" class="fold" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
				{isOpen ? "▾" : "▸"} {goesOn ? "Looking" : "Looked"} at {plural(calls.length, "place")}
			</button>
			{isOpen && calls.map((call) => <QuietCall key={call.key} call={call} />)}
		</div>
	);
}

class OneBlock extends Component<{ readonly block: Block; readonly version: number }> {
	override shouldComponentUpdate(next: { readonly block: Block; readonly version: number }): boolean {
		const { block } = next;
		// A lane changes without its call.
		return (
			block !== this.props.block ||
			next.version !== this.props.version ||
			(block.kind === "call" && block.lane.length > 0)
		);
	}

	override render(): ComponentChildren {
		const { block } = this.props;
		switch (block.kind) {
			case "prompt":
				return <Prompt block={block} />;
			case "text":
				return (
					<article class="speech" data-block>
						<Markdown text={block.text} />
					</article>
				);
			case "think":
				return <Reasoning block={block} version={block.version} />;
			case "call":
				return <div data-block>{isQuiet(block) ? <QuietCall call={block} /> : <CallCard call={block} />}</div>;
			case "note":
				return block.text === "" ? null : <p class={`note ${block.tone}`}>{block.text}</p>;
			case "plan":
				return (
					<section class="plan" aria-label="Plan" data-block>
						<header>Plan</header>
						<Markdown text={block.content} />
					</section>
				);
			case "end":
				return <End block={block} />;
		}
	}
}

function Prompt({ block }: { readonly block: PromptBlock }) {
	const parts = typeof block.input === "string" ? [{ type: "text" as const, text: block.input }] : block.input;
	return (
		<article class="prompt" data-block title={toMoment(block.at)}>
			{block.isSteer && <span class="label">while it worked</span>}
			{parts.map((part, index) =>
				part.type === "text" ? (
					<p key={index}>{part.text}</p>
				) : part.type === "image_url" && part.image_url.url.startsWith("data:image/") ? (
					<img key={index} class="media" src={part.image_url.url} alt="Attached by you" />
				) : (
					<p key={index} class="label">
						{part.type}
					</p>
				),
			)}
		</article>
	);
}

function Reasoning({ block }: { readonly block: SpeechBlock; readonly version: number }) {
	const [isOpen, setOpen] = useState<boolean | null>(null);
	const shows = isOpen ?? !block.isComplete;
	const took = block.endedAt === null ? "" : ` for ${toSpan(Math.max(0, block.endedAt - block.at))}`;
	return (
		<div class="reasoning" data-block>
			<button type="button" class="fold" aria-expanded={shows} onClick={() => setOpen(!shows)}>
				{shows ? "▾" : "▸"} {block.isComplete ? `Thought${took}` : "Thinking"}
			</button>
			{shows && <Markdown text={block.text} />}
		</div>
	);
}

function End({ block: { outcome, took, usage, at } }: { readonly block: EndBlock }) {
	const input = usage.input_other + usage.input_cache_read + usage.input_cache_creation;
	const tokens = input + usage.output === 0 ? "" : ` · ${toShortCount(input)} in, ${toShortCount(usage.output)} out`;
	const time = `${toSpan(took)}${tokens}`;
	switch (outcome?.status) {
		case "cancelled":
			return <p class="end warning">Stopped after {time}</p>;
		case "failed":
			return (
				<p class="end danger" role="alert">
					Failed: {outcome.error.message}
				</p>
			);
		case "max-steps":
			return <p class="end warning">Stopped: the limit of {plural(outcome.steps, "step")} is reached</p>;
		case "finished":
		case undefined:
			return (
				<p class="end" title={toMoment(at)}>
					{outcome?.stoppedBy === "refusal" ? "Stopped at the refused call · " : ""}
					{time}
				</p>
			);
	}
}
