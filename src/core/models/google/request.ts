// Builds the request of a generation: the call of the package, and corrections of what it would send.
import type { LanguageModelV3CallOptions, LanguageModelV3Message, LanguageModelV3Prompt } from "@ai-sdk/provider";
import { isRecord } from "../../../base/json.ts";
import type { ProviderMemory } from "../ai-sdk/memory.ts";
import { toFunctionTools, toPrompt } from "../ai-sdk/prompt.ts";
import type { HeaderSettings } from "../http/endpoint.ts";
import type { ModelRequest } from "../model.ts";
import type { ModelSettings } from "../model-settings.ts";
import { samplingOf, thinkingOf } from "../model-settings.ts";
import { localIdPrefix } from "./events.ts";
import { thinkingConfiguration } from "./thinking.ts";

export type ContentSettings = HeaderSettings &
	Pick<
		ModelSettings,
		| "baseUrl"
		| "apiKey"
		| "model"
		| "capabilities"
		| "thinking"
		| "sampling"
		| "network"
		| "timeouts"
		| "clock"
		| "environment"
		| "home"
		| "readFile"
	>;

type Fields = Record<string, unknown>;
type ToolMessage = Extract<LanguageModelV3Message, { role: "tool" }>;
type UserMessage = Extract<LanguageModelV3Message, { role: "user" }>;

/** A signature is sent back only to the model that created it. */
export function memoryOf({ model }: Pick<ContentSettings, "model">): ProviderMemory {
	const signature = ["thoughtSignature"];
	return { origin: `google:${model}`, key: "google", names: { thought: signature, text: signature, call: signature } };
}

export function toCall(request: ModelRequest, settings: ContentSettings): LanguageModelV3CallOptions {
	const { model } = settings;
	const sampling = samplingOf(request, settings);
	const prompt = toPrompt(request, { memory: memoryOf(settings), spellCallId: (id) => id });
	const tools = toFunctionTools(request.tools);
	const cap = sampling.maxCompletionTokens ?? 0;
	const thinkingConfig = thinkingConfiguration(
		model,
		thinkingOf(request, settings),
		request.sampling?.thinkingBudget ?? null,
	);
	return {
		prompt: prompt.map(mendMessage),
		...(tools.length === 0 ? {} : { tools }),
		...(cap <= 0 ? {} : { maxOutputTokens: cap }),
		...(sampling.temperature === null ? {} : { temperature: sampling.temperature }),
		...(sampling.topP === null ? {} : { topP: sampling.topP }),
		...(thinkingConfig === null ? {} : { providerOptions: { google: { thinkingConfig: { ...thinkingConfig } } } }),
	};
}

function mendMessage(message: LanguageModelV3Prompt[number]): LanguageModelV3Prompt[number] {
	switch (message.role) {
		case "tool":
			return { ...message, content: message.content.map(withOneText) };
		case "user":
			return { ...message, content: message.content.map(withKnownType) };
		case "system":
		case "assistant":
			return message;
	}
}

/** The package creates a result from each text, and none where there is no text; the API expects one for each call. */
function withOneText(part: ToolMessage["content"][number]): ToolMessage["content"][number] {
	if (part.type !== "tool-result" || part.output.type !== "content") return part;
	const texts = part.output.value.flatMap((block) => (block.type === "text" ? [block.text] : []));
	const media = part.output.value.filter((block) => block.type !== "text");
	const text = texts.length === 0 ? "The result follows." : texts.join("\n");
	return { ...part, output: { type: "content", value: [{ type: "text", text }, ...media] } };
}

/** Content at a URL has no known type, and the API accepts no type with a wildcard. */
function withKnownType(part: UserMessage["content"][number]): UserMessage["content"][number] {
	return part.type === "file" && part.mediaType === "video/*" ? { ...part, mediaType: "video/mp4" } : part;
}

/**
 * The body to send instead of the package's: tools as declared, results in the form of the API, and ids of calls where
 * it supports them (`hasIds`).
 */
export function toBody(body: unknown, { tools }: ModelRequest, hasIds: boolean): unknown {
	if (!isRecord(body)) return body;
	const contents: unknown[] = Array.isArray(body["contents"]) ? body["contents"] : [];
	const declarations = tools.map(({ name, description, parameters }) => ({
		name,
		description,
		parametersJsonSchema: parameters,
	}));
	return {
		...body,
		contents: contents.map((content) => (isRecord(content) ? toContent(content, hasIds) : content)),
		...(tools.length === 0 ? {} : { tools: [{ functionDeclarations: declarations }] }),
	};
}

function toContent(content: Fields, hasIds: boolean): Fields {
	const parts: unknown[] = Array.isArray(content["parts"]) ? content["parts"] : [];
	return { ...content, parts: parts.map((part) => (isRecord(part) ? toPart(part, hasIds) : part)) };
}

function toPart(part: Fields, hasIds: boolean): Fields {
	const { functionCall: call, functionResponse: result } = part;
	if (isRecord(call)) return { ...part, functionCall: withKnownId(call, hasIds) };
	if (!isRecord(result)) return part;
	const response = isRecord(result["response"]) ? { output: result["response"]["content"] } : {};
	return { ...part, functionResponse: { ...withKnownId(result, hasIds), response } };
}

function withKnownId(fields: Fields, hasIds: boolean): Fields {
	const { id, ...others } = fields;
	return hasIds && typeof id === "string" && !id.startsWith(localIdPrefix) ? fields : others;
}
