// Falls back to chat completions for servers without the Responses API.
import { streamAnswer } from "../answers/answer-stream.ts";
import { changedChunks, withSecondAttempt } from "../chunk-streams.ts";
import type { PlainAnswer } from "../http/plain-answer.ts";
import type { Model, ModelChunk, ModelFailure, ModelRequest } from "../model.ts";
import type { ModelSettings } from "../model-settings.ts";
import { streamChatCompletion } from "../openai-compatible/chat-completions.ts";
import { errorReader } from "../openai-compatible/failures.ts";
import { openaiLegacyFlavour } from "../openai-compatible/openai-legacy.ts";
import { memoryOf, toRequest } from "./request.ts";
import { ResponseReader } from "./response-reader.ts";

/** Known servers without the Responses API, by root, for the lifetime of the process. */
const chatServers = new Set<string>();

const notice = "The server has no Responses API (/responses): falling back to chat completions.";

export function createResponsesStream(settings: ModelSettings): Model["stream"] {
	const { baseUrl, log } = settings;
	const chat: Model["stream"] = (request, signal) =>
		streamChatCompletion(settings, openaiLegacyFlavour, request, signal);
	const firstChat = (request: ModelRequest, signal: AbortSignal, failure: ModelFailure) =>
		changedChunks(chat(request, signal), (chunk) => {
			if (chatServers.has(baseUrl)) return chunk;
			// The server has neither API, or the address is wrong.
			if (chunk.type === "failed") return isMissing(chunk.failure.statusCode) ? { ...chunk, failure } : chunk;
			if (chunk.type === "parts") return chunk;
			chatServers.add(baseUrl);
			log.warn(notice, { base_url: baseUrl });
			return { ...chunk, notice };
		});
	return (request, signal) => {
		if (chatServers.has(baseUrl)) return chat(request, signal);
		let isRouteMissing = false;
		const answer = streamResponse(settings, request, signal, (head) => {
			isRouteMissing = lacksRoute(head);
		});
		return withSecondAttempt(answer, (failure) => (isRouteMissing ? firstChat(request, signal, failure) : null));
	};
}

function streamResponse(
	settings: ModelSettings,
	request: ModelRequest,
	signal: AbortSignal,
	refused: (answer: PlainAnswer) => void,
): AsyncIterableIterator<ModelChunk, void> {
	const errors = {
		...errorReader,
		answer(answer: PlainAnswer) {
			refused(answer);
			return errorReader.answer(answer);
		},
	};
	const reader = new ResponseReader(memoryOf(settings));
	return streamAnswer(settings, () => ({ toRequest: () => toRequest(request, settings), errors, reader }), signal);
}

function isMissing(status: number | null): boolean {
	return status === 404 || status === 405;
}

/** Whether the server does not know the route. Missing models and stored items have the same status. */
function lacksRoute({ status, body, url }: PlainAnswer): boolean {
	if (url.hostname === "api.openai.com") return false;
	if (/unexpected endpoint|unknown (?:endpoint|route|url)/i.test(body)) return true;
	return isMissing(status) && !/\bmodels?\b|\bitems?\b/i.test(body.replaceAll(/\S*\/\S*/g, ""));
}
