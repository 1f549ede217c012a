// Short forms of what models send and receive: parts of answers, messages, requests, and the scene that the recorded
// streams of all providers play.

import type { ContentPart, TokenUsage, ToolCall } from "../../../src/api/values/content.ts";
import type { HistoryEntry } from "../../../src/api/values/conversation.ts";
import { createAssembly } from "../../../src/core/agent/assembly.ts";
import type { ModelChunk, ModelPart, ModelRequest, ToolCallFragment } from "../../../src/core/models/model.ts";

export function text(value: string): ContentPart {
	return { type: "text", text: value };
}

export function think(value: string, encrypted: string | null = null): ContentPart {
	return { type: "think", think: value, encrypted };
}

/** What a provider needs back with an earlier output: `from` names provider and model, `of` the kind of output. */
export function seal(
	from: string,
	of: "thought" | "text" | "message",
	sealed: Readonly<Record<string, unknown>>,
): ContentPart {
	return think("", JSON.stringify({ from, of, kept: sealed }));
}

export function image(url: string): ContentPart {
	return { type: "image_url", image_url: { url, id: null } };
}

/** A call of a tool; `given` is its arguments, or their beginning while it streams. */
export function toolCall(
	id: string,
	name: string,
	given: string | null = null,
	extras: ToolCall["extras"] = null,
): ToolCall {
	return { type: "function", id, function: { name, arguments: given }, extras };
}

/** More of the arguments of the call right before it. */
export function piece(value: string | null): ToolCallFragment {
	return { type: "tool_call_part", arguments_part: value };
}

export function user(...content: readonly ContentPart[]): HistoryEntry {
	return { role: "user", content };
}

export function assistant(content: readonly ContentPart[], toolCalls: readonly ToolCall[] = []): HistoryEntry {
	return { role: "assistant", content, toolCalls };
}

/** What a call gave. */
export function toolResult(toolCallId: string, ...content: readonly ContentPart[]): HistoryEntry {
	return { role: "tool", toolCallId, content };
}

/** For tests to which it is all the same what is asked. */
export const plainRequest: ModelRequest = {
	systemPrompt: "Be brief.",
	tools: [],
	messages: [user(text("Hello"))],
	cacheKey: "session-1",
};

/** What the recorded streams answer; each of them calls `get_weather` and then `read_image`. */
export const weatherRequest: ModelRequest = {
	systemPrompt: "Be brief.",
	tools: [],
	messages: [user(text("Weather in Oslo, and what is in pic.png?"))],
	cacheKey: "session-41",
};

/** What every recorded stream but that of Kimi counts. */
export const weatherUsage: TokenUsage = {
	input_other: 176,
	output: 96,
	input_cache_read: 1024,
	input_cache_creation: 0,
};

/** The image of the recorded second requests. */
export const imagePart = image(
	"data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR42mP4z8AAAAMBAQD3A0FDAAAAAElFTkSuQmCC",
);

/** The results of the two calls of the recorded streams; `note` is the text next to the image. */
export function weatherResults(note = "1x1 image"): ContentPart[][] {
	return [[text("4 C, rain")], [text(note), imagePart]];
}

/** The next request: the same, then the answer as the agent keeps it, and what its calls gave, in their order. */
export function continued(
	request: ModelRequest,
	chunks: readonly ModelChunk[],
	results: readonly (readonly ContentPart[])[],
): ModelRequest {
	const assembly = createAssembly();
	for (const part of partsOf(chunks)) assembly.push(part);
	assembly.end();
	const toolCalls = assembly.toolCalls();
	if (toolCalls.length !== results.length) throw new Error(`The answer has ${toolCalls.length} calls.`);
	return {
		...request,
		messages: [
			...request.messages,
			assistant(assembly.content(), toolCalls),
			...toolCalls.map(({ id }, index) => toolResult(id, ...(results[index] ?? []))),
		],
	};
}

/** Pulls a stream to its end. */
export async function collectChunks(stream: AsyncIterable<ModelChunk>): Promise<ModelChunk[]> {
	const chunks: ModelChunk[] = [];
	for await (const chunk of stream) chunks.push(chunk);
	return chunks;
}

export function partsOf(chunks: readonly ModelChunk[]): ModelPart[] {
	return chunks.flatMap((chunk) => (chunk.type === "parts" ? chunk.parts : []));
}
