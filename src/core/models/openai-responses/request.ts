import {
	type ContentPart,
	isBlankText,
	isMedia,
	joinTexts,
	type MediaPart,
	readMedia,
} from "../../../api/values/content.ts";
import type { HistoryEntry } from "../../../api/values/conversation.ts";
import type { ProviderRequest } from "../answers/answer-stream.ts";
import type { Fields } from "../answers/event-json.ts";
import { type ProviderMemory, readSeal } from "../answers/memory.ts";
import { type HeaderSettings, toBaseUrl, toRequestHeaders } from "../http/endpoint.ts";
import type { ModelRequest } from "../model.ts";
import { type ModelSettings, samplingOf, type ThinkingMode, thinkingOf } from "../model-settings.ts";
import { toCallText } from "../requests/call-arguments.ts";
import { type CallIds, createCallIds } from "../requests/call-ids.ts";
import { familyOf } from "./effort.ts";

export type ResponseSettings = HeaderSettings &
	Pick<
		ModelSettings,
		"baseUrl" | "apiKey" | "model" | "capabilities" | "thinking" | "sampling" | "timeouts" | "clock" | "network"
	>;

const fewestTokens = 16;

const longestCallId = 60;

/** Reasoning is only sent back to the model that encrypted it. */
export function memoryOf({ model }: Pick<ResponseSettings, "model">): ProviderMemory {
	const names = { thought: ["itemId", "reasoningEncryptedContent"], text: ["phase"], message: [], call: [] };
	return { origin: `openai:${model}`, names };
}

/** Throws RequestFailure for an unusable address or header. */
export function toRequest(request: ModelRequest, settings: ResponseSettings): ProviderRequest {
	const url = toBaseUrl(settings.baseUrl);
	url.pathname = `${url.pathname.replace(/\/+$/, "")}/responses`;
	const key: Record<string, string> = settings.apiKey === "" ? {} : { authorization: `Bearer ${settings.apiKey}` };
	return { url, headers: toRequestHeaders(settings, key), body: toBody(request, settings) };
}

function toBody(request: ModelRequest, settings: ResponseSettings): Fields {
	const { model } = settings;
	const thinking = thinkingOf(request, settings);
	const isReasoning = thinking === "on" || familyOf(model).isReasoning;
	const reasoning = isReasoning ? toReasoning(thinking, model) : null;
	const { maxCompletionTokens, temperature, topP } = samplingOf(request, settings);
	const cap = maxCompletionTokens ?? 0;
	// Models refuse both while reasoning.
	const isSampled = !isReasoning || reasoning?.["effort"] === "none";
	// By default the API applies strict schema rules, which few tools meet.
	const tools = request.tools.map((tool) => ({ type: "function", ...tool, strict: false }));
	return {
		...{ model, stream: true, store: false },
		...(request.systemPrompt === "" ? {} : { instructions: request.systemPrompt }),
		...(isReasoning ? { include: ["reasoning.encrypted_content"] } : {}),
		...(reasoning === null ? {} : { reasoning }),
		...(cap <= 0 ? {} : { max_output_tokens: Math.max(fewestTokens, cap) }),
		...(temperature === null || !isSampled ? {} : { temperature }),
		...(topP === null || !isSampled ? {} : { top_p: topP }),
		prompt_cache_key: request.cacheKey,
		input: toInput(request.messages, memoryOf(settings)),
		...(tools.length === 0 ? {} : { parallel_tool_calls: true, tools }),
	};
}

function toReasoning(thinking: ThinkingMode, model: string): Fields | null {
	if (thinking === "on") return { effort: "high", summary: "auto" };
	if (thinking === "default") return { summary: "auto" };
	const effort = familyOf(model).smallestEffort;
	return effort === null ? null : { effort };
}

/** The items of a conversation. A later system message becomes a marked user text. */
function toInput(history: readonly HistoryEntry[], memory: ProviderMemory): Fields[] {
	const ids = createCallIds((id) => id.replace(/[^a-zA-Z0-9_-]/g, "_").slice(0, longestCallId));
	const items: Fields[] = [];
	for (const entry of history) {
		const { role, content } = entry;
		switch (role) {
			case "user": {
				const parts = toInputParts(content);
				if (parts.length > 0) items.push({ role, content: parts });
				break;
			}
			case "system": {
				const text = `<system>${joinTexts(content, "\n")}</system>`;
				items.push({ role: "user", content: [{ type: "input_text", text }] });
				break;
			}
			case "tool": {
				const output = content.some(isMedia) ? toInputParts(content) : joinTexts(content, "\n");
				items.push({ type: "function_call_output", call_id: ids.ofResult(entry.toolCallId ?? ""), output });
				break;
			}
			case "assistant":
				addAnswer(items, entry, ids, memory);
		}
	}
	return withUsefulReasoning(items);
}

function toInputParts(parts: readonly ContentPart[]): Fields[] {
	return parts.flatMap((part) => {
		if (part.type === "think" || isBlankText(part)) return [];
		return [part.type === "text" ? { type: "input_text", text: part.text } : toImage(part)];
	});
}

/** The API accepts no other media. */
function toImage(part: MediaPart): Fields {
	return { type: "input_image", image_url: readMedia(part).url };
}

function addAnswer(items: Fields[], { content, toolCalls = [] }: HistoryEntry, ids: CallIds, memory: ProviderMemory) {
	for (const part of content) {
		if (part.type === "text" && !isBlankText(part)) {
			items.push({ role: "assistant", content: [{ type: "output_text", text: part.text }] });
		}
		const seal = part.type === "think" ? readSeal(memory, part.encrypted) : null;
		if (part.type !== "think" || seal === null) continue;
		const last = items.at(-1);
		const { itemId: id, reasoningEncryptedContent: encrypted_content } = seal.retained;
		const summary = part.think === "" ? [] : [{ type: "summary_text", text: part.think }];
		if (seal.kind === "text") {
			if (last?.["role"] === "assistant") Object.assign(last, seal.retained);
		} else if (last?.["type"] === "reasoning" && last["id"] === id && Array.isArray(last["summary"])) {
			// Earlier versions stored each summary paragraph separately.
			Object.assign(last, { encrypted_content, summary: [...last["summary"], ...summary] });
		} else items.push({ type: "reasoning", id, summary, encrypted_content });
	}
	const callIds = ids.ofCalls(toolCalls.map(({ id }) => id));
	for (const [index, call] of toolCalls.entries()) {
		const { name, arguments: given } = call.function;
		const call_id = callIds[index] ?? call.id;
		items.push({ type: "function_call", call_id, name, arguments: toCallText(given) });
	}
}

/** Drops reasoning that the API refuses: undecryptable reasoning, and reasoning without a following output. */
function withUsefulReasoning(input: readonly Fields[]): Fields[] {
	const retained: Fields[] = [];
	let leadsOn = false;
	for (const item of input.toReversed()) {
		if (item["type"] !== "reasoning") leadsOn = item["role"] === "assistant" || item["type"] === "function_call";
		else if (!leadsOn || typeof item["encrypted_content"] !== "string") continue;
		retained.push(item);
	}
	return retained.reverse();
}
