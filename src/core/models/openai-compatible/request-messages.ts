import { type ContentPart, isBlankText, isMedia, joinTexts, type ToolCall } from "../../../api/values/content.ts";
import type { HistoryEntry } from "../../../api/values/conversation.ts";
import type { ProviderMemory } from "../answers/memory.ts";
import type { ModelRequest } from "../model.ts";
import { toCallText } from "../requests/call-arguments.ts";
import type { BodyFields, ChatFlavour, ChatSettings } from "./flavour.ts";
import { memoryOf, storedMembers } from "./opaque-members.ts";

/** Omits blank texts, which Kimi refuses. Tool messages are text only; their media go into a following user message. */
export function toRequestMessages(request: ModelRequest, settings: ChatSettings, flavour: ChatFlavour): BodyFields[] {
	const rules: AnswerRules = {
		flavour,
		memory: memoryOf(settings),
		reasoningKey: flavour.reasoningKey(settings),
		absentReasoning: flavour.absentReasoning(settings, request),
	};
	const messages: BodyFields[] = [];
	const toolNames = new Map<string, string>();
	let toolMedia: ContentPart[] = [];
	if (request.systemPrompt !== "") messages.push({ role: "system", content: request.systemPrompt });

	const sendToolMedia = () => {
		if (toolMedia.length > 0) messages.push({ role: "user", content: toContent(toolMedia, flavour) });
		toolMedia = [];
	};

	for (const [index, message] of request.messages.entries()) {
		switch (message.role) {
			case "tool": {
				const id = message.toolCallId ?? "";
				const name = message.name ?? toolNames.get(id);
				const named = flavour.namesToolMessages && name !== undefined ? { name } : {};
				messages.push({ role: "tool", tool_call_id: id, ...named, content: joinTexts(message.content, "\n") });
				const media = message.content.filter(isMedia);
				if (media.length > 0) toolMedia.push({ type: "text", text: mediaLabel(id, media) }, ...media);
				break;
			}
			case "user": {
				const content = toContent([...toolMedia, ...message.content], flavour);
				toolMedia = [];
				if (content !== "") messages.push({ role: "user", content });
				else if (index === request.messages.length - 1) {
					messages.push({ role: "user", content: joinTexts(message.content, "") });
				}
				break;
			}
			case "assistant":
				sendToolMedia();
				for (const call of message.toolCalls ?? []) toolNames.set(call.id, call.function.name);
				if (!isEmpty(message)) messages.push(toAssistantMessage(message, rules));
				break;
			case "system":
				sendToolMedia();
				messages.push({ role: "system", content: joinTexts(message.content, "\n") });
				break;
		}
	}
	sendToolMedia();
	return messages;
}

function mediaLabel(toolCallId: string, media: readonly ContentPart[]): string {
	const what = media.every((part) => part.type === "image_url") ? "Image" : "Media";
	return `${what} returned by ${toolCallId}:`;
}

interface AnswerRules {
	readonly flavour: ChatFlavour;
	readonly memory: ProviderMemory;
	readonly reasoningKey: string | null;
	/** The placeholder for missing reasoning in a message with calls; null for none. */
	readonly absentReasoning: string | null;
}

function toAssistantMessage(message: HistoryEntry, rules: AnswerRules): BodyFields {
	const text = joinTexts(message.content, "");
	const toolCalls = message.toolCalls ?? [];
	const stored = storedMembers(rules.memory, message);
	const reasoning = { ...toReasoning(message, rules), ...stored.message };
	if (toolCalls.length === 0) return { role: "assistant", ...reasoning, content: text };
	const empty = rules.flavour.emptyContentWithCalls === "omitted" ? {} : { content: null };
	return {
		role: "assistant",
		...reasoning,
		...(text === "" ? empty : { content: text }),
		tool_calls: toolCalls.map((call, position) => ({ ...toRequestToolCall(call), ...stored.calls[position] })),
	};
}

function isEmpty({ content, toolCalls = [] }: HistoryEntry): boolean {
	return toolCalls.length === 0 && content.every((part) => part.type !== "text" || isBlankText(part));
}

function toReasoning({ content, toolCalls = [] }: HistoryEntry, rules: AnswerRules): BodyFields {
	const { reasoningKey: key, absentReasoning } = rules;
	if (key === null) return {};
	const reasoning = content.flatMap((part) => (part.type === "think" ? [part] : []));
	const text = reasoning.map(({ think }) => think).join("");
	if (text !== "") return { [key]: text };
	if (toolCalls.length > 0 && absentReasoning !== null) return { [key]: absentReasoning };
	return reasoning.some(({ encrypted }) => encrypted === null) ? { [key]: "" } : {};
}

function toRequestToolCall(call: ToolCall): BodyFields {
	const { name, arguments: argumentsText } = call.function;
	// Servers parse the arguments of earlier calls, and refuse the whole request if that fails.
	return { id: call.id, type: "function", function: { name, arguments: toCallText(argumentsText) } };
}

/** A plain string if possible, because every server accepts it. Skips reasoning and blank texts. */
function toContent(parts: readonly ContentPart[], flavour: ChatFlavour): string | BodyFields[] {
	const [first, ...rest] = parts.filter((part) => part.type !== "think").filter((part) => !isBlankText(part));
	if (first === undefined) return "";
	if (first.type === "text" && rest.length === 0) return first.text;
	return [first, ...rest].map((part) => toContentBlock(part, flavour));
}

function toContentBlock(part: Exclude<ContentPart, { type: "think" }>, flavour: ChatFlavour): BodyFields {
	switch (part.type) {
		case "text":
			return { type: "text", text: part.text };
		case "image_url":
			return { type: "image_url", image_url: { url: part.image_url.url } };
		case "audio_url":
			return flavour.audio(part.audio_url.url);
		case "video_url":
			return { type: "video_url", video_url: { url: part.video_url.url } };
	}
}
