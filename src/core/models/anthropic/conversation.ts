import {
	type ContentPart,
	isBlankText,
	isMedia,
	joinTexts,
	type MediaPart,
	readDataUri,
	readMedia,
} from "../../../api/values/content.ts";
import type { HistoryEntry } from "../../../api/values/conversation.ts";
import type { Fields } from "../answers/event-json.ts";
import { type ProviderMemory, readSeal } from "../answers/memory.ts";
import { toCallInput } from "../requests/call-arguments.ts";
import { type CallIds, createCallIds } from "../requests/call-ids.ts";

export interface Message {
	readonly role: "user" | "assistant";
	readonly content: Fields[];
}

export interface MessageRules {
	readonly memory: ProviderMemory;
	/** Which reasoning is sent back; `signed`: only reasoning with a signature. */
	readonly reasoning: "all" | "signed" | "none";
}

/** The API searches about 20 blocks before a mark for cached content, so longer requests get a second mark. */
const blocksBetweenMarks = 15;

const cacheControl = { cache_control: { type: "ephemeral" } };

export function cached(block: Fields): Fields {
	return { ...block, ...cacheControl };
}

/** All messages; consecutive messages of one role are merged. A later system message becomes a marked user text. */
export function toMessages(history: readonly HistoryEntry[], rules: MessageRules): Message[] {
	const messages: Message[] = [];
	const ids = createCallIds((id) => id.replace(/[^a-zA-Z0-9_-]/g, "_"));
	for (const entry of history) {
		const role = entry.role === "assistant" ? "assistant" : "user";
		const content = toBlocks(entry, ids, rules);
		const last = messages.at(-1);
		if (last?.role === role) last.content.push(...content);
		else if (content.length > 0) messages.push({ role, content });
	}
	const last = messages.at(-1);
	const text = last?.role === "assistant" ? last.content.at(-1) : undefined;
	// The API refuses to continue an answer with trailing blank space.
	if (typeof text?.["text"] === "string") text["text"] = text["text"].trimEnd();
	return messages;
}

function toBlocks(entry: HistoryEntry, ids: CallIds, rules: MessageRules): Fields[] {
	switch (entry.role) {
		case "user":
			return entry.content.flatMap(toBlock);
		case "system":
			return [{ type: "text", text: `<system>${joinTexts(entry.content, "\n")}</system>` }];
		case "tool": {
			const { content } = entry;
			const given = content.some(isMedia) ? content.flatMap(toBlock) : joinTexts(content, "\n");
			return [{ type: "tool_result", tool_use_id: ids.ofResult(entry.toolCallId ?? ""), content: given }];
		}
		case "assistant": {
			const calls = entry.toolCalls ?? [];
			const callIds = ids.ofCalls(calls.map(({ id }) => id));
			const uses = calls.map(({ id, function: { name, arguments: given } }, index) => ({
				...{ type: "tool_use", id: callIds[index] ?? id, name, input: toCallInput(given) },
			}));
			return [...entry.content.flatMap((part) => toAnswerBlock(part, rules)), ...uses];
		}
	}
}

function toBlock(part: ContentPart): Fields[] {
	if (part.type === "think" || isBlankText(part)) return [];
	return [part.type === "text" ? { type: "text", text: part.text } : toImage(part)];
}

function toImage(part: MediaPart): Fields {
	const { url } = readMedia(part);
	const data = readDataUri(url);
	const source = data === null ? { type: "url", url } : { type: "base64", media_type: data.mediaType, data: data.data };
	return { type: "image", source };
}

function toAnswerBlock(part: ContentPart, { memory, reasoning }: MessageRules): Fields[] {
	if (part.type !== "think") return toBlock(part);
	const seal = readSeal(memory, part.encrypted);
	if (seal === null || reasoning === "none") return [];
	const { signature, redactedData } = seal.retained;
	if (redactedData !== undefined) return [{ type: "redacted_thinking", data: redactedData }];
	if (reasoning === "signed" && (signature ?? "") === "") return [];
	return [{ type: "thinking", thinking: part.think, ...(signature === undefined ? {} : { signature }) }];
}

export function withCacheMarks(messages: readonly Message[]): Message[] {
	const isUser = ({ role }: Message) => role === "user";
	const last = messages.findLastIndex(isUser);
	const answer = messages.findLastIndex(({ role }) => role === "assistant");
	const before = messages.slice(0, Math.max(0, answer)).findLastIndex(isUser);
	const between = messages.slice(before + 1).reduce((count, { content }) => count + content.length, 0);
	const isMarked = (index: number) => index === last || (index === before && between > blocksBetweenMarks);
	return messages.map((message, index) => {
		const block = message.content.at(-1);
		if (!isMarked(index) || block === undefined) return message;
		return { ...message, content: [...message.content.slice(0, -1), cached(block)] };
	});
}
