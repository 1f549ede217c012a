import { streamAnswer } from "../answers/answer-stream.ts";
import type { ModelChunk, ModelRequest } from "../model.ts";
import { errorReader, MessageReader } from "./message-reader.ts";
import { isAnthropic, type MessageSettings, memoryOf, toRequest } from "./request.ts";

export function streamMessage(
	settings: MessageSettings,
	request: ModelRequest,
	signal: AbortSignal,
): AsyncIterableIterator<ModelChunk, void> {
	const create = () => ({
		toRequest: () => toRequest(request, settings),
		errors: errorReader,
		reader: new MessageReader(memoryOf(settings), !isAnthropic(settings)),
	});
	return streamAnswer(settings, create, signal);
}
