// Converts the conversation and the tools of a request to `LanguageModelV3` values.
import type {
	LanguageModelV3FunctionTool,
	LanguageModelV3Message,
	LanguageModelV3Prompt,
	LanguageModelV3ToolResultOutput,
	LanguageModelV3ToolResultPart,
} from "@ai-sdk/provider";
import { type ContentPart, isBlankText, isMedia, joinTexts } from "../../../api/values/content.ts";
import type { HistoryEntry } from "../../../api/values/conversation.ts";
import type { ModelRequest, ToolSpecification } from "../model.ts";
import { toCallInput } from "../requests/call-arguments.ts";
import { type CallIds, createCallIds } from "./call-ids.ts";
import { toResultMedia, toUserMedia } from "./media.ts";
import { type ProviderMemory, readExtras, readSeal, toProviderOptions } from "./memory.ts";

type AssistantMessage = Extract<LanguageModelV3Message, { role: "assistant" }>;
type UserMessage = Extract<LanguageModelV3Message, { role: "user" }>;

export interface PromptRules {
	readonly memory: ProviderMemory;
	/** Maps the id of a call to letters that the provider accepts. */
	readonly spellCallId: (id: string) => string;
}

/**
 * The system prompt and all messages. Blank texts and reasoning of other origins are left out; consecutive results
 * become one message; a later system message becomes a marked user text, because few providers accept any other.
 */
export function toPrompt(request: ModelRequest, rules: PromptRules): LanguageModelV3Prompt {
	const prompt: LanguageModelV3Prompt = [];
	const ids = createCallIds(rules.spellCallId);
	const toolNames = new Map<string, string>();
	if (request.systemPrompt !== "") prompt.push({ role: "system", content: request.systemPrompt });

	for (const message of request.messages) {
		switch (message.role) {
			case "user":
				pushFilled(prompt, toUserMessage(message.content));
				break;
			case "system":
				pushFilled(
					prompt,
					toUserMessage([{ type: "text", text: `<system>${joinTexts(message.content, "\n")}</system>` }]),
				);
				break;
			case "assistant":
				for (const call of message.toolCalls ?? []) toolNames.set(call.id, call.function.name);
				pushFilled(prompt, toAssistantMessage(message, ids, rules));
				break;
			case "tool": {
				const id = message.toolCallId ?? "";
				const toolName = message.name ?? toolNames.get(id) ?? "";
				const output = toOutput(message.content);
				pushResult(prompt, { type: "tool-result", toolCallId: ids.ofResult(id), toolName, output });
				break;
			}
		}
	}
	return prompt;
}

export function toFunctionTools(tools: readonly ToolSpecification[]): LanguageModelV3FunctionTool[] {
	return tools.map(({ name, description, parameters }) => ({
		type: "function",
		name,
		description,
		inputSchema: { ...parameters },
	}));
}

function pushFilled(prompt: LanguageModelV3Prompt, message: AssistantMessage | UserMessage): void {
	if (message.content.length > 0) prompt.push(message);
}

function pushResult(prompt: LanguageModelV3Prompt, result: LanguageModelV3ToolResultPart): void {
	const last = prompt.at(-1);
	if (last?.role === "tool") last.content.push(result);
	else prompt.push({ role: "tool", content: [result] });
}

function toUserMessage(parts: readonly ContentPart[]): UserMessage {
	const content: UserMessage["content"] = [];
	for (const part of parts) {
		if (part.type === "text") {
			if (!isBlankText(part)) content.push({ type: "text", text: part.text });
		} else if (part.type !== "think") content.push(toUserMedia(part));
	}
	return { role: "user", content };
}

function toAssistantMessage(message: HistoryEntry, ids: CallIds, rules: PromptRules): AssistantMessage {
	const { memory } = rules;
	const content: AssistantMessage["content"] = [];
	for (const part of message.content) {
		if (part.type === "text") {
			if (!isBlankText(part)) content.push({ type: "text", text: part.text });
		} else if (part.type === "think") {
			const seal = readSeal(memory, part.encrypted);
			const options = toProviderOptions(memory, seal?.retained ?? {});
			const last = content.at(-1);
			if (seal?.kind === "text") {
				if (last?.type === "text") Object.assign(last, options);
			} else if (seal?.kind === "thought") {
				content.push({ type: "reasoning", text: part.think, ...options });
			}
		}
	}
	const calls = message.toolCalls ?? [];
	const callIds = ids.ofCalls(calls.map(({ id }) => id));
	for (const [index, call] of calls.entries()) {
		content.push({
			type: "tool-call",
			toolCallId: callIds[index] ?? call.id,
			toolName: call.function.name,
			input: toCallInput(call.function.arguments),
			...toProviderOptions(memory, readExtras(memory, call.extras)),
		});
	}
	return { role: "assistant", content };
}

function toOutput(parts: readonly ContentPart[]): LanguageModelV3ToolResultOutput {
	if (!parts.some(isMedia)) return { type: "text", value: joinTexts(parts, "\n") };
	return {
		type: "content",
		value: parts.flatMap((part) => {
			if (isMedia(part)) return [toResultMedia(part)];
			return part.type === "text" && !isBlankText(part) ? [{ type: "text" as const, text: part.text }] : [];
		}),
	};
}
