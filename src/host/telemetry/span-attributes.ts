// Span attributes by the GenAI conventions: the agent's model, and message content if requested.

import { toParts, type UserInput } from "../../api/values/content.ts";
import type { EventBodyOf } from "../../api/values/event.ts";
import { beginning } from "../../base/text/well-formed.ts";
import type { Attributes } from "./span.ts";

export interface ModelInUse {
	readonly name: string;
	/** Provider type from the settings; empty if unknown. */
	readonly provider: string;
}

/** Maximum characters of a content attribute. */
export const contentLimit = 65_536;

const providerNames: ReadonlyMap<string, string> = new Map([
	["kimi", "moonshot_ai"],
	["openai_legacy", "openai"],
	["openai_responses", "openai"],
	["anthropic", "anthropic"],
	["google_genai", "gcp.gemini"],
	["gemini", "gcp.gemini"],
	["vertexai", "gcp.vertex_ai"],
]);

export function toModelAttributes({ name, provider }: ModelInUse): Attributes {
	return {
		"gen_ai.provider.name": providerNames.get(provider) ?? (provider === "" ? "_OTHER" : provider),
		...(name === "" ? {} : { "gen_ai.request.model": name }),
	};
}

type ContentPart = EventBodyOf<"content.completed">["part"];

export function toContentPart(part: ContentPart): object {
	switch (part.type) {
		case "text":
			return { type: "text", content: beginning(part.text, contentLimit) };
		case "think":
			return { type: "reasoning", content: beginning(part.think, contentLimit) };
		default:
			// Images and other media are named, not sent.
			return { type: part.type };
	}
}

export function toInputMessages(input: UserInput): string {
	return toContent([{ role: "user", parts: toParts(input).map(toContentPart) }]);
}

export function toContent(value: unknown): string {
	return beginning(typeof value === "string" ? value : JSON.stringify(value), contentLimit);
}
