// Gemini, through the package for it: one request, one stream (provider types `google_genai`, `gemini` and `vertexai`).
import type { GoogleGenerativeAIProvider, GoogleGenerativeAIProviderSettings } from "@ai-sdk/google";
import { type PackageAdapter, streamFromPackage } from "../ai-sdk/call.ts";
import { createRefusal, type Model, type ModelFailure, type ModelRequest } from "../model.ts";
import { createAccessTokens } from "./access-token.ts";
import { type Endpoint, type GetAccessToken, geminiEndpoint, vertexEndpoint } from "./endpoint.ts";
import { createContentEvents, type Ending, errorReader } from "./events.ts";
import { type ContentSettings, memoryOf, toBody, toCall } from "./request.ts";

type CreateProvider = (settings: GoogleGenerativeAIProviderSettings) => GoogleGenerativeAIProvider;

/** Which of the two APIs it is. */
interface Api {
	findEndpoint(): Endpoint | Promise<Endpoint>;
	/** Whether it supports ids of calls. */
	readonly hasIds: boolean;
}

/** Loads the package. */
export function loadGemini(settings: ContentSettings): Promise<Model["stream"]> {
	return load(settings, { findEndpoint: () => geminiEndpoint(settings), hasIds: true });
}

/** The same for Vertex AI; `getToken` defaults to the machine's credentials. */
export function loadVertex(
	settings: ContentSettings,
	getToken: GetAccessToken = createAccessTokens(settings),
): Promise<Model["stream"]> {
	return load(settings, { findEndpoint: () => vertexEndpoint(settings, getToken), hasIds: false });
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
		toRequest: async ({ body }) => ({ ...(await api.findEndpoint()), body: toBody(body, request, api.hasIds) }),
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
