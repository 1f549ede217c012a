// Builds the request of a message: the call of the package, and corrections of what it would send.
import type { LanguageModelV3CallOptions, LanguageModelV3Message, LanguageModelV3Prompt } from "@ai-sdk/provider";
import type { ProviderMemory } from "../ai-sdk/memory.ts";
import { toFunctionTools, toPrompt } from "../ai-sdk/prompt.ts";
import type { PackageRequest, ProviderRequest } from "../ai-sdk/transport.ts";
import { completionCap } from "../completion-cap.ts";
import { type HeaderSettings, toBaseUrl, toRequestHeaders } from "../http/endpoint.ts";
import type { ModelRequest } from "../model.ts";
import type { ModelSettings } from "../model-settings.ts";
import { samplingOf, thinkingOf } from "../model-settings.ts";
import { mendBody, thinkingType } from "./body.ts";
import { continuesWithoutReasoning, thinkingBudget, thinkingStyle } from "./thinking.ts";

export type MessageSettings = HeaderSettings &
	Pick<
		ModelSettings,
		| "baseUrl"
		| "apiKey"
		| "model"
		| "maxContextSize"
		| "capabilities"
		| "thinking"
		| "sampling"
		| "timeouts"
		| "clock"
		| "network"
	>;

/** Maximal tokens of an answer, which the API requires. */
const standardMaxTokens = 50_000;

/** The API searches about 20 blocks before a mark for cached content: longer requests get a second mark. */
const blocksBetweenMarks = 15;

const cached = { anthropic: { cacheControl: { type: "ephemeral" } } };

/** Reasoning is sent back only to the model that signed it. */
export function memoryOf({ model }: Pick<MessageSettings, "model">): ProviderMemory {
	const names = { thought: ["signature", "redactedData"], text: [], call: [] };
	return { origin: `anthropic:${model}`, key: "anthropic", names };
}

export function toCall(request: ModelRequest, settings: MessageSettings): LanguageModelV3CallOptions {
	const sampling = samplingOf(request, settings);
	const prompt = toPrompt(request, {
		memory: memoryOf(settings),
		spellCallId: (id) => id.replace(/[^a-zA-Z0-9_-]/g, "_"),
	});
	const tools = toFunctionTools(request.tools);
	const lastTool = tools.at(-1);
	if (lastTool !== undefined) lastTool.providerOptions = cached;
	return {
		prompt: withCacheMarks(prompt),
		...(tools.length === 0 ? {} : { tools }),
		maxOutputTokens: maxTokens(request, settings),
		...(sampling.temperature === null ? {} : { temperature: sampling.temperature }),
		...(sampling.topP === null ? {} : { topP: sampling.topP }),
		providerOptions: {
			anthropic: { metadata: { userId: request.cacheKey }, toolStreaming: false, ...toThinking(request, settings) },
		},
	};
}

function maxTokens(request: ModelRequest, settings: MessageSettings): number {
	const { maxContextSize } = settings;
	const wanted = samplingOf(request, settings).maxCompletionTokens ?? 0;
	const most = wanted > 0 ? wanted : standardMaxTokens;
	return completionCap(request, maxContextSize, most) ?? most;
}

function toThinking(request: ModelRequest, settings: MessageSettings) {
	const { model } = settings;
	const thinking = thinkingOf(request, settings);
	if (thinking === "default") return {};
	// The package knows the models that refuse this, and their closest equivalent.
	if (thinking === "off") return { thinking: { type: "disabled" } };
	const style = thinkingStyle(model);
	if (style.kind === "adaptive") {
		return { thinking: { type: "adaptive", ...(style.isSilent ? { display: "summarized" } : {}) }, effort: "high" };
	}
	const most = maxTokens(request, settings);
	const wanted = request.sampling?.thinkingBudget ?? most;
	// What leaves nothing for the answer is refused by the API.
	const budgetTokens = wanted < most ? wanted : thinkingBudget(most);
	if (budgetTokens === null || continuesWithoutReasoning(request.messages, memoryOf(settings))) return {};
	return { thinking: { type: "enabled", budgetTokens } };
}

/** Marks the system prompt and the last message, and, if that is far away, the last message of the previous request. */
function withCacheMarks(prompt: LanguageModelV3Prompt): LanguageModelV3Prompt {
	const isMarkable = ({ role }: LanguageModelV3Message) => role === "user" || role === "tool";
	const answer = prompt.findLastIndex(({ role }) => role === "assistant");
	const before = prompt.slice(0, Math.max(0, answer)).findLastIndex(isMarkable);
	const between = prompt.slice(before + 1).reduce((count, { content }) => count + content.length, 0);
	const marked = new Set([prompt.findLastIndex(isMarkable), prompt[0]?.role === "system" ? 0 : -1]);
	if (between > blocksBetweenMarks) marked.add(before);
	return prompt.map((message, index) => (marked.has(index) ? { ...message, providerOptions: cached } : message));
}

/** The request to send instead of the package's. Throws RequestFailure for an unusable address or header. */
export function toRequest(
	{ body }: PackageRequest,
	call: LanguageModelV3CallOptions,
	settings: MessageSettings,
): ProviderRequest {
	const mended = mendBody(body, call.maxOutputTokens ?? standardMaxTokens);
	return {
		url: toMessagesUrl(settings.baseUrl),
		headers: toRequestHeaders(settings, {
			"anthropic-version": "2023-06-01",
			...(settings.apiKey === "" ? {} : { "x-api-key": settings.apiKey }),
			// Lets a model with a budget think between calls, as the adaptive ones do.
			...(thinkingType(mended) === "enabled" ? { "anthropic-beta": "interleaved-thinking-2025-05-14" } : {}),
		}),
		body: mended,
	};
}

/** Below a root with or without the version of the API. */
export function toMessagesUrl(baseUrl: string): URL {
	const url = toBaseUrl(baseUrl);
	const root = url.pathname.replace(/\/+$/, "");
	url.pathname = root.endsWith("/v1") ? `${root}/messages` : `${root}/v1/messages`;
	return url;
}
