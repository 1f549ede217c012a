// Calls of tools: one line where nothing is changed or run, a card where something is.
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { type CallBlock, type CallState, isDiff } from "../model/blocks.ts";
import { toSpan } from "../text/words.ts";
import { BlockList } from "./block-list.tsx";
import { Difference } from "./difference.tsx";

const quietTools: ReadonlySet<string> = new Set([
	"ReadFile",
	"Glob",
	"Grep",
	"ReadMediaFile",
	"FetchURL",
	"SearchWeb",
	"Think",
	"SetTodoList",
	"TaskList",
	"TaskOutput",
]);

export const isQuiet = (call: CallBlock) =>
	quietTools.has(call.name) && call.state !== "failed" && call.state !== "refused" && call.lane.length === 0;

const stateWords: Readonly<Record<CallState, string>> = {
	requested: "waiting",
	running: "running",
	done: "done",
	failed: "failed",
	refused: "refused",
	interrupted: "interrupted",
	unknown: "outcome unknown after a crash",
};

/** Arguments as an object; empty for those that are none. */
export function readArguments(text: string): Readonly<Record<string, unknown>> {
	try {
		const value: unknown = JSON.parse(text);
		return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
	} catch {
		return {};
	}
}

/** What a call is about, in a few words. */
export function toSubject({ name, arguments: given }: Pick<CallBlock, "name" | "arguments">): string {
	const values = readArguments(given);
	const first = (...keys: readonly string[]) => {
		const found = keys.map((key) => values[key]).find((value) => typeof value === "string" && value !== "");
		return typeof found === "string" ? found : "";
	};
	switch (name) {
		case "Shell":
			return first("command");
		case "Grep":
			return `"${first("pattern")}"`;
		case "Agent":
			return first("description", "prompt");
		default:
			return first("path", "pattern", "url", "query", "description", "title", "thought").slice(0, 200);
	}
}

function outputText({ result, output }: CallBlock): string {
	if (result === null) return output;
	const text =
		typeof result.output === "string"
			? result.output
			: result.output.map((part) => (part.type === "text" ? part.text : "")).join("\n");
	return text === "" ? result.message : text;
}

export function QuietCall({ call }: { readonly call: CallBlock }) {
	const [isOpen, setOpen] = useState(false);
	const text = outputText(call);
	return (
		<div class="quiet-call">
			<button type="button" class="quiet-line" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
				<span class="tool">{call.name}</span> <span class="subject">{toSubject(call)}</span>
				{call.state !== "done" && <span class={`state ${call.state}`}>{stateWords[call.state]}</span>}
			</button>
			{isOpen && text !== "" && (
				<pre class="output" tabIndex={0}>
					{text.slice(0, 20_000)}
				</pre>
			)}
		</div>
	);
}

/** Lines of the output of a command that are shown at first. */
const linesShown = 5;

export function CallCard({ call }: { readonly call: CallBlock }) {
	const isCommand = call.name === "Shell";
	const hasLane = call.lane.length > 0;
	const diffs = (call.result?.display ?? []).filter(isDiff);
	const took = call.startedAt !== null && call.endedAt !== null ? toSpan(call.endedAt - call.startedAt) : null;
	const isTroubled = call.state === "failed" || call.state === "refused" || call.state === "unknown";
	return (
		<section class={`call ${call.state}`} aria-label={`${call.name}, ${stateWords[call.state]}`}>
			<header>
				<span class="tool">{call.name}</span>
				{isCommand ? null : <span class="subject">{toSubject(call)}</span>}
				<span class={`state ${call.state}`}>{stateWords[call.state]}</span>
				{took !== null && <span class="took">{took}</span>}
			</header>
			{isCommand && <pre class="command">{toSubject(call)}</pre>}
			{call.decision !== null && <p class="decision">{call.decision}</p>}
			{diffs.map((diff, index) => (
				<Difference key={index} diff={diff} />
			))}
			{hasLane && <Lane call={call} />}
			{(diffs.length === 0 || isTroubled) && <Output call={call} />}
			<Media call={call} />
		</section>
	);
}

function Output({ call }: { readonly call: CallBlock }): ComponentChildren {
	const [isWhole, setWhole] = useState(false);
	const text = outputText(call).trimEnd();
	if (text === "") return null;
	const lines = text.split("\n");
	const hidden = lines.length - linesShown;
	const shown = isWhole || hidden <= 1 ? text : lines.slice(-linesShown).join("\n");
	return (
		<div class="output-box">
			{!isWhole && hidden > 1 && (
				<button type="button" class="more" onClick={() => setWhole(true)}>
					Show {hidden} earlier lines
				</button>
			)}
			<pre class="output" tabIndex={0}>
				{shown.slice(-40_000)}
			</pre>
		</div>
	);
}

/** The work of a subagent, with its own steps. */
function Lane({ call }: { readonly call: CallBlock }) {
	const isOver = call.endedAt !== null;
	const [isOpen, setOpen] = useState<boolean | null>(null);
	const steps = call.lane.filter(({ kind }) => kind === "call").length;
	const shows = isOpen ?? !isOver;
	return (
		<div class="lane">
			<button type="button" class="fold" aria-expanded={shows} onClick={() => setOpen(!shows)}>
				{shows ? "▾" : "▸"} Subagent, {steps} {steps === 1 ? "step" : "steps"}
			</button>
			{shows && <BlockList blocks={call.lane} />}
		</div>
	);
}

function Media({ call }: { readonly call: CallBlock }) {
	const output = call.result?.output ?? "";
	const images =
		typeof output === "string" ? [] : output.flatMap((part) => (part.type === "image_url" ? [part.image_url.url] : []));
	return (
		<>
			{images
				.filter((address) => /^data:image\/(png|jpeg|gif|webp);/.test(address))
				.map((address, index) => (
					<img key={index} class="media" src={address} alt={`Result of ${call.name}`} loading="lazy" />
				))}
		</>
	);
}
