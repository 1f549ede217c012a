// The Responses API of OpenAI, through its package: one request, one stream (provider type `openai_responses`).
import type { OpenAIProvider, OpenAIProviderSettings } from "@ai-sdk/openai";
import { type PackageAdapter, streamFromPackage } from "../ai-sdk/call.ts";
import type { Model, ModelRequest } from "../model.ts";
import { toAnswerFailure } from "../openai-compatible/failures.ts";
import { createResponseEvents } from "./events.ts";
import { whyEmpty } from "./finish.ts";
import { memoryOf, type ResponseSettings, toCall, toRequest } from "./request.ts";

type CreateProvider = (settings: OpenAIProviderSettings) => OpenAIProvider;

/** Loads the package. */
export async function loadResponses(settings: ResponseSettings): Promise<Model["stream"]> {
	const { createOpenAI } = await import("@ai-sdk/openai");
	return (request, signal) =>
		streamFromPackage(settings, (given) => createAdapter(settings, given, createOpenAI), request, signal);
}

function createAdapter(
	settings: ResponseSettings,
	request: ModelRequest,
	createProvider: CreateProvider,
): PackageAdapter {
	return {
		memory: memoryOf(settings),
		call: toCall(request, settings),
		createModel: (fetch) =>
			// The transport replaces address and headers; they are given because the package would otherwise look them
			// up in the environment.
			createProvider({
				baseURL: settings.baseUrl,
				apiKey: settings.apiKey,
				organization: "",
				project: "",
				name: "openai",
				fetch,
			}).responses(settings.model),
		toRequest: (sent) => toRequest(sent, settings),
		readEvent: createResponseEvents().read,
		toFailure: toAnswerFailure,
		whyEmpty,
	};
}
