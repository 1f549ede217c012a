import { type Identifiers, randomIdentifiers } from "../../../base/ids.ts";
import { streamAnswer } from "../answers/answer-stream.ts";
import type { ModelChunk, ModelRequest } from "../model.ts";
import { createChunkReader } from "./chunk-reader.ts";
import { errorReader } from "./failures.ts";
import type { ChatFlavour, ChatSettings } from "./flavour.ts";
import { toBody, toEndpoint, toHeaders } from "./http-request.ts";
import { memoryOf } from "./opaque-members.ts";

export function streamChatCompletion(
	settings: ChatSettings,
	flavour: ChatFlavour,
	request: ModelRequest,
	signal: AbortSignal,
	identifiers: Identifiers = randomIdentifiers,
): AsyncIterableIterator<ModelChunk, void> {
	const create = () => ({
		toRequest: () => ({
			url: toEndpoint(settings.baseUrl),
			headers: toHeaders(settings),
			body: toBody(request, settings, flavour),
		}),
		errors: errorReader,
		reader: createChunkReader(reasoningKeys(settings), memoryOf(settings), identifiers),
		endMark: "[DONE]",
	});
	return streamAnswer(settings, create, signal);
}

function reasoningKeys({ reasoningKey }: ChatSettings): readonly string[] {
	const custom = reasoningKey === null || reasoningKey === "" ? [] : [reasoningKey];
	return [...custom, "reasoning_content", "reasoning"];
}
