// Streams one answer over the Messages API: the adapter of the provider type `anthropic`.
import type { AnthropicProviderSettings } from "@ai-sdk/anthropic";
import type { LanguageModelV3 } from "@ai-sdk/provider";
import { type PackageAdapter, streamFromPackage } from "../ai-sdk/call.ts";
import type { FinishPart } from "../ai-sdk/stream.ts";
import { createFailure, createRefusal, type Model, type ModelRequest } from "../model.ts";
import { createMessageEvents, errorReader } from "./events.ts";
import { type MessageSettings, memoryOf, toCall, toRequest } from "./request.ts";

type CreateProvider = (settings: AnthropicProviderSettings) => (model: string) => LanguageModelV3;

/** Loads the package. */
export async function loadMessages(settings: MessageSettings): Promise<Model["stream"]> {
	const { createAnthropic } = await import("@ai-sdk/anthropic");
	return (request, signal) =>
		streamFromPackage(settings, (given) => createAdapter(settings, given, createAnthropic), request, signal);
}

function createAdapter(
	settings: MessageSettings,
	request: ModelRequest,
	createProvider: CreateProvider,
): PackageAdapter {
	const events = createMessageEvents();
	const call = toCall(request, settings);
	return {
		memory: memoryOf(settings),
		call,
		createModel: (fetch) =>
			// The transport replaces address and headers; they are given because the package would otherwise look them
			// up in the environment.
			createProvider({ baseURL: settings.baseUrl, apiKey: settings.apiKey, fetch })(settings.model),
		toRequest: (sent) => toRequest(sent, call, settings),
		readEvent: events.read,
		toFailure: errorReader.answer,
		whyEmpty: (finish) => whyEmpty(finish, events.explanation()),
	};
}

function whyEmpty({ finishReason }: FinishPart, explanation: string | null): ReturnType<PackageAdapter["whyEmpty"]> {
	switch (finishReason.raw) {
		case "refusal":
			return createRefusal(`The provider refused to answer${explanation === null ? "." : `: ${explanation}`}`);
		case "model_context_window_exceeded":
			return createFailure("overflow", "The conversation leaves no room for an answer in the model's context window.");
		case "max_tokens":
			return "The model used up all tokens of its answer before it said anything.";
		default:
			return null;
	}
}
