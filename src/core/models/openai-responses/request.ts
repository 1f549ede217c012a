// Builds the request of a response: the call of the package, and corrections of what it would send.
import type { LanguageModelV3CallOptions } from "@ai-sdk/provider";
import { isRecord } from "../../../base/json.ts";
import type { ProviderMemory } from "../ai-sdk/memory.ts";
import { toFunctionTools, toPrompt } from "../ai-sdk/prompt.ts";
import type { PackageRequest, ProviderRequest } from "../ai-sdk/transport.ts";
import { type HeaderSettings, toBaseUrl, toRequestHeaders } from "../http/endpoint.ts";
import type { ModelRequest } from "../model.ts";
import { type ModelSettings, samplingOf, type ThinkingMode, thinkingOf } from "../model-settings.ts";
import { smallestEffort } from "./effort.ts";

export type ResponseSettings = HeaderSettings &
	Pick<
		ModelSettings,
		"baseUrl" | "apiKey" | "model" | "capabilities" | "thinking" | "sampling" | "timeouts" | "clock" | "network"
	>;

/** The API's minimum. */
const fewestTokens = 16;

const longestCallId = 60;

/** Reasoning is sent back only to the model that encrypted it. */
export function memoryOf({ model }: Pick<ResponseSettings, "model">): ProviderMemory {
	const names = { thought: ["itemId", "reasoningEncryptedContent"], text: ["phase"], call: [] };
	return { origin: `openai:${model}`, key: "openai", names };
}

export function toCall(request: ModelRequest, settings: ResponseSettings): LanguageModelV3CallOptions {
	const sampling = samplingOf(request, settings);
	const prompt = toPrompt(
		{ ...request, systemPrompt: "" },
		{
			memory: memoryOf(settings),
			spellCallId: (id) => id.replace(/[^a-zA-Z0-9_-]/g, "_").slice(0, longestCallId),
		},
	);
	// By default the API applies strict rules to schemas, which few tools meet.
	const tools = toFunctionTools(request.tools).map((tool) => ({ ...tool, strict: false }));
	const cap = sampling.maxCompletionTokens ?? 0;
	return {
		prompt,
		...(tools.length === 0 ? {} : { tools }),
		...(cap <= 0 ? {} : { maxOutputTokens: Math.max(fewestTokens, cap) }),
		...(sampling.temperature === null ? {} : { temperature: sampling.temperature }),
		...(sampling.topP === null ? {} : { topP: sampling.topP }),
		providerOptions: {
			openai: {
				store: false,
				promptCacheKey: request.cacheKey,
				...(request.systemPrompt === "" ? {} : { instructions: request.systemPrompt }),
				...(tools.length === 0 ? {} : { parallelToolCalls: true }),
				...toReasoning(thinkingOf(request, settings), settings.model),
			},
		},
	};
}

function toReasoning(thinking: ThinkingMode, model: string) {
	switch (thinking) {
		case "on":
			return { forceReasoning: true, reasoningEffort: "high", reasoningSummary: "auto" };
		case "default":
			return { reasoningSummary: "auto" };
		case "off": {
			const effort = smallestEffort(model);
			return effort === null ? {} : { reasoningEffort: effort };
		}
	}
}

/** The request to send instead of the package's. Throws RequestFailure for an unusable address or header. */
export function toRequest({ body }: PackageRequest, settings: ResponseSettings): ProviderRequest {
	const url = toBaseUrl(settings.baseUrl);
	url.pathname = `${url.pathname.replace(/\/+$/, "")}/responses`;
	return {
		url,
		headers: toRequestHeaders(settings, settings.apiKey === "" ? {} : { authorization: `Bearer ${settings.apiKey}` }),
		body:
			isRecord(body) && Array.isArray(body["input"]) ? { ...body, input: withUsefulReasoning(body["input"]) } : body,
	};
}

/** Drops reasoning that the API refuses: what cannot be decrypted, and what no output follows. */
function withUsefulReasoning(input: readonly unknown[]): unknown[] {
	const retained: unknown[] = [];
	let leadsOn = false;
	for (const item of input.toReversed()) {
		const isReasoning = isRecord(item) && item["type"] === "reasoning";
		if (!isReasoning) leadsOn = isRecord(item) && (item["role"] === "assistant" || item["type"] === "function_call");
		else if (!leadsOn || typeof item["encrypted_content"] !== "string") continue;
		retained.push(item);
	}
	return retained.reverse();
}
