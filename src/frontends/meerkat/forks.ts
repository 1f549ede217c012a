// Forks: where a conversation is cut, in this protocol's message count.

import type { ForkCut } from "../../api/session-options.ts";
import type { MessageHistory } from "../../api/session-state.ts";
import type { ContentPart } from "../../api/values/content.ts";
import type { HistoryEntry } from "../../api/values/conversation.ts";
import { NamedError } from "./errors.ts";
import { toInput, toPart } from "./wire/blocks.ts";
import type { ForkResult, Replacement } from "./wire/wire-forks.ts";

/** Maps each history message to the conversation messages behind it; the system prompt has none. */
function toHistoryPlaces({ systemPrompt, messages }: MessageHistory): readonly number[] {
	const ends = systemPrompt === null ? [] : [0];
	for (const [index, { role }] of messages.entries()) {
		const isMore = role === "tool" && messages[index - 1]?.role === "tool";
		if (isMore) ends[ends.length - 1] = index + 1;
		else ends.push(index + 1);
	}
	return ends;
}

export function countMessages(history: MessageHistory): number {
	return toHistoryPlaces(history).length;
}

export function toCut(history: MessageHistory, index: number): ForkCut {
	const places = toHistoryPlaces(history);
	if (index > places.length) throw outOfBounds(index, places.length);
	return { messages: index === 0 ? 0 : (places[index - 1] ?? 0) };
}

export function toReplacingCut(history: MessageHistory, index: number, replacement: Replacement): ForkCut {
	const places = toHistoryPlaces(history);
	if (index >= places.length) throw outOfBounds(index, places.length);
	const cut = toCut(history, index);
	if (index === 0 && history.systemPrompt !== null)
		throw invalid("message_index 0 is the system prompt, which a fork retains: name a later message.");
	const original = history.messages[cut.messages];
	return { ...cut, replacement: toReplacement(replacement, original, index) };
}

function toReplacement(replacement: Replacement, original: HistoryEntry | undefined, index: number): HistoryEntry {
	switch (replacement.type) {
		case "message": {
			const { message } = replacement;
			if (message.role === "user") return { role: "user", content: toParts(toInput(message.content)) };
			return { role: "assistant", content: message.blocks.map(({ data: { text } }) => ({ type: "text", text })) };
		}
		case "user_content_block":
			return withBlock(original, "user", { ...replacement, index }, toPart(replacement.block));
		case "assistant_block": {
			const { block } = replacement;
			const text = "data" in block ? block.data.text : block.text;
			if ((original?.toolCalls?.length ?? 0) > 0)
				throw invalid(`message ${index} has tool calls, and a fork ends with it: replace the message as a whole.`);
			return withBlock(original, "assistant", { ...replacement, index }, { type: "text", text });
		}
	}
}

function withBlock(
	original: HistoryEntry | undefined,
	role: "user" | "assistant",
	{ index, block_index: at }: { readonly index: number; readonly block_index: number },
	part: ContentPart,
): HistoryEntry {
	if (original?.role !== role)
		throw invalid(`message ${index} has the role ${original?.role ?? "system"}, not ${role}: it has no such block.`);
	if (at >= original.content.length)
		throw invalid(`block_index ${at} is out of bounds: message ${index} has ${original.content.length} blocks.`);
	return { role, content: original.content.map((each, place) => (place === at ? part : each)) };
}

const toParts = (input: ReturnType<typeof toInput>): readonly ContentPart[] =>
	typeof input === "string" ? [{ type: "text", text: input }] : input;

export function toForkResult(
	source: string,
	fork: Pick<ForkResult, "session_id" | "session_ref">,
	messages: number,
): ForkResult {
	return {
		source_session_id: source,
		...fork,
		message_count: messages,
		cache_inheritance: { status: "unavailable", message_count: messages, reason: "target_lowering_unavailable" },
	};
}

function outOfBounds(index: number, messages: number): NamedError {
	return invalid(`message index ${index} out of bounds for ${messages} messages.`);
}

function invalid(text: string): NamedError {
	return new NamedError("INVALID_PARAMS", `Invalid params: ${text}`);
}
