// The automatic answer limit: the context window minus an estimate of the input.
import type { ContentPart } from "../../api/values/content.ts";
import type { ModelRequest } from "./model.ts";

const reserve = 1024;
const tokensOfMedia = 2000;

/** At least 1. `wanted` null means the whole window; zero or less means no cap, which returns null. */
export function completionCap(request: ModelRequest, maxContextSize: number, wanted: number | null): number | null {
	if (wanted !== null && wanted <= 0) return null;
	const input = Math.max(request.knownTokens ?? 0, estimateTokens(request));
	return Math.max(1, Math.min(wanted ?? maxContextSize, maxContextSize - input - reserve));
}

export function estimateTokens(request: ModelRequest): number {
	let tokens = tokensOfText(request.systemPrompt);
	for (const tool of request.tools) {
		tokens += tokensOfText(tool.name) + tokensOfText(tool.description) + tokensOfText(JSON.stringify(tool.parameters));
	}
	for (const message of request.messages) {
		for (const part of message.content) tokens += tokensOfPart(part);
		for (const call of message.toolCalls ?? []) {
			tokens += tokensOfText(call.function.name) + tokensOfText(call.function.arguments ?? "");
		}
	}
	return tokens;
}

function tokensOfPart(part: ContentPart): number {
	if (part.type === "text") return tokensOfText(part.text);
	if (part.type === "think") return tokensOfText(part.think);
	return tokensOfMedia;
}

function tokensOfText(text: string): number {
	let ascii = 0;
	let others = 0;
	for (let position = 0; position < text.length; position++) {
		const unit = text.charCodeAt(position);
		if (unit < 0x80) ascii += 1;
		// The second half of a surrogate pair is already counted.
		else if (unit < 0xdc00 || unit > 0xdfff) others += 1;
	}
	return Math.ceil(ascii / 4) + others;
}
