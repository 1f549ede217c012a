import type { ProviderRequest } from "../answers/answer-stream.ts";
import type { Fields } from "../answers/event-json.ts";
import type { ProviderMemory } from "../answers/memory.ts";
import { completionCap } from "../completion-cap.ts";
import { type HeaderSettings, toBaseUrl, toRequestHeaders } from "../http/endpoint.ts";
import type { ModelRequest } from "../model.ts";
import type { ModelSettings } from "../model-settings.ts";
import { samplingOf, thinkingOf } from "../model-settings.ts";
import { cached, toMessages, withCacheMarks } from "./conversation.ts";
import {
	continuesWithoutReasoning,
	leastThinking,
	mostTokens,
	refusesSampling,
	thinkingBudget,
	thinkingStyle,
} from "./thinking.ts";

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

/** Default maximum tokens of an answer; the API requires one. */
const standardMaxTokens = 50_000;

export function memoryOf({ model }: Pick<MessageSettings, "model">): ProviderMemory {
	const names = { thought: ["signature", "redactedData"], text: [], message: [], call: [] };
	return { origin: `anthropic:${model}`, names };
}

/** Whether the server is Anthropic's, which refuses unsigned reasoning. */
export function isAnthropic({ baseUrl }: Pick<MessageSettings, "baseUrl">): boolean {
	return URL.canParse(baseUrl) && /(?:^|\.)anthropic\.com$/.test(new URL(baseUrl).hostname);
}

/** Throws RequestFailure for an unusable address or header. */
export function toRequest(request: ModelRequest, settings: MessageSettings): ProviderRequest {
	const body = toBody(request, settings);
	const { thinking } = body;
	return {
		url: toMessagesUrl(settings.baseUrl),
		headers: toRequestHeaders(settings, {
			"anthropic-version": "2023-06-01",
			...(settings.apiKey === "" ? {} : { "x-api-key": settings.apiKey }),
			// Lets a model with a budget think between calls, like adaptive models.
			...(thinking?.type === "enabled" ? { "anthropic-beta": "interleaved-thinking-2025-05-14" } : {}),
		}),
		body,
	};
}

function toBody(request: ModelRequest, settings: MessageSettings) {
	const max_tokens = maxTokens(request, settings);
	const { thinking, ...effort } = toThinking(request, settings, max_tokens);
	const isOff = thinking?.type === "disabled";
	const messages = toMessages(request.messages, {
		memory: memoryOf(settings),
		reasoning: isOff ? "none" : isAnthropic(settings) ? "signed" : "all",
	});
	const tools = request.tools.map(
		({ name, description, parameters }): Fields => ({ name, description, input_schema: parameters }),
	);
	const system = { type: "text", text: request.systemPrompt };
	return {
		model: settings.model,
		max_tokens,
		stream: true,
		...toSampling(request, settings, thinking !== undefined && !isOff),
		...(thinking === undefined ? {} : { thinking }),
		...effort,
		metadata: { user_id: request.cacheKey },
		...(request.systemPrompt === "" ? {} : { system: [cached(system)] }),
		...(tools.length === 0
			? {}
			: { tools: tools.map((tool, index) => (index === tools.length - 1 ? cached(tool) : tool)) }),
		messages: withCacheMarks(messages),
	};
}

function maxTokens(request: ModelRequest, settings: MessageSettings): number {
	const { maxContextSize, model } = settings;
	const wanted = samplingOf(request, settings).maxCompletionTokens ?? 0;
	const most = wanted > 0 ? wanted : standardMaxTokens;
	const cap = completionCap(request, maxContextSize, most) ?? most;
	return Math.min(cap, mostTokens(model) ?? cap);
}

/** Thinking models accept neither value; other Claude models accept one of the two. */
function toSampling(request: ModelRequest, settings: MessageSettings, isThinking: boolean): Fields {
	const { temperature, topP } = samplingOf(request, settings);
	if (isThinking || refusesSampling(settings.model)) return {};
	if (temperature === null) return topP === null ? {} : { top_p: topP };
	const isClaude = /claude/i.test(settings.model);
	return { temperature: Math.min(1, temperature), ...(topP === null || isClaude ? {} : { top_p: topP }) };
}

interface Thinking {
	readonly thinking?: { readonly type: string; readonly budget_tokens?: number; readonly display?: string };
	readonly output_config?: { readonly effort: "high" };
}

function toThinking(request: ModelRequest, settings: MessageSettings, most: number): Thinking {
	const { model } = settings;
	const mode = thinkingOf(request, settings);
	if (mode === "default") return {};
	if (mode === "off") {
		const thinking = leastThinking(model);
		return thinking === null ? {} : { thinking };
	}
	const style = thinkingStyle(model);
	if (style.kind === "adaptive") {
		const display = style.isSilent ? { display: "summarized" } : {};
		return { thinking: { type: "adaptive", ...display }, output_config: { effort: "high" } };
	}
	const wanted = request.sampling?.thinkingBudget ?? most;
	// The API refuses a budget that leaves nothing for the answer.
	const budget = wanted < most ? wanted : thinkingBudget(most);
	if (budget === null || continuesWithoutReasoning(request.messages, memoryOf(settings))) return {};
	return { thinking: { type: "enabled", budget_tokens: budget } };
}

/** The base URL may end with the API version or not. */
export function toMessagesUrl(baseUrl: string): URL {
	const url = toBaseUrl(baseUrl);
	const root = url.pathname.replace(/\/+$/, "");
	url.pathname = root.endsWith("/v1") ? `${root}/messages` : `${root}/v1/messages`;
	return url;
}
