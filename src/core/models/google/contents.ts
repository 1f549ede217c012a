import { streamAnswer } from "../answers/answer-stream.ts";
import { withSecondAttempt } from "../chunk-streams.ts";
import type { Model } from "../model.ts";
import { type AccessTokens, createAccessTokens } from "./access-token.ts";
import { createContentReader, errorReader } from "./content-reader.ts";
import { type Endpoint, geminiEndpoint, vertexEndpoint, vertexProject } from "./endpoint.ts";
import { type ContentSettings, memoryOf, toBody } from "./request.ts";

export function createGeminiStream(settings: ContentSettings): Model["stream"] {
	return createStream(settings, () => geminiEndpoint(settings), true);
}

/** The adapter for Vertex AI; by default with tokens from the machine's credentials. */
export function createVertexStream(
	settings: ContentSettings,
	tokens: AccessTokens = createAccessTokens(settings),
): Model["stream"] {
	const stream = createStream(settings, (signal) => vertexEndpoint(settings, tokens, signal), false);
	if (vertexProject(settings) === "") return stream;
	return (request, signal) =>
		withSecondAttempt(stream(request, signal), ({ statusCode }) => {
			if (statusCode !== 401) return null;
			tokens.discard();
			return stream(request, signal);
		});
}

function createStream(
	settings: ContentSettings,
	findEndpoint: (signal: AbortSignal) => Endpoint | Promise<Endpoint>,
	hasIds: boolean,
): Model["stream"] {
	return (request, signal) => {
		const create = () => ({
			toRequest: async (ended: AbortSignal) => ({
				...(await findEndpoint(ended)),
				body: toBody(request, settings, hasIds),
			}),
			errors: errorReader,
			reader: createContentReader(memoryOf(settings)),
		});
		return streamAnswer(settings, create, signal);
	};
}
