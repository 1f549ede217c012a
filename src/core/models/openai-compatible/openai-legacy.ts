import { type ContentPart, readDataUri } from "../../../api/values/content.ts";
import type { HistoryEntry } from "../../../api/values/conversation.ts";
import type { ModelRequest, ToolSpecification } from "../model.ts";
import { samplingOf } from "../model-settings.ts";
import { audioAtUrl, type BodyFields, type ChatFlavour, type ChatSettings } from "./flavour.ts";

export const openaiLegacyFlavour: ChatFlavour = {
	reasoningKey: ({ reasoningKey }) => (reasoningKey === "" ? null : (reasoningKey ?? "reasoning_content")),
	absentReasoning,
	emptyContentWithCalls: "null",
	namesToolMessages: false,
	audio,
	tool,
	extras,
};

const audioFormats: ReadonlyMap<string, string> = new Map([
	...["audio/wav", "audio/x-wav", "audio/wave", "audio/vnd.wave"].map((type) => [type, "wav"] as const),
	...["audio/mpeg", "audio/mp3"].map((type) => [type, "mp3"] as const),
]);

/** Compatible servers accept more than data in these two formats. */
function audio(url: string): BodyFields {
	const source = readDataUri(url);
	const format = source === null ? undefined : audioFormats.get(source.mediaType);
	if (source === null || format === undefined) return audioAtUrl(url);
	return { type: "input_audio", input_audio: { data: source.data, format } };
}

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

/** Servers of thinking models refuse calls without reasoning, including calls from before thinking was switched on. */
function absentReasoning(settings: ChatSettings, { messages }: ModelRequest): string | null {
	if (settings.thinking === "off" || isOpenai(settings)) return null;
	const { capabilities, thinking } = settings;
	const thinks = thinking === "on" || capabilities.has("thinking") || capabilities.has("always_thinking");
	return thinks || messages.some(hasReasoning) ? "" : null;
}

/** OpenAI has no reasoning in its messages. */
function isOpenai({ baseUrl }: ChatSettings): boolean {
	return URL.canParse(baseUrl) && new URL(baseUrl).hostname === "api.openai.com";
}

function hasReasoning({ role, content }: HistoryEntry): boolean {
	const isReasoning = (part: ContentPart) => part.type === "think" && (part.think !== "" || part.encrypted === null);
	return role === "assistant" && content.some(isReasoning);
}

// Some gateways require an effort once a message contains reasoning.
function reasoningEffort(settings: ChatSettings, request: ModelRequest): string | null {
	if (settings.thinking === "on") return "high";
	if (settings.thinking === "off" || settings.reasoningKey === "") return null;
	return request.messages.some(hasReasoning) ? "medium" : null;
}
