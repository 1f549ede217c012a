import type { ModelRequest, ToolSpecification } from "../model.ts";
import type { ModelSettings } from "../model-settings.ts";

export type ChatSettings = Omit<ModelSettings, "environment" | "home" | "readFile" | "trace" | "providerType">;

export type BodyFields = Readonly<Record<string, unknown>>;

export interface ChatFlavour {
	/** The key for sending reasoning back; null to omit it. */
	reasoningKey(settings: ChatSettings): string | null;
	/** The placeholder reasoning for a message with tool calls but no reasoning; null to omit the key. */
	absentReasoning(settings: ChatSettings, request: ModelRequest): string | null;
	readonly emptyContentWithCalls: "omitted" | "null";
	readonly namesToolMessages: boolean;
	/** The content block for audio at this address, which may be a data URI. */
	audio(url: string): BodyFields;
	tool(tool: ToolSpecification): BodyFields;
	extras(settings: ChatSettings, request: ModelRequest): BodyFields;
}

/** Audio for servers that do not use OpenAI's `input_audio`. */
export function audioAtUrl(url: string): BodyFields {
	return { type: "audio_url", audio_url: { url } };
}
