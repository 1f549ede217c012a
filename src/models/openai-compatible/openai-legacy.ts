// The flavour of chat completions of OpenAI and most compatible servers (provider type `openai_legacy`).

import type { ModelRequest, ToolSpecification } from "../model.ts";
import { samplingOf } from "../model-settings.ts";
import type { BodyFields, ChatFlavour, ChatSettings } from "./flavour.ts";

export const openaiLegacyFlavour: ChatFlavour = {
	reasoningKey: ({ reasoningKey }) => (reasoningKey === "" ? null : (reasoningKey ?? "reasoning_content")),
	absentReasoning: () => null,
	emptyContentWithCalls: "null",
	namesToolMessages: false,
	tool,
	extras,
};

function tool(specification: ToolSpecification): BodyFields {
	const { name, description, parameters } = specification;
	return { type: "function", function: { name, description, parameters } };
}

function extras(settings: ChatSettings, request: ModelRequest): BodyFields {
	const cap = samplingOf(request, settings).maxCompletionTokens;
	const effort = reasoningEffort(settings, request);
	return {
		...(cap === null || cap <= 0 ? {} : { max_completion_tokens: cap }),
		...(effort === null ? {} : { reasoning_effort: effort }),
	};
}

// Some gateways require an effort once a message contains reasoning.
function reasoningEffort(settings: ChatSettings, request: ModelRequest): string | null {
	if (settings.thinking === "on") return "high";
	if (settings.thinking === "off" || settings.reasoningKey === "") return null;
	const hasReasoning = request.messages.some(
		({ role, content }) => role === "assistant" && content.some((part) => part.type === "think"),
	);
	return hasReasoning ? "medium" : null;
}
