import { type ContentPart, joinTexts, type ToolCall } from "../../api/values/content.ts";
import type { HistoryEntry } from "../../api/values/conversation.ts";
import { cutLine } from "../../core/tools/text-limits.ts";
import { closed, codeBlock, codeSpan, quote } from "./markdown.ts";

/** Lines shown from the start and end of a tool result, and the length at which a line is truncated. */
const firstLines = 30;
const lastLines = 10;
const lineLength = 500;

/** Program messages to the model that the user does not see. Not exported. */
const hiddenStarts: readonly string[] = ["<system-reminder>", "<notification "];
const importStart = "<imported_context ";
/** Messages that the program added to the context in the user role. */
const noteStarts: readonly string[] = ["<system>", importStart];

type Block = readonly string[] | Generator<string>;

export function* conversationMarkdown(messages: readonly HistoryEntry[]): Generator<string> {
	const toolNames = new Map<string, string>();
	let turns = 0;
	let separator = "";
	/** Whether a turn is running: a user message is then a steer. */
	let isRunning = false;
	for (const message of messages) {
		for (const call of message.toolCalls ?? []) toolNames.set(call.id, call.function.name);
		const shown = toSection(message, toolNames);
		if (shown === null) continue;
		if (shown.isPrompt && !isRunning) {
			turns += 1;
			yield `${separator}## Turn ${turns}`;
			separator = "\n\n";
		}
		yield separator;
		separator = "\n\n";
		for (const [n, block] of shown.blocks.entries()) {
			if (n > 0) yield separator;
			yield* block;
		}
		if (!shown.isPrompt) isRunning = message.role === "tool";
	}
}

interface Section {
	readonly blocks: readonly Block[];
	/** Whether a person wrote it. */
	readonly isPrompt: boolean;
}

/** Returns null for hidden messages. */
function toSection(message: HistoryEntry, toolNames: ReadonlyMap<string, string>): Section | null {
	switch (message.role) {
		case "user":
			return toUserSection(message.content);
		case "assistant": {
			const calls = (message.toolCalls ?? []).flatMap(toCallBlocks);
			return section("### Assistant", [...message.content.map(toBlock), ...calls.map((text) => [text])], false);
		}
		case "tool": {
			const { toolCallId: id = "" } = message;
			const name = toolNames.get(id);
			const heading = `**Result${name === undefined ? "" : ` of ${codeSpan(name)}`}** (${codeSpan(id)})`;
			const blocks = toResultBlocks(message.content);
			return section(heading, blocks.length === 0 ? [["*Nothing.*"]] : blocks, false);
		}
		case "system":
			return section(noteHeading, message.content.map(toBlock), false);
	}
}

const noteHeading = "### Note to the model";

function section(heading: string, blocks: readonly Block[], isPrompt: boolean): Section | null {
	const filled = blocks.filter((block) => !("length" in block && block.length === 0));
	return filled.length === 0 ? null : { blocks: [[heading], ...filled], isPrompt };
}

function toUserSection(content: readonly ContentPart[]): Section | null {
	const shown = content.filter((part) => !startsWithOneOf(part, hiddenStarts));
	const isNote = shown.some((part) => startsWithOneOf(part, noteStarts));
	const blocks = shown.flatMap((part) =>
		startsWithOneOf(part, [importStart]) ? toResultBlocks([part]) : [toBlock(part)],
	);
	return section(isNote ? noteHeading : "### User", blocks, !isNote);
}

function startsWithOneOf(part: ContentPart, starts: readonly string[]): boolean {
	return part.type === "text" && starts.some((start) => part.text.startsWith(start));
}

/** A full part; media become placeholders. */
function toBlock(part: ContentPart): Block {
	switch (part.type) {
		case "text":
			return part.text.trim() === "" ? [] : closed(part.text);
		case "think":
			return part.think.trim() === "" ? [] : thinking(part.think);
		case "image_url":
			return [placeholder("image", part.image_url.url)];
		case "audio_url":
			return [placeholder("audio", part.audio_url.url)];
		case "video_url":
			return [placeholder("video", part.video_url.url)];
	}
}

function* thinking(text: string): Generator<string> {
	yield "*Thinking:*\n\n";
	yield* quote(text);
}

function placeholder(kind: string, url: string): string {
	const [, mediaType = ""] = /^data:([\w.+-]+\/[\w.+-]+)?/i.exec(url) ?? [];
	const what = /^data:/i.test(url) ? mediaType : codeSpan(url);
	return `*[${kind}${what === "" ? "" : `: ${what}`}]*`;
}

function toCallBlocks({ id, function: { name, arguments: text } }: ToolCall): string[] {
	const heading = `**Call of ${codeSpan(name)}** (${codeSpan(id)})`;
	return text === null || text.trim() === "" ? [heading] : [heading, toArgumentsBlock(text)];
}

function toArgumentsBlock(text: string): string {
	try {
		return codeBlock(JSON.stringify(JSON.parse(text), null, 2), "json");
	} catch {
		// Not JSON, or nested too deeply to serialize.
		return codeBlock(text);
	}
}

function toResultBlocks(content: readonly ContentPart[]): Block[] {
	const text = joinTexts(content, "\n");
	const others = content.filter((part) => part.type !== "text").map(toBlock);
	return text.trim() === "" ? others : [[codeBlock(shorten(text))], ...others];
}

/** Keeps the first and last lines, each truncated. */
function shorten(text: string): string {
	const lines = text.trimEnd().split("\n");
	const left = lines.length - firstLines - lastLines;
	const shown =
		left <= 1 ? lines : [...lines.slice(0, firstLines), `[... ${left} lines left out ...]`, ...lines.slice(-lastLines)];
	return shown.map((line) => cutLine(line, lineLength, " [...]")).join("\n");
}
