// Gemini, through the package for it: one request, one stream (provider types `google_genai`, `gemini` and `vertexai`).
import type { GoogleGenerativeAIProvider, GoogleGenerativeAIProviderSettings } from "@ai-sdk/google";
import { type PackageAdapter, streamFromPackage } from "../ai-sdk/call.ts";
import { withSecondAttempt } from "../chunk-streams.ts";
import { createRefusal, type Model, type ModelFailure, type ModelRequest } from "../model.ts";
import { type AccessTokens, createAccessTokens } from "./access-token.ts";
import { type Endpoint, geminiEndpoint, vertexEndpoint, vertexProject } from "./endpoint.ts";
import { createContentEvents, type Ending, errorReader } from "./events.ts";
import { type ContentSettings, memoryOf, toBody, toCall } from "./request.ts";

type CreateProvider = (settings: GoogleGenerativeAIProviderSettings) => GoogleGenerativeAIProvider;

/** Which of the two APIs it is. */
interface Api {
	findEndpoint(signal: AbortSignal): Endpoint | Promise<Endpoint>;
	/** Whether it supports ids of calls. */
	readonly hasIds: boolean;
}

/** Loads the package. */
export function loadGemini(settings: ContentSettings): Promise<Model["stream"]> {
	return load(settings, { findEndpoint: () => geminiEndpoint(settings), hasIds: true });
}

/** The same for Vertex AI; the tokens are by default those of the machine's credentials. */
export async function loadVertex(
	settings: ContentSettings,
	tokens: AccessTokens = createAccessTokens(settings),
): Promise<Model["stream"]> {
	const findEndpoint = (signal: AbortSignal) => vertexEndpoint(settings, tokens, signal);
	const stream = await load(settings, { findEndpoint, hasIds: false });
	if (vertexProject(settings) === "") return stream;
	return (request, signal) =>
		withSecondAttempt(stream(request, signal), ({ statusCode }) => {
			if (statusCode !== 401) return null;
			tokens.discard();
			return stream(request, signal);
		});
}

async function load(settings: ContentSettings, api: Api) {
	const { createGoogleGenerativeAI } = await import("@ai-sdk/google");
	const adapt = (request: ModelRequest) => createAdapter(settings, request, api, createGoogleGenerativeAI);
	return (request: ModelRequest, signal: AbortSignal) => streamFromPackage(settings, adapt, request, signal);
}

function createAdapter(
	settings: ContentSettings,
	request: ModelRequest,
	api: Api,
	createProvider: CreateProvider,
): PackageAdapter {
	const events = createContentEvents();
	return {
		memory: memoryOf(settings),
		call: toCall(request, settings),
		createModel: (fetch) =>
			// The transport replaces address and headers; they are given because the package would otherwise look them
			// up in the environment.
			createProvider({ baseURL: settings.baseUrl, apiKey: settings.apiKey, fetch })(settings.model),
		toRequest: async ({ body }, signal) => ({
			...(await api.findEndpoint(signal)),
			body: toBody(body, request, api.hasIds),
		}),
		readEvent: events.read,
		toFailure: errorReader.answer,
		whyEmpty: () => whyEmpty(events.ending()),
	};
}

function whyEmpty(ending: Ending | null): string | ModelFailure | null {
	if (ending === null) return null;
	const words = ending.explanation === null ? ending.reason : `${ending.reason}: ${ending.explanation}`;
	if (ending.isPromptRefused) return createRefusal(`The provider refused the prompt (${words}).`);
	switch (ending.reason) {
		// An empty answer without an error: worth a retry.
		case "STOP":
		case "FINISH_REASON_UNSPECIFIED":
			return null;
		case "MAX_TOKENS":
			return "The model used up all tokens of its answer before it said anything.";
		case "MALFORMED_FUNCTION_CALL":
		case "UNEXPECTED_TOOL_CALL":
			return `The model made a tool call that cannot be read (${words}).`;
		default:
			return createRefusal(`The provider held the answer back (${words}).`);
	}
}
